//! T40, and what of T41 concerns names: every case of `walls.edn` meets every route.

use reveille::edn::Value;
use reveille::surface::http::Config;

use super::client::{OPERATOR, Site};
use super::table::{items, number, table, text, texts};

fn site() -> Site {
    let mut config = Config::local();
    config.hosts.push("reveille.example:80".to_owned());
    config.origins.push("http://page.example:3000".to_owned());
    let site = Site::with(&config);
    site.open("main");
    site
}

#[test]
fn exactly_the_allowed_names_reach_a_route() {
    let (site, table) = (site(), table("walls.edn"));
    let table = table.as_map().expect("a map");
    let (port, mut asked) = (site.port().to_string(), 0);
    for route in items(table, "routes") {
        let (method, path) = (text(route, "method").expect("a method"), text(route, "path").expect("a path"));
        for case in items(table, "cases") {
            let name = text(case, "case").expect("a name");
            let (target, version) =
                (text(case, "target").unwrap_or_default(), text(case, "version").unwrap_or("1.1"));
            let body = r#"{:action "scheduler" :op "list"}"#;
            let mut request = format!("{method} {target}{path} HTTP/{version}\r\n");
            request +=
                &texts(case, "headers").iter().map(|header| format!("{header}\r\n")).collect::<String>();
            request += &format!(
                "Authorization: Bearer {OPERATOR}\r\nReveille-Session: main\r\nConnection: close\r\n"
            );
            request +=
                &format!("Content-Type: application/edn\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let answer = site.send(request.replace("{port}", &port).as_bytes());
            let expected = match case.keyword("expect") {
                Some(Value::Int(_)) => number(case, "expect"),
                _ => number(route, "pass"),
            };
            assert_eq!(Some(answer.status), expected, "{method} {path}, {name}: {answer:?}");
            // Only the page that is configured may read an answer, and is named for itself alone.
            let origins: Vec<String> = texts(case, "headers")
                .iter()
                .filter_map(|header| header.strip_prefix("Origin: ").map(str::to_lowercase))
                .collect();
            let is_named = origins == ["http://page.example:3000"];
            let read = answer.header("access-control-allow-origin");
            assert_eq!(read, is_named.then_some("http://page.example:3000"), "{name}");
            assert!(
                answer.header("access-control-allow-credentials").is_none(),
                "a token is all that counts"
            );
            assert!(answer.header("access-control-allow-headers").is_none(), "{name}: it is no preflight");
            assert!(answer.header("set-cookie").is_none(), "there are no cookies");
            asked += 1;
        }
    }
    assert!(asked >= 60, "{asked} requests");
}

/// A page of a configured origin asks whether it may call, calls with a token, and reads the answer. No other page may.
#[test]
fn a_page_that_is_named_calls_as_a_browser_does() {
    let site = site();
    let port = site.port();
    let ask = |request: &str, headers: &str| {
        let head = format!("{request} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n");
        site.send(format!("{head}{headers}\r\n").as_bytes())
    };
    let named = "Origin: http://page.example:3000\r\n";
    let question = "Access-Control-Request-Method: POST\r\n\
                    Access-Control-Request-Headers: authorization,content-type,reveille-session\r\n";
    // For every path alike, so that a page without a token learns nothing of what there is.
    for path in ["/eql", "/graphql", "/tools/psi-tool", "/mcp", "/no-such-route"] {
        let asked = ask(&format!("OPTIONS {path}"), &format!("{named}{question}"));
        assert_eq!(asked.status, 204, "{path}: {asked:?}");
        let told = |name: &str| asked.header(name).unwrap_or_default();
        assert_eq!(told("access-control-allow-origin"), "http://page.example:3000");
        assert_eq!(told("access-control-allow-methods"), "get, post");
        let allowed: Vec<&str> = told("access-control-allow-headers").split(", ").collect();
        for header in ["authorization", "content-type", "reveille-session"] {
            assert!(allowed.contains(&header), "{header}: {allowed:?}");
        }
        assert!(!allowed.contains(&"reveille-csrf"), "the half of our own pages stays with them");
        assert!(asked.header("access-control-allow-credentials").is_none());
        assert_eq!(told("vary"), "origin");
    }
    let query = "[:psi.scheduler/pending-count]";
    let called = site.ask(
        "POST /eql",
        OPERATOR,
        &["Origin: http://page.example:3000", "Content-Type: application/edn"],
        query,
    );
    assert_eq!((called.status, called.body.trim_end()), (200, "{:psi.scheduler/pending-count 0}"));
    assert_eq!(called.header("access-control-allow-origin"), Some("http://page.example:3000"));
    assert_eq!(called.header("access-control-expose-headers"), Some("retry-after"));
    // What is wrong with its token, a page may know.
    let refused = ask("GET /tools", named);
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("access-control-allow-origin"), Some("http://page.example:3000"));
    // A cache gives no answer to a page that was given to a program.
    let plain = site.ask("GET /tools", OPERATOR, &[], "");
    assert_eq!((plain.header("access-control-allow-origin"), plain.header("vary")), (None, Some("origin")));
    for (origin, status) in [
        ("Origin: http://evil.example\r\n".to_owned(), 403),
        ("Origin: null\r\n".to_owned(), 403),
        // Our own pages need not ask, and nobody else is told so.
        (format!("Origin: http://127.0.0.1:{port}\r\n"), 401),
        (String::new(), 401),
    ] {
        let asked = ask("OPTIONS /eql", &format!("{origin}{question}"));
        assert_eq!(asked.status, status, "{origin}: {asked:?}");
        assert!(asked.header("access-control-allow-origin").is_none(), "{origin}");
        assert!(asked.header("access-control-allow-methods").is_none(), "{origin}");
    }
    // Where no origin is configured, nothing is said of pages.
    let closed = Site::start();
    let answer = closed.ask("GET /tools", OPERATOR, &[], "");
    assert!(answer.header("vary").is_none());
}

/// A missing Origin, a good Host, a good Origin: none of them stands for a token.
#[test]
fn names_never_stand_for_a_token() {
    let site = site();
    let port = site.port();
    for path in ["/readyz", "/metrics", "/tools", "/stream", "/graphql", "/mcp", "/no-such-route"] {
        for origin in [String::new(), format!("Origin: http://127.0.0.1:{port}\r\n")] {
            let request =
                format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{origin}Connection: close\r\n\r\n");
            let answer = site.send(request.as_bytes());
            assert_eq!(answer.status, 401, "{path}");
            assert_eq!(answer.header("www-authenticate"), Some("bearer realm=\"reveille\""));
        }
    }
}

/// Who is bound to `[::1]` is called so, and localhost.
#[test]
fn an_address_of_version_6_has_brackets() {
    let config = Config { listen: "[::1]:0".parse().expect("an address"), ..Config::local() };
    let site = Site::with(&config);
    let port = site.port();
    for (host, expected) in
        [("[::1]", 200), ("localhost", 200), ("127.0.0.1", 421), ("::1", 421), ("[::]", 421)]
    {
        let request = format!("GET /healthz HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
        assert_eq!(site.send(request.as_bytes()).status, expected, "{host}");
    }
}

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
            assert!(answer.header("access-control-allow-origin").is_none(), "CORS is off");
            assert!(answer.header("set-cookie").is_none(), "there are no cookies");
            asked += 1;
        }
    }
    assert!(asked >= 60, "{asked} requests");
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

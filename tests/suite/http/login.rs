//! The login of browsers: what a code is good for, and what a cookie is good for without the rest.

use super::client::{Answer, OPERATOR, Site};
use super::websocket::Client;

/// A browser that has entered.
struct Browser<'a> {
    site: &'a Site,
    cookie: String,
    key: String,
}

fn code(site: &Site, body: &str) -> String {
    let answer = site.ask("POST /dashboard/code", OPERATOR, &[JSON], body);
    assert_eq!(answer.status, 200, "{answer:?}");
    let value: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
    value["code"].as_str().expect("a code").to_owned()
}

fn bare(site: &Site, request: &str, headers: &[&str], body: &str) -> Answer {
    let mut text = format!("{request} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n", site.port());
    text += &format!("Content-Length: {}\r\n", body.len());
    headers.iter().for_each(|header| text += &format!("{header}\r\n"));
    site.send(format!("{text}\r\n{body}").as_bytes())
}

fn enter(site: &Site, code: &str) -> Answer {
    bare(site, "POST /enter", &[&format!("Reveille-Code: {code}")], "")
}

impl Browser<'_> {
    fn login<'a>(site: &'a Site, body: &str) -> Browser<'a> {
        let answer = enter(site, &code(site, body));
        assert_eq!(answer.status, 200, "{answer:?}");
        let cookie = answer.header("set-cookie").expect("a cookie");
        for part in ["; httponly", "; samesite=strict", "; path=/", "; max-age=43200"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        assert!(cookie.starts_with(&format!("reveille-{}=", site.port())), "{cookie}");
        let value: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
        let cookie = format!("Cookie: {}", cookie.split(';').next().expect("a pair"));
        let key = format!("Reveille-Csrf: {}", value["key"].as_str().expect("a key"));
        assert!(
            !answer.body.contains(cookie.rsplit('=').next().expect("a value")),
            "no script sees the cookie's half"
        );
        Browser { site, cookie, key }
    }

    fn origin(&self) -> String {
        format!("Origin: http://127.0.0.1:{}", self.site.port())
    }

    fn ask_with(&self, headers: &[&str], query: &str) -> Answer {
        bare(self.site, "POST /graphql", &[&[JSON], headers].concat(), &format!("{{\"query\": \"{query}\"}}"))
    }

    fn ask(&self, query: &str) -> Answer {
        self.ask_with(&[&self.cookie, &self.key, &self.origin()], query)
    }
}

#[test]
fn a_code_is_good_once() {
    let site = Site::start();
    let code = code(&site, "{}");
    assert_eq!(code.len(), 32);
    assert_eq!(enter(&site, &code).status, 200);
    let again = enter(&site, &code);
    let wrong = enter(&site, "0123456789abcdef0123456789abcdef");
    assert_eq!((again.status, wrong.status), (401, 401));
    assert_eq!(again.body, wrong.body, "a used code and a wrong one look alike");
    assert_eq!(again.header("set-cookie"), None);
}

#[test]
fn a_cookie_alone_is_worth_nothing() {
    let site = Site::start();
    let browser = Browser::login(&site, "{}");
    let (cookie, key, origin) = (browser.cookie.as_str(), browser.key.as_str(), browser.origin());
    let same_site = "Sec-Fetch-Site: same-origin";
    for (headers, status) in [
        (vec![cookie, key, &origin], 200),
        (vec![cookie, key, same_site], 200),
        (vec![cookie, &origin], 401),
        (vec![key, &origin], 401),
        // No page of ours sends neither: a program that has the cookie from elsewhere gets nothing by it.
        (vec![cookie, key], 401),
        (vec![cookie, cookie, key, &origin], 401),
        (vec![cookie, "Reveille-Csrf: 0123456789abcdef0123456789abcdef", &origin], 401),
        (vec![cookie, key, "Origin: http://evil.example"], 403),
        (vec![cookie, key, "Origin: http://127.0.0.1:1"], 403),
        (vec![cookie, key, "Origin: null"], 403),
        (vec![cookie, key, "Sec-Fetch-Site: same-site"], 403),
    ] {
        let answer = browser.ask_with(&headers, "{ pendingCount }");
        assert_eq!(answer.status, status, "{headers:?}: {answer:?}");
    }
    // The two halves in the places of others.
    let (half, other) = (cookie.rsplit('=').next().unwrap(), key.rsplit(' ').next().unwrap());
    for token in [half, other] {
        assert_eq!(site.ask("GET /tools", token, &[], "").status, 401);
    }
}

#[test]
fn a_browser_may_what_its_code_was_for() {
    let site = Site::start();
    let (operator, observer) = (Browser::login(&site, "{}"), Browser::login(&site, "{\"read-only\": true}"));
    let hold = "mutation { holdAll(reason: \\\"x\\\") { held { by } } }";
    let refused = observer.ask(hold);
    assert!(refused.body.contains("FORBIDDEN"), "{refused:?}");
    assert_eq!(
        observer.ask("{ engine { held { by } } }").body.trim(),
        r#"{"data":{"engine":{"held":null}}}"#
    );
    assert!(operator.ask(hold).body.contains("\"by\":\"operator\""));
    let log = operator.ask("{ engine { decisions(last: 1) { kind by } } }");
    assert!(log.body.contains("operator (token browser "), "the log names the browser: {log:?}");
    // Nobody lets others in by a login that may only read.
    let code = |browser: &Browser<'_>| {
        bare(&site, "POST /dashboard/code", &[JSON, &browser.cookie, &browser.key, &browser.origin()], "{}")
            .status
    };
    assert_eq!((code(&observer), code(&operator)), (403, 200));
}

#[test]
fn a_login_ends_when_it_is_told_to() {
    let site = Site::start();
    let (one, other) = (Browser::login(&site, "{}"), Browser::login(&site, "{}"));
    let waiting = code(&site, "{}");
    let left = bare(&site, "POST /leave", &[&one.cookie, &one.key, &one.origin()], "");
    assert!(
        left.body.contains("\"logged-out\":1") && left.header("set-cookie").unwrap().contains("max-age=0")
    );
    assert_eq!((one.ask("{ pendingCount }").status, other.ask("{ pendingCount }").status), (401, 200));
    let revoked = site.ask("POST /dashboard/revoke", OPERATOR, &[JSON], "{}");
    assert!(revoked.body.contains("\"logged-out\":1"), "{revoked:?}");
    assert_eq!((other.ask("{ pendingCount }").status, enter(&site, &waiting).status), (401, 401));
    assert_eq!(site.ask("GET /tools", OPERATOR, &[], "").status, 200, "the operator's own token lives");
}

/// A page cannot send headers with an upgrade: its half is in the first message.
#[test]
fn a_websocket_needs_both_halves_and_ends_with_the_login() {
    let site = Site::start();
    let browser = Browser::login(&site, "{}");
    let key = browser.key.rsplit(' ').next().expect("a value");
    let upgrade = |headers: &[&str]| {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        Client::connect(&site, &format!("sec-websocket-protocol: graphql-transport-ws\r\n{headers}"))
    };
    let init = |key: &str| format!(r#"{{"type":"connection_init","payload":{{"csrf":"{key}"}}}}"#);
    for (headers, key, expected) in [
        (vec![&*browser.cookie, &*browser.origin()], key, r#"{"type":"connection_ack"}"#),
        (vec![&*browser.cookie, &*browser.origin()], "wrong", "4403"),
        (vec![&*browser.cookie], key, "4403"),
        (vec![&*browser.origin()], key, "4403"),
    ] {
        let mut client = upgrade(&headers).expect("switched over");
        client.say(&init(key));
        assert_eq!(client.hear(), expected, "{headers:?}");
    }
    let alien = upgrade(&[&browser.cookie, "Origin: http://evil.example"]).expect_err("refused");
    assert!(alien.starts_with("HTTP/1.1 403 "), "{alien}");
    let mut client = upgrade(&[&browser.cookie, &browser.origin()]).expect("switched over");
    client.say(&init(key));
    assert_eq!(client.hear(), r#"{"type":"connection_ack"}"#);
    site.ask("POST /dashboard/revoke", OPERATOR, &[JSON], "{}");
    assert_eq!(client.hear(), "4403");
}

#[test]
fn logins_and_codes_are_bounded() {
    let site = Site::start();
    let codes: Vec<String> = (0..17).map(|_| code(&site, "{}")).collect();
    assert_eq!(enter(&site, &codes[0]).status, 401, "the oldest is gone");
    assert_eq!(enter(&site, &codes[1]).status, 200);
    let first = Browser::login(&site, "{}");
    let last = (0..32).map(|_| Browser::login(&site, "{}")).last().expect("there are some");
    assert_eq!((first.ask("{ pendingCount }").status, last.ask("{ pendingCount }").status), (401, 200));
}

const JSON: &str = "Content-Type: application/json";

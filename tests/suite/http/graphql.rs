//! `/graphql` from outside: who may, and in which notation. The rules of the specification itself are
//! `tests/clients/graphql_http_audit.mjs`'s.

use std::io::{Read, Write};

use super::client::{OBSERVER, OPERATOR, Site, read_some};

/// Sends a request on a connection of its own; returns the whole answer.
fn ask(site: &Site, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut stream = site.connect();
    let mut head =
        format!("{method} {target} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nconnection: close\r\n", site.port());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    answer
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

#[track_caller]
fn check(answer: &str, status: u16, part: &str) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    assert!(answer.contains(part), "{part} in {answer}");
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn queries_and_mutations_need_a_token_and_json() {
    let site = Site::start();
    let token = bearer(OPERATOR);
    let operator = ("authorization", token.as_str());
    let query = r#"{"query":"{ pendingCount }"}"#;
    check(&ask(&site, "POST", "/graphql", &[operator, JSON], query), 200, r#"{"data":{"pendingCount":0}}"#);
    check(
        &ask(&site, "GET", "/graphql?query=%7BpendingCount%7D", &[operator], ""),
        200,
        r#"{"data":{"pendingCount":0}}"#,
    );
    check(&ask(&site, "POST", "/graphql", &[JSON], query), 401, "UNAUTHORIZED");
    check(&ask(&site, "GET", "/graphql?query=%7BpendingCount%7D", &[], ""), 401, "UNAUTHORIZED");
    check(&ask(&site, "GET", "/graphql", &[], ""), 401, "UNAUTHORIZED");
    let open = r#"{"query":"mutation { openSession(sessionId: \"one\") { token } }"}"#;
    let observer = bearer(OBSERVER);
    check(&ask(&site, "POST", "/graphql", &[("authorization", &observer), JSON], open), 200, "FORBIDDEN");
    check(
        &ask(&site, "GET", "/graphql?query=mutation%7BopenSession%7Btoken%7D%7D", &[operator], ""),
        405,
        "allow: POST",
    );
    let get = "/graphql?query=mutation%7BopenSession(sessionId:%22one%22)%7Btoken%7D%7D";
    let streamed = [operator, ("accept", "text/event-stream")];
    check(&ask(&site, "GET", get, &streamed, ""), 200, "a mutation is sent with POST");
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        check(&ask(&site, "POST", "/graphql", &[operator, ("content-type", kind)], open), 415, "errors");
    }
    check(&ask(&site, "POST", "/graphql", &[operator], open), 415, "errors");
    check(&ask(&site, "PUT", "/graphql", &[operator, JSON], open), 405, "allow: GET, POST");
    check(&ask(&site, "POST", "/graphql", &[operator, JSON], &format!("[{query}]")), 400, "batches");
    check(
        &ask(&site, "POST", "/graphql", &[operator, JSON, ("origin", "http://evil.example")], open),
        403,
        "FORBIDDEN",
    );
    assert_eq!(site.handle().view(|state| state.gauges(site.handle().now())).sessions, 0);
    check(&ask(&site, "POST", "/graphql", &[operator, JSON], open), 200, r#""token":""#);
    // An operator acts for a session, and sees what that sees.
    let acting = ("reveille-session", "one");
    let sessions = r#"{"query":"{ sessions { nodes { sessionId } } }"}"#;
    check(
        &ask(&site, "POST", "/graphql", &[operator, JSON, acting], sessions),
        200,
        r#"[{"sessionId":"one"}]"#,
    );
}

#[test]
fn a_subscription_is_an_event_stream() {
    let site = Site::start();
    let mut stream = site.connect();
    let body = r#"{"query":"subscription { events { cursor kind } }"}"#;
    let port = site.port();
    write!(
        stream,
        "POST /graphql HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {OPERATOR}\r\naccept: text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("sent");
    let mut heard = String::new();
    let mut read_until = |part: &str| {
        let mut bytes = [0_u8; 4_096];
        while !heard.contains(part) {
            let count = read_some(&mut stream, &mut bytes).expect("heard");
            assert!(count > 0, "{heard}");
            heard.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    };
    read_until("content-type: text/event-stream");
    read_until(":\n\n");
    site.open("one");
    read_until(r#"data: {"data":{"events":{"cursor":"1","kind":"SESSION_OPENED"}}}"#);
    let token = bearer(OPERATOR);
    let headers = [("authorization", token.as_str()), JSON, ("accept", "text/event-stream")];
    let query = ask(&site, "POST", "/graphql", &headers, r#"{"query":"{ pendingCount }"}"#);
    check(&query, 200, "event: next\ndata: {\"data\":{\"pendingCount\":0}}\n\n");
    check(&query, 200, "event: complete\ndata:\n\n");
}

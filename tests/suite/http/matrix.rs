//! Every route by every caller, and every kind of text that nests too deep at every route that reads one.

use std::collections::{BTreeMap, BTreeSet};

use reveille::domain::{Primitives, SessionId};
use reveille::edn::Value;

use super::client::{OBSERVER, OPERATOR, Site};
use super::table::{rows, table, text};

#[test]
fn every_route_is_for_whom_it_is_for() {
    let site = Site::start();
    // Pings come with watches.
    site.handle().tools().switch(Primitives { watchers: true, ..Primitives::default() });
    let (session, closed) = (site.open("main"), site.open("closed"));
    site.handle().close_session(&SessionId::new("closed").expect("an id")).expect("it is open");
    let callers = [
        ("nobody", None),
        ("a closed session", Some(closed.reveal())),
        ("a session", Some(session.reveal())),
        ("an observer", Some(OBSERVER)),
        ("an operator", Some(OPERATOR)),
    ];
    let mut refusals = BTreeMap::<&str, BTreeSet<String>>::new();
    for row in rows(&table("routes.edn")) {
        let request = text(row, "request").expect("a request");
        let body = [("edn", "application/edn"), ("json", "application/json")]
            .into_iter()
            .find_map(|(key, kind)| Some((kind, text(row, key)?)));
        for (at, (name, token)) in callers.iter().enumerate() {
            let of = |key: &str| row.keyword(key).and_then(Value::as_items).map(|items| items[at].clone());
            let mut head =
                format!("{request} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n", site.port());
            if let Some(token) = token {
                head += &format!("Authorization: Bearer {token}\r\n");
            }
            let (kind, sent) = body.unwrap_or(("", ""));
            if !kind.is_empty() {
                head += &format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", sent.len());
            }
            let answer = site.send(format!("{head}\r\n{sent}").as_bytes());
            let expected = of("status").and_then(|status| status.as_int());
            assert_eq!(Some(i64::from(answer.status)), expected, "{name}: {request} {sent}: {answer:?}");
            let says = of("says").and_then(|says| says.as_str().map(str::to_owned)).unwrap_or_default();
            assert!(answer.body.contains(&says), "{name}: {request} {sent}: {answer:?}");
            if answer.status == 401 {
                refusals.entry(kind).or_default().insert(answer.body);
            }
        }
    }
    // Whether a token was never given, or is no longer any good, is nothing that an answer shows.
    assert!(refusals.values().all(|bodies| bodies.len() == 1), "{refusals:?}");
}

/// 10⁵ levels of each notation, at each route that reads it: a client's error, and the server goes on.
#[test]
fn what_nests_too_deep_reaches_no_parser() {
    let site = Site::start();
    site.open("main");
    let deep = 100_000;
    let json = |text: String| format!("{{\"query\": {}}}", serde_json::Value::from(text));
    let bodies = [
        ("/tools/psi-tool", "application/edn", "[".repeat(deep)),
        ("/tools/psi-tool", "application/json", "[".repeat(deep)),
        (
            "/tools/psi-tool",
            "application/edn",
            format!("{{:action \"query\" :query \"{}\"}}", "[".repeat(deep)),
        ),
        ("/mcp", "application/json", "[".repeat(deep)),
        ("/mcp", "application/json", "{\"params\":".repeat(deep / 10)),
        ("/eql", "application/edn", "[{:a ".repeat(deep / 3)),
        ("/eql", "application/edn", format!("[{{:a {}}}]", "[:b {:c ".repeat(deep / 10))),
        ("/graphql", "application/json", "{\"a\":".repeat(deep / 4)),
        ("/graphql", "application/json", json("{a".repeat(deep))),
        ("/graphql", "application/json", json(format!("{{ a(x: {}) }}", "[".repeat(deep)))),
    ];
    for (path, kind, body) in bodies {
        let answer = site.ask(
            &format!("POST {path}"),
            OPERATOR,
            &[&format!("Content-Type: {kind}"), "Reveille-Session: main"],
            &body,
        );
        let head: String = body.chars().take(40).collect();
        // GraphQL in application/json says everything with 200.
        let is_refused = matches!(answer.status, 400 | 422) || answer.body.contains("\"code\":\"LIMIT\"");
        assert!(is_refused, "{path} {kind} {head}: {answer:?}");
        assert_eq!(site.ask("GET /readyz", OPERATOR, &[], "").status, 200, "{path} {kind} {head}");
    }
}

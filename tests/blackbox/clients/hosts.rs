//! Hosts with tokens of their own: what they opened is theirs over restarts, and nobody else's.

use std::fs;

use serde_json::{Value, json};

use crate::harness::daemon::{Daemon, Home, PATIENCE, Reply, text, until};
use crate::harness::stream::Stream;

fn start(home: &Home) -> Daemon {
    fs::write(home.path().join("reveille.toml"), "host-tokens = [\"editor\"]\n").expect("ours");
    Daemon::start_with(home, home.serve().args(["--config", "reveille.toml"]))
}

fn token(home: &Home, file: &str) -> String {
    fs::read_to_string(home.state().join(file)).expect("it is there").trim().to_owned()
}

fn graphql(daemon: &Daemon, token: &str, headers: &[&str], query: &str) -> Value {
    let headers = [&["Content-Type: application/json"], headers].concat();
    let reply = daemon.ask_by(token, "POST /graphql", &headers, &json!({ "query": query }).to_string());
    serde_json::from_str(&reply.body).unwrap_or_else(|error| panic!("{error}: {}", reply.body))
}

fn list(daemon: &Daemon, token: &str, session: &str) -> Reply {
    let acting = format!("Reveille-Session: {session}");
    let headers = ["Content-Type: application/edn", &*acting];
    daemon.ask_by(token, "POST /eql", &headers, "[{:psi.scheduler/schedules [:psi.scheduler/label]}]")
}

#[test]
fn a_hosts_sessions_are_its_own_over_a_restart() {
    let home = Home::new("hosts");
    let daemon = start(&home);
    let (editor, host) = (token(&home, "host-editor.token"), token(&home, "host.token"));
    let opened = graphql(&daemon, &editor, &[], "mutation { openSession(sessionId: \"mine\") { token } }");
    let agent = opened["data"]["openSession"]["token"].as_str().expect("a token").to_owned();
    let create = "mutation { createSchedule(input: {kind: MESSAGE, message: \"m\", delayMs: 3600000, label: \"kept\", \
                  durability: DURABLE}) { schedule { label } } }";
    let made = graphql(&daemon, &editor, &["Reveille-Session: mine"], create);
    assert!(made["errors"].is_null(), "{made}");
    daemon.kill();
    let daemon = start(&home);
    assert!(list(&daemon, &editor, "mine").body.contains("kept"));
    assert_eq!(list(&daemon, &host, "mine").status, 404, "another host's");
    assert_eq!(list(&daemon, &host, "absent").body, list(&daemon, &host, "mine").body);
    // The harness comes back; its agent cannot take its place.
    let mut model = Stream::upgrade(&daemon, &agent);
    let attach = "{:op :host/attach :sessions [\"mine\"]}";
    let refused = model.ask(attach).expect("it lives");
    let words = text(&refused, &["error", "message"]).expect("a message");
    assert!(words.contains("host/attach") && words.contains("hosts and operators"), "{words}");
    let mut other = Stream::upgrade(&daemon, &host);
    let absent = other.ask("{:op :host/attach :sessions [\"absent\"]}").expect("it lives");
    let foreign = other.ask(attach).expect("it lives");
    let words = |answer: &reveille::edn::Map| text(answer, &["error", "message"]).map(str::to_owned);
    assert_eq!(words(&foreign).map(|it| it.replace("mine", "absent")), words(&absent));
    let mut harness = Stream::upgrade(&daemon, &editor);
    assert!(text(&harness.ask(attach).expect("it lives"), &["error", "message"]).is_none());
    drop(harness);
    // Or with the one line that opens a session or takes it over.
    let mut harness = Stream::upgrade(&daemon, &editor);
    let line = "{:op :session/open :session-id \"mine\" :or-attach? true}";
    until("the former connection is gone", PATIENCE, || {
        let answer = harness.ask(line).expect("it lives");
        text(&answer, &["ok", "session-id"]) == Some("mine")
    });
    drop(harness);
    assert!(daemon.end("-TERM").success());
}

#[test]
fn names_of_hosts_are_checked() {
    let home = Home::new("host-names");
    for (names, words) in [
        ("[\"Editor\"]", "small letters"),
        ("[\"../editor\"]", "small letters"),
        ("[\"operator\"]", "and not operator"),
        ("[\"a\", \"a\"]", "a is listed twice"),
    ] {
        fs::write(home.path().join("reveille.toml"), format!("host-tokens = {names}\n")).expect("ours");
        let (daemon, said) = Daemon::try_start(&home, home.serve().args(["--config", "reveille.toml"]));
        assert!(daemon.is_none() && said.contains(words), "{names}: {said}");
    }
}

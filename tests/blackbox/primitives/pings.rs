//! Pings at a real daemon: the route for those who may use it and for others, what `ping.age` says, and a kill.

use std::fs;

use reveille::edn::Value as Printed;
use serde_json::Value;

use super::scene::JSON;
use crate::harness::daemon::{Daemon, Home, Reply};

fn start(home: &Home, switches: &str) -> Daemon {
    fs::write(home.path().join("pings.toml"), format!("[primitives]\n{switches}\n")).expect("ours");
    Daemon::start_with(home, home.serve().args(["--config", "pings.toml"]))
}

/// Opens a session, and returns its token.
fn open(daemon: &Daemon, id: &str) -> String {
    let opened = daemon.eql(&format!("[(psi.agent-session/open {{:session-id \"{id}\"}})]"));
    let opened = Printed::from(opened).to_string();
    opened.split('"').find(|part| part.len() == 64).expect(&opened).to_owned()
}

fn ping(daemon: &Daemon, token: &str, session: &str, name: &str) -> Reply {
    // The body is ignored.
    daemon.ask_by(token, &format!("POST /v1/sessions/{session}/pings/{name}"), &[], "done")
}

fn age(daemon: &Daemon, token: &str) -> Value {
    let reply = daemon.ask_by(token, "POST /tools/ping.age", JSON, "{\"name\":\"backup\"}");
    assert_eq!(reply.status, 200, "{}", reply.body);
    serde_json::from_str(&reply.body).expect("JSON")
}

#[test]
fn a_job_pings_with_a_url_and_a_token() {
    let home = Home::new("pings");
    let daemon = start(&home, "watchers = true");
    let (main, other) = (open(&daemon, "main"), open(&daemon, "other"));
    let never = age(&daemon, &main);
    assert!(never["ok"] == false && never["age_seconds"].is_null() && never["at"].is_null(), "{never}");
    let reply = ping(&daemon, &main, "main", "backup");
    assert_eq!(reply.status, 200, "{}", reply.body);
    let answer: Value = serde_json::from_str(&reply.body).expect("JSON");
    assert_eq!(answer["ping"]["name"], "backup", "{answer}");
    assert!(answer["ping"]["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{answer}");
    let by_operator = daemon.ask("POST /v1/sessions/main/pings/backup", &[], "");
    assert_eq!(by_operator.status, 200, "{}", by_operator.body);
    let (foreign, absent) =
        (ping(&daemon, &other, "main", "backup"), ping(&daemon, &other, "none", "backup"));
    assert_eq!((foreign.status, absent.status), (404, 404));
    assert_eq!(foreign.body, absent.body, "another's session answers like none");
    let long = ping(&daemon, &main, "main", &"x".repeat(65));
    assert!(long.status == 400 && long.body.contains("\"value\""), "{}", long.body);
    let before = age(&daemon, &main);
    assert!(before["ok"] == true && before["age_seconds"].is_u64(), "{before}");
    daemon.kill();
    let daemon = start(&home, "watchers = true");
    let after = age(&daemon, &main);
    assert_eq!((&after["ok"], &after["at"]), (&before["ok"], &before["at"]), "{after}");
    assert_eq!(age(&daemon, &other)["ok"], false);
    assert_eq!(daemon.end("-TERM").code(), Some(0));
}

#[test]
fn without_watches_there_are_no_pings() {
    let home = Home::new("pings-off");
    let daemon = start(&home, "memory = true");
    let main = open(&daemon, "main");
    let reply = ping(&daemon, &main, "main", "backup");
    assert!(reply.status == 404 && !reply.body.contains("watchers"), "{}", reply.body);
    let mutation = "mutation { pingSession(sessionId: \"main\", name: \"backup\") { pingedAt } }";
    let body = serde_json::json!({ "query": mutation }).to_string();
    let reply = daemon.ask_by(&main, "POST /graphql", JSON, &body);
    assert!(reply.body.contains("\"NOT_FOUND\"") && !reply.body.contains("watchers"), "{}", reply.body);
    let reply = ping(&daemon, daemon.token(), "main", "backup");
    assert!(reply.status == 403 && reply.body.contains("watchers is switched off"), "{}", reply.body);
    assert_eq!(daemon.ask_by(&main, "POST /tools/ping.age", JSON, "{\"name\":\"backup\"}").status, 404);
    assert_eq!(daemon.end("-TERM").code(), Some(0));
}

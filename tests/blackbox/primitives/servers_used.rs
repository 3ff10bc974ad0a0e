//! What sessions use tools of servers for: watches, scheduled calls, and many calls at the same time.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::harness::daemon::until;
use crate::primitives::fake::Fake;

/// Both kinds of wires.
fn both(name: &str) -> [Fake; 2] {
    [Fake::new(name, ""), Fake::over_http(&format!("{name}-http"), "events")]
}

#[test]
fn a_server_is_given_eight_calls_at_once_and_the_others_wait() {
    for fake in both("eight") {
        let action = r#"{"name":"s.meet"}"#;
        let body = format!("{{\"actions\":[{}]}}", [action; 16].join(","));
        let reply = fake.scene.call("run_parallel", &body);
        let answer: Value = serde_json::from_str(&reply.body).expect("JSON");
        assert_eq!(answer["succeeded"], 16, "{answer}");
        let results = answer["results"].as_array().expect("results");
        assert!(results.iter().all(|result| result["data"]["met"] == 8), "{answer}");
    }
}

#[test]
fn a_watch_looks_at_a_tool_of_a_server_and_tells_what_has_changed() {
    for mut fake in both("watched") {
        let started =
            fake.scene.call("watch_start", r#"{"name":"s.text","label":"the server","interval":5}"#).body;
        let id = serde_json::from_str::<Value>(&started).expect("JSON")["watcher_id"].clone();
        let status = || fake.scene.call("watch_status", &format!("{{\"watcher_id\":{id}}}")).body;
        until("it has looked", Duration::from_secs(20), || status().contains("all is well"));
        fs::write(fake.home().join("said"), "it is on fire").expect("ours");
        let push = fake.scene.host.pushed().expect("it lives");
        let told = reveille::edn::Value::from(push).to_string();
        assert!(told.contains("[WATCHER UPDATE]") && told.contains("it is on fire"), "{told}");
    }
}

#[test]
fn a_scheduled_call_of_a_tool_of_a_server_is_made_and_told() {
    for mut fake in both("scheduled") {
        let made = fake
            .scene
            .call("schedule", r#"{"when":"in 1s","action":"s.echo","args":{"x":7},"name":"seven"}"#);
        assert_eq!(made.status, 200, "{}", made.body);
        let push = fake.scene.host.pushed().expect("it lives");
        let told = reveille::edn::Value::from(push).to_string();
        assert!(told.contains("[SCHEDULED JOB]") && told.contains("status=ok"), "{told}");
        let calls = fake.sent("tools/call");
        assert!(calls.len() == 1 && calls[0].contains("\"arguments\":{\"x\":7}"), "{calls:?}");
    }
}

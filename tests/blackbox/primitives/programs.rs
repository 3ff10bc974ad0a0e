//! An operator's programs as tools.

use std::fs;
use std::time::Duration;

use crate::agents::is_alive;
use crate::harness::daemon::{Daemon, pass, until};
use crate::primitives::scene::Scene;

const TOOLS: &str = r#"
[tools."t.echo"]
command = ["/bin/cat"]
agents = true

[tools."t.id"]
command = ["/bin/sh", "-c", "echo \"{\\\"id\\\":\\\"$REVEILLE_CALL_ID\\\",\\\"user\\\":\\\"$USER\\\"}\""]
agents = true

[tools."t.fail"]
command = ["/bin/sh", "-c", "echo no such branch >&2; exit 3"]
agents = true

[tools."t.brood"]
command = ["/bin/sh", "-c", "echo $$ > HOME/parent; /bin/sleep 600 & echo $! > HOME/child; wait"]
agents = true

[tools."t.five"]
command = ["/bin/sh", "-c", "/bin/sleep 2; echo '{\"five\":5}'"]
agents = true

[tools."t.long"]
command = ["/bin/sleep", "20"]
agents = true

[tools."t.closed"]
command = ["/bin/cat"]

[tools."t.loud"]
command = ["/bin/sh", "-c", "exec /usr/bin/head -c 300000 /dev/zero | /usr/bin/tr '\\0' x"]
agents = true

[tools."t.deep"]
command = ["/bin/sh", "-c", """n='0 1 2 3 4 5 6 7 8 9'; for i in $n; do printf '[[[[[[['; done;
  for i in $n; do printf ']]]]]]]'; done"""]
agents = true

[tools."t.bytes"]
command = ["/bin/sh", "-c", "printf '\\377\\376'"]
agents = true

[tools."t.twice"]
command = ["/bin/sh", "-c", "echo '{\"a\":1,\"a\":2}'"]
agents = true
"#;

/// T13.
#[test]
fn a_program_gets_its_arguments_and_prints_its_result() {
    let scene = Scene::new("programs", TOOLS);
    assert_eq!(
        scene.result("t.echo", "{\"x\":[1],\"_approved\":true}")["data"],
        serde_json::json!({"x": [1]})
    );
    let id = scene.result("t.id", "{}")["data"].clone();
    assert!(id["id"].as_str().is_some_and(|id| id.starts_with("par-") && id.ends_with("/0")), "{id}");
    assert_eq!(id["user"], "", "its environment is empty");
    let failed = scene.result("t.fail", "{}");
    assert_eq!(
        (failed["success"].as_bool(), failed["error"].as_str()),
        (Some(false), Some("no such branch"))
    );
    let loud = scene.result("t.loud", "{}");
    assert_eq!((loud["success"].as_bool(), loud["truncated"].as_bool()), (Some(true), Some(true)), "{loud}");
    for (tool, part) in [("t.deep", "nested deeper"), ("t.bytes", "not UTF-8"), ("t.twice", "duplicate key")]
    {
        let result = scene.result(tool, "{}");
        assert!(result["error"].as_str().is_some_and(|error| error.contains(part)), "{tool}: {result}");
    }
    let reply = scene.call("run_parallel", r#"{"actions":[{"name":"t.closed"}]}"#);
    assert!(reply.status == 422 && reply.body.contains("blocked by security policy"), "{}", reply.body);
    assert_eq!(scene.daemon.end("-TERM").code(), Some(0));
}

/// T9, T14.
#[test]
fn a_client_that_goes_ends_what_it_has_begun() {
    let scene = Scene::new("gone", TOOLS);
    let posted = scene.begin("run_parallel", r#"{"actions":[{"name":"t.brood"},{"name":"t.echo"}]}"#);
    let id = |name: &str| fs::read_to_string(scene.path(name)).unwrap_or_default().trim().to_owned();
    until("the program runs", Duration::from_secs(20), || !id("child").is_empty());
    let runs = |name: &str| is_alive(&id(name));
    assert!(runs("parent") && runs("child"));
    drop(posted);
    let took =
        until("its whole group is gone", Duration::from_secs(20), || !runs("parent") && !runs("child"));
    assert!(took < Duration::from_secs(2), "{took:?}");
}

/// T10.
#[test]
fn what_has_not_ended_in_time_goes_on_as_a_task_and_is_told() {
    let mut scene = Scene::new("deadline", TOOLS);
    let body = r#"{"actions":[{"name":"t.echo","params":{"x":1}},{"name":"t.five"}],"timeout":1}"#;
    let reply = scene.call("run_parallel", body);
    let answer: serde_json::Value = serde_json::from_str(&reply.body).expect("JSON");
    assert_eq!(answer["results"][0]["data"], serde_json::json!({"x": 1}), "{answer}");
    assert_eq!(answer["results"][1]["status"], "running", "{answer}");
    assert!(answer["elapsed_ms"].as_i64().is_some_and(|took| (1_000..1_500).contains(&took)), "{answer}");
    let task = answer["results"][1]["task_id"].as_str().expect("a task").to_owned();
    let push = scene.host.pushed().expect("it lives");
    let told = format!("{:?}", reveille::edn::Value::from(push).to_string());
    let expected = format!("[BACKGROUND TASK COMPLETED] task_id={task} tool=t.five elapsed=");
    assert!(told.contains(&expected), "{told}");
    let status = scene.call("background_run", &format!("{{\"task_id\":{task:?}}}")).body;
    assert!(
        status.contains(r#""status":"completed""#) && status.contains(r#""result":{"five":5}"#),
        "{status}"
    );
    // Waiting for it, an answer may be silent for longer than other answers.
    let launched = scene.call("background_run", r#"{"name":"t.five"}"#).body;
    let launched: serde_json::Value = serde_json::from_str(&launched).expect("JSON");
    let wait = format!("{{\"task_id\":{},\"wait\":true}}", launched["task_id"]);
    let waited = scene.call("background_run", &wait).body;
    assert!(waited.contains(r#""status":"completed""#), "{waited}");
    let mcp = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"run_parallel","arguments":{body}}}}}"#
    );
    let headers = ["Content-Type: application/json", "Reveille-Session: main"];
    let reply = scene.daemon.ask("POST /mcp?tools=primitives", &headers, &mcp);
    assert!(reply.body.contains(r#"\"status\":\"running\""#), "{}", reply.body);
}

/// T14.
#[test]
fn a_cancelled_task_is_gone_with_all_its_processes() {
    let scene = Scene::new("cancel", TOOLS);
    let launched = scene.call("background_run", r#"{"name":"t.brood"}"#).body;
    let launched: serde_json::Value = serde_json::from_str(&launched).expect("JSON");
    assert_eq!(launched["status"], "running", "{launched}");
    let id = |name: &str| fs::read_to_string(scene.path(name)).unwrap_or_default().trim().to_owned();
    until("the program runs", Duration::from_secs(20), || !id("child").is_empty());
    let cancelled = scene
        .call("background_run", &format!("{{\"task_id\":{},\"cancel\":true}}", launched["task_id"]))
        .body;
    assert!(cancelled.contains(r#""status":"cancelled""#), "{cancelled}");
    let runs = |name: &str| is_alive(&id(name));
    let took =
        until("its whole group is gone", Duration::from_secs(20), || !runs("parent") && !runs("child"));
    assert!(took < Duration::from_secs(2), "{took:?}");
    pass(Duration::from_millis(50));
    assert!(scene.daemon.log().contains("tool configured"));
}

/// T26: what was out when the process was killed is counted as lost, and named.
#[test]
fn tasks_do_not_outlive_a_kill_and_the_accounts_balance() {
    let scene = Scene::new("lost-tasks", TOOLS);
    for _ in 0..5 {
        let launched = scene.call("background_run", r#"{"name":"t.long"}"#).body;
        assert!(launched.contains(r#""status":"running""#), "{launched}");
    }
    let Scene { home, daemon, .. } = scene;
    let note = home.state().join("volatile.edn");
    let is_noted = || fs::read_to_string(&note).is_ok_and(|note| note.contains(":count 5"));
    until("the note for the next start has them", Duration::from_secs(20), is_noted);
    daemon.kill();
    let daemon = Daemon::start_with(&home, home.serve().args(["--config", "tools.toml"]));
    let asked = daemon.eql("[:reveille.engine/accounting {:reveille.engine/lost-schedules [:schedule-id]}]");
    let told = reveille::edn::Value::from(asked).to_string();
    // A bulletin of each waits for the host of their session, which has not come back.
    assert!([":imbalance 0", ":pending 5", ":lost 5"].iter().all(|part| told.contains(part)), "{told}");
    assert_eq!(told.matches(":schedule-id").count(), 5, "{told}");
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_sound();
}

//! Calls that wait for an operator's approval.

use std::time::Duration;

use super::scene::Scene;
use crate::harness::daemon::{at, eventually, until};

const TOOLS: &str = r#"
[primitives]
watchers = true

[tools."t.deploy"]
command = ["/bin/sh", "-c", "echo done >> HOME/deployed; echo '{}'"]
agents = true
approval = true
"#;

/// The run that waits and the digest of what is shown, if one does.
fn held(scene: &Scene) -> Option<(String, String)> {
    let answer = scene.daemon.eql("[{:reveille.engine/held-runs [:reveille.run/id :reveille.run/approval]}]");
    let run = at(&answer, &["reveille.engine/held-runs"])?.as_items()?.first()?.as_map()?.clone();
    let text = |keys: &[&str]| Some(at(&run, keys)?.as_str()?.to_owned());
    Some((text(&["reveille.run/id"])?, text(&["reveille.run/approval", "digest"])?))
}

/// T7 and beyond: what the seed refuses where there is no queue of approvals waits in ours, and nothing in the arguments
/// approves it.
#[test]
fn a_task_waits_for_an_operator_and_is_made_once() {
    let scene = Scene::new("approved", TOOLS);
    let deployed = || std::fs::read_to_string(scene.path("deployed")).unwrap_or_default();
    let at_once = r#"{"actions":[{"name":"t.deploy","params":{"_approved":true}}]}"#;
    assert!(scene.call("run_parallel", at_once).body.contains("requires approval"));
    assert!(scene.call("watch_start", r#"{"name":"t.deploy"}"#).body.contains("requires user approval"));
    let launch = || {
        let body = scene.call("background_run", r#"{"name":"t.deploy","params":{"_approved":true}}"#).body;
        let launched: serde_json::Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(launched["status"], "running", "{launched}");
        launched["task_id"].as_str().expect("an id").to_owned()
    };
    let status = |id: &str| scene.call("background_run", &format!("{{\"task_id\":\"{id}\"}}")).body;
    let run = |arguments: &[&str]| {
        let ended = scene.home.run(&mut scene.home.command(&[arguments, &["--data-dir", "state"]].concat()));
        assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
        ended.out
    };
    let id = launch();
    assert!(run(&["approvals"]).contains("t.deploy"));
    let (waiting, digest) = held(&scene).expect("it waits");
    assert_eq!(deployed(), "");
    run(&["approve", &waiting, "--digest", &digest]);
    until("the task has ended", Duration::from_secs(20), || status(&id).contains(r#""status":"completed""#));
    assert_eq!(deployed(), "done\n");
    let id = launch();
    let (waiting, _) = held(&scene).expect("it waits");
    run(&["deny", &waiting, "--reason", "not on a Friday"]);
    until("the task has failed", Duration::from_secs(20), || status(&id).contains(r#""status":"failed""#));
    assert!(eventually(Duration::ZERO, || deployed() != "done\n").is_none());
}

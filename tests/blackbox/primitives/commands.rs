//! What the commands `watch`, `tasks` and `channels` show of a daemon.

use std::time::Duration;

use super::scene::Scene;
use crate::harness::daemon::until;

const TOOLS: &str = r#"
[primitives]
watchers = true

[tools."t.look"]
command = ["/bin/sh", "-c", "cat HOME/seen"]
agents = true

[tools."t.fail"]
command = ["/bin/sh", "-c", "echo no such branch >&2; exit 3"]
agents = true

[channels.ops]
url = "https://hooks.example.com/x"
shape = "json"
"#;

#[test]
fn watches_tasks_and_channels_are_listed_for_people() {
    let scene = Scene::new("commands", TOOLS);
    std::fs::write(scene.path("seen"), "1").expect("ours");
    let started = scene.call("watch_start", r#"{"name":"t.look","label":"the file","interval":10}"#);
    let started: serde_json::Value = serde_json::from_str(&started.body).expect("JSON");
    let id = started["watcher_id"].as_str().unwrap_or_else(|| unreachable!("{started}")).to_owned();
    let failed = scene.call("background_run", r#"{"name":"t.fail"}"#);
    assert!(failed.body.contains("no such branch"), "{}", failed.body);
    let run = |arguments: &[&str]| {
        let arguments = [arguments, &["--data-dir", "state"]].concat();
        let ended = scene.home.run(&mut scene.home.command(&arguments));
        (ended.code, ended.out)
    };
    until("the watch has looked", Duration::from_secs(15), || run(&["watch", &id]).1.contains("1\n"));
    let (code, list) = run(&["watch"]);
    assert!(code == Some(0) && list.starts_with("STATUS   CHECKED"), "{list}");
    assert!(list.contains(&id) && list.contains("t.look") && list.contains("the file"), "{list}");
    // The beginning of an id is enough.
    let (code, one) = run(&["watch", &id[..8]]);
    assert!(code == Some(0) && one.contains("notify-when"), "{one}");
    assert!(one.contains("CHECK  AT"), "{one}");
    let (code, _) = run(&["watch", "no-such"]);
    assert_eq!(code, Some(1));
    let (code, tasks) = run(&["tasks", "--session", "main"]);
    assert!(code == Some(0) && tasks.contains("failed") && tasks.contains("no such branch"), "{tasks}");
    let (code, channels) = run(&["channels"]);
    assert!(code == Some(0) && channels.contains("ops") && channels.contains("webhook"), "{channels}");
    let (_, json) = run(&["watch", &id, "--json"]);
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
}

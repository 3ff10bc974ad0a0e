//! Watches of files, which hear of changes by the system's events (T49).

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::faults::layer;
use crate::harness::daemon::{Home, eventually, now, pass, until};
use crate::primitives::scene::Scene;

struct Watched {
    scene: Scene,
    id: String,
}

impl Watched {
    /// A watch of a file below `open` that looks once an hour by itself.
    fn new(name: &str, tool: &str, path: &str, files: &[&str]) -> Watched {
        let configuration = "[primitives]\nwatchers = true\n[tools.builtin]\nfiles = \"HOME/open\"\n";
        let scene = Scene::new(&format!("file-events-{name}"), configuration);
        for file in files {
            let file = scene.path("open").join(file);
            fs::create_dir_all(file.parent().expect("one")).expect("ours");
            fs::write(file, "before").expect("ours");
        }
        let args = format!("{{\"name\":\"{tool}\",\"params\":{{\"path\":{path:?}}},\"interval\":3600}}");
        let body = scene.call("watch_start", &args).body;
        let started: Value = serde_json::from_str(&body).expect("JSON");
        assert!(started["warnings"].is_null(), "{started}");
        let id = started["watcher_id"].as_str().unwrap_or_else(|| unreachable!("{started}")).to_owned();
        Watched { scene, id }
    }

    fn status(&self) -> Value {
        let body = self.scene.call("watch_status", &format!("{{\"watcher_id\":\"{}\"}}", self.id)).body;
        serde_json::from_str(&body).expect("JSON")
    }

    fn checks(&self) -> u64 {
        self.status()["check_count"].as_u64().expect("a number")
    }

    #[track_caller]
    fn sees(&self, text: &str) {
        let sees = || self.status()["last_result"].to_string().contains(text);
        assert!(eventually(Duration::from_secs(20), sees).is_some(), "{text}: {}", self.status());
    }
}

/// T49.
#[test]
fn a_file_that_changes_is_looked_at_soon_and_seldom() {
    let watched = Watched::new("writes", "filesystem.read", "dir/log", &["dir/log"]);
    let file = watched.scene.path("open").join("dir/log");
    let began = now();
    for number in 0..40 {
        fs::write(&file, format!("line {number}")).expect("ours");
        pass(Duration::from_millis(75));
    }
    watched.sees("line 39");
    let (checks, most) = (watched.checks(), began.elapsed_here().as_secs() + 1);
    assert!((1..=most).contains(&checks), "{checks} checks, at most {most}: one a second");
    // The last events may have come after the look that saw what they are about.
    until("it is quiet", Duration::from_secs(20), || {
        let before = watched.checks();
        eventually(Duration::from_millis(1_500), || watched.checks() != before).is_none()
    });
    let checks = watched.checks();
    // A neighbour is none of its business.
    fs::write(watched.scene.path("open").join("dir/other"), "x").expect("ours");
    assert!(eventually(Duration::from_secs(3), || watched.checks() != checks).is_none());
    // Editors write another file and give it the name.
    fs::write(watched.scene.path("open").join("new"), "saved").expect("ours");
    fs::rename(watched.scene.path("open").join("new"), &file).expect("ours");
    watched.sees("saved");
}

/// T49.
#[test]
fn a_directory_that_is_removed_is_noticed_and_a_new_one_polled() {
    let watched = Watched::new("removed", "filesystem.list", "dir", &["dir/a"]);
    fs::write(watched.scene.path("open").join("dir/b"), "b").expect("ours");
    watched.sees("\"b\"");
    fs::remove_dir_all(watched.scene.path("open").join("dir")).expect("ours");
    until("it is noticed", Duration::from_secs(20), || watched.status()["last_error"].is_string());
    let log = watched.scene.daemon.log();
    assert!(!log.contains("panick"), "{log}");
}

/// T49.
#[test]
fn what_is_not_there_yet_is_polled_and_the_start_says_so() {
    let configuration = "[primitives]\nwatchers = true\n[tools.builtin]\nfiles = \"HOME/open\"\n";
    let scene = Scene::new("file-events-none", configuration);
    let args = r#"{"name":"filesystem.read","params":{"path":"no/such"},"interval":3600}"#;
    let body = scene.call("watch_start", args).body;
    assert!(
        body.contains(
            "changes between checks go unnoticed: the directory does not exist or cannot be opened"
        ),
        "{body}"
    );
}

/// T49: a system whose limits leave no room for file events. The start says so, once, and the watch is polled.
#[test]
fn without_room_for_file_events_a_watch_is_polled() {
    for (limit, why) in [
        ("instances", "this system has no file events"),
        ("watches", "the system has no room for more file events"),
    ] {
        let home = Home::new(&format!("file-events-no-{limit}"));
        let Some(library) = layer::build(&home, "no_file_events") else { return };
        let environment = [("LD_PRELOAD", library.as_path()), ("NO_FILE_EVENTS", Path::new(limit))];
        let configuration = "[primitives]\nwatchers = true\n[tools.builtin]\nfiles = \"HOME/open\"\n";
        let scene = Scene::living_in(home, configuration, &environment);
        let file = scene.path("open").join("log");
        fs::write(&file, "before").expect("ours");
        let args = r#"{"name":"filesystem.read","params":{"path":"log"},"interval":5}"#;
        let started: Value = serde_json::from_str(&scene.call("watch_start", args).body).expect("JSON");
        let expected = format!("changes between checks go unnoticed: {why}");
        assert_eq!(started["warnings"], serde_json::json!([expected]), "{started}");
        let id = &started["watcher_id"];
        let status = || scene.call("watch_status", &format!("{{\"watcher_id\":{id}}}")).body;
        until("it has looked", Duration::from_secs(20), || status().contains("before"));
        fs::write(&file, "after").expect("ours");
        until("it looks again", Duration::from_secs(20), || status().contains("after"));
        assert!(!status().contains(why), "it is said once: {}", status());
    }
}

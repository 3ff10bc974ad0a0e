//! Channels of a real daemon: named in its configuration, used by its callers, and across a kill.

use std::fs;
use std::path::Path;
use std::time::Duration;

use reveille::domain::RunId;
use reveille_checker::Event;

use crate::harness::ask::{note_created, slot_of};
use crate::harness::daemon::{Daemon, Home, until};
use crate::harness::diary::Diary;
use crate::harness::stream::Stream;

const CONFIGURATION: &str = r#"
[channels.note]
command = ["/bin/sh", "-c", """
if [ -e first ]; then name=second; else name=first; fi
cat > new && mv new $name
[ $name = second ] || exec sleep 4
"""]
inherit = ["PATH"]
cwd = "HOME"

[channels.ops]
url = "https://hooks.example.com/T0/hush"
keys = ["whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]
agents = true
"#;

/// The program had the delivery when the daemon was killed: it may have been done with it, so it gets it again, and knows it.
#[test]
fn what_was_on_its_way_out_at_a_kill_goes_out_again() {
    let home = Home::new("channels");
    let path = |name: &str| home.path().join(name);
    let place = home.path().to_str().expect("UTF-8");
    fs::write(path("channels.toml"), CONFIGURATION.replace("HOME", place)).expect("ours");
    let start = || {
        let mut serve = home.serve();
        Daemon::start_with(&home, serve.env("PATH", "/usr/bin:/bin").args(["--config", "channels.toml"]))
    };
    let daemon = start();
    daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
    let shown = format!("{:?}", daemon.eql("[:reveille.engine/channels]"));
    assert!(shown.contains("https://hooks.example.com") && shown.contains(":webhook"), "{shown}");
    let create = "[(psi.scheduler/create {:kind :message :session-id \"main\" :message \"wake up\" \
                   :durability :durable :delay-ms 1000 :channel \"note\" :conversation \"c\"})]";
    let created = format!("{:?}", daemon.eql(create));
    let received = |name: &str| note_received(&home, &path(name));
    until("the program has it", Duration::from_secs(10), || path("first").exists());
    note_created(&mut Stream::connect(&daemon.socket).expect("it lives"), &received("first"));
    let log = daemon.log();
    daemon.kill();
    let daemon = start();
    until("the program has it again", Duration::from_secs(20), || path("second").exists());
    received("second");
    let [first, second] = ["first", "second"].map(|name| fs::read_to_string(path(name)).expect("text"));
    assert_eq!(first, second, "the same text under the same id; {created}");
    assert!(first.contains("\"text\":\"wake up\"") && first.contains("\"run-id\":\"sch-"), "{first}");
    until("it is delivered", Duration::from_secs(10), || {
        format!("{:?}", daemon.eql("[{:psi.scheduler/schedules [:psi.scheduler/status]}]"))
            .contains(":delivered")
    });
    for told in [shown, log, daemon.log()] {
        assert!(!told.contains("hush") && !told.contains("AAECAw"), "{told}");
    }
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_history();
}

/// Writes down what the program was given; returns whose it is.
fn note_received(home: &Home, path: &Path) -> String {
    let body = fs::read_to_string(path).expect("text");
    let run = body.split("\"run-id\":\"").nth(1).and_then(|rest| rest.split('"').next());
    let run = run.and_then(RunId::parse).unwrap_or_else(|| panic!("a run's id: {body}"));
    let (diary, schedule) = (Diary::of(home.path()), run.schedule.to_string());
    diary.note(Event::Receive {
        at: diary.now(),
        schedule: schedule.clone(),
        run: run.to_string(),
        slot: Some(slot_of(&run)),
        session: None,
    });
    schedule
}

//! `reveille backup` beside a daemon that writes, and `reveille restore` over a damaged store: every schedule that was
//! acknowledged before the backup is there again.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use reveille::edn::Value;

use crate::harness::daemon::{Daemon, Ended, Home};

fn create(daemon: &Daemon, label: usize) {
    let body = format!(
        "[(psi.scheduler/create {{:kind :message :message \"m\" :session-id \"main\" :durability :durable :label \"{label}\" \
         :delay-ms 3600000}})]"
    );
    assert!(daemon.eql(&body).keyword("reveille.error/why").is_none());
}

fn count(daemon: &Daemon) -> i64 {
    let answer = daemon.eql("[:psi.scheduler/schedule-count]");
    answer.keyword("psi.scheduler/schedule-count").and_then(Value::as_int).expect("a count")
}

fn run(home: &Home, arguments: &[&str]) -> Ended {
    home.run(&mut home.command(arguments))
}

#[test]
fn a_backup_of_a_daemon_that_writes_comes_back() {
    let home = Home::new("backup");
    let daemon = Daemon::start(&home);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
    for label in 0..40 {
        create(&daemon, label);
    }
    // Ten more while the backup is made: it has some of them, and all that were acknowledged before.
    let backed_up = std::thread::scope(|scope| {
        let backup = scope.spawn(|| run(&home, &["backup", "--data-dir", "state", "a.db"]));
        for label in 40..50 {
            create(&daemon, label);
        }
        backup.join().expect("it ends")
    });
    assert_eq!(backed_up.code, Some(0), "{backed_up:?}");
    assert!(backed_up.out.starts_with("a.db: ") && backed_up.out.contains("sound"), "{backed_up:?}");
    let mode = fs::metadata(home.path().join("a.db")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it holds prompts");

    // The daemon has the store, so it is not replaced.
    let refused = run(&home, &["restore", "--data-dir", "state", "a.db"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("in use"), "{refused:?}");
    assert_eq!(count(&daemon), 50);

    daemon.kill();
    fs::write(home.store("store.db"), [7; 5_000]).expect("ours");
    let (daemon, said) = Daemon::try_start(&home, &mut home.serve());
    assert!(daemon.is_none() && said.contains("reveille restore FILE"), "{said}");
    let restored = run(&home, &["restore", "--data-dir", "state", "a.db"]);
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert!(
        restored.out.contains("before-restore-0001") && restored.out.contains("is forgotten"),
        "{restored:?}"
    );
    let former = home.store("before-restore-0001").join("store.db");
    assert_eq!(fs::read(former).expect("it stays").len(), 5_000);
    home.assert_sound();
    let daemon = Daemon::start(&home);
    assert!((40..=50).contains(&count(&daemon)), "{}", count(&daemon));
}

#[test]
fn what_cannot_be_written_or_is_no_backup_is_refused() {
    let home = Home::new("backup-refused");
    let missing = run(&home, &["backup", "--data-dir", "state", "a.db"]);
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert!(!home.state().exists(), "a backup makes no data directory");
    drop(Daemon::start(&home));
    fs::write(home.path().join("a.db"), "mine").expect("ours");
    for (arguments, expected) in [
        (["backup", "--data-dir", "state", "a.db"], "overwrites nothing"),
        (["backup", "--data-dir", "state", "nowhere/a.db"], "cannot be used"),
        (["restore", "--data-dir", "state", "a.db"], "nothing was restored"),
        (["restore", "--data-dir", "state", "nowhere.db"], "nothing was restored"),
    ] {
        let refused = run(&home, &arguments);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.err.contains(expected), "{refused:?}");
    }
    assert_eq!(fs::read_to_string(home.path().join("a.db")).expect("it is there"), "mine");
    drop(Daemon::start(&home));
}

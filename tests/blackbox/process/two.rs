//! Two daemons on one directory (T25): the second is told who the first is and goes, whatever state the first is in.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::Duration;

use crate::harness::daemon::{Daemon, Ended, Home};

/// A second daemon: gone within a second, with the holder's name, and nothing on stdout.
fn assert_refused(home: &Home, command: &mut Command, words: &str) {
    let Ended { code, out, err, took } = home.run(command);
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    assert!(err.contains(words), "{words}: {err}");
    assert!(took < Duration::from_secs(1), "it took {took:?}");
}

#[test]
fn a_second_daemon_goes_within_a_second_and_names_the_first() {
    let home = Home::new("two");
    let first = Daemon::start(&home);
    let name = format!("process {} at http://{}", first.id(), first.address());
    assert_refused(&home, &mut home.serve(), &name);
    // One that hangs holds what it holds.
    first.signal("-STOP");
    assert_refused(&home, &mut home.serve(), &name);
    first.signal("-CONT");
    // Another way to the same files is no way around.
    symlink(home.state(), home.path().join("other")).expect("a link");
    let by = |dir: &str| home.command(&["serve", "--listen", "127.0.0.1:0", "--data-dir", dir]);
    assert_refused(&home, &mut by("other"), &name);
    assert_eq!(first.graphql("{ pendingCount }")["data"]["pendingCount"], 0, "the first has noticed nothing");
    assert_eq!(first.end("-TERM").code(), Some(0));
}

#[test]
fn a_store_in_two_directories_has_one_writer() {
    let home = Home::new("two-stores");
    let first = Daemon::start(&home);
    let other = home.path().join("other");
    fs::create_dir(&other).expect("ours");
    fs::set_permissions(&other, fs::metadata(home.state()).expect("it is there").permissions())
        .expect("ours");
    symlink(home.state().join("store"), other.join("store")).expect("a link");
    let mut second = home.command(&["serve", "--listen", "127.0.0.1:0", "--data-dir", "other"]);
    let ended = home.run(&mut second);
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{}", ended.err);
    assert!(ended.took < Duration::from_secs(1), "it took {:?}", ended.took);
    drop(first);
}

#[test]
fn what_a_dead_process_left_keeps_nobody_out() {
    let home = Home::new("stale");
    Daemon::start(&home).kill();
    assert!(home.state().join("reveille.sock").exists(), "what a crash leaves");
    // The number on the lock is now somebody else's, who lives: ours.
    for lock in [home.state().join("reveille.lock"), home.store("store.lock")] {
        let said = fs::read_to_string(&lock).expect("it is there");
        assert!(said.starts_with("process "), "{said:?}");
        fs::write(&lock, format!("process {} at http://127.0.0.1:1\n", std::process::id())).expect("ours");
    }
    let second = Daemon::start(&home);
    let name = format!("process {} at http://{}", second.id(), second.address());
    assert_refused(&home, &mut home.serve(), &name);
}

#[test]
fn of_many_that_start_at_once_one_serves() {
    let home = Home::new("many");
    for round in 0..4 {
        let (served, refused): (Vec<_>, Vec<_>) = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..6).map(|_| scope.spawn(|| start(&home))).collect();
            let all = starts.into_iter().map(|start| start.join().expect("it ends"));
            all.partition(|(daemon, _)| daemon.is_some())
        });
        assert_eq!(served.len(), 1, "round {round}");
        for (_, err) in refused {
            // Not the one before, whose name is still on the lock.
            let name = served[0].0.as_ref().map(|daemon| format!("process {}", daemon.id()));
            assert!(err.contains(&name.unwrap_or_default()), "round {round}: {err}");
        }
        served.into_iter().filter_map(|(daemon, _)| daemon).for_each(Daemon::kill);
        home.assert_sound();
    }
}

/// A daemon where it becomes ready, else what it said.
fn start(home: &Home) -> (Option<Daemon>, String) {
    Daemon::try_start(home, &mut home.serve())
}

//! The power goes, at any moment (T11): nothing that was acknowledged is lost, whatever the disk had not been told to flush.
//!
//! `CUTS=150 cargo test --test blackbox power:: -- --nocapture` for a longer run: each data directory lives through at most
//! [`CUTS_PER_WORLD`] cuts, some at a time. Between the daemon and its disk stand some lines of C, built here with `cc`.
//! Two controls must lose: the same daemon with `synchronous = NORMAL`, and the same daemon on a disk that lies.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Command;

use crate::faults::disk::Loss;
use crate::faults::machine::Machine;
use crate::harness::command::program;
use crate::harness::daemon::{Daemon, Home, PATIENCE, spawn, until};
use crate::harness::life::{Figures, World, live_all};
use crate::harness::load::Dice;

#[test]
#[expect(clippy::disallowed_methods, reason = "how long it is to run is said in the environment")]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let cuts: u64 = std::env::var("CUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(CUTS);
    let worlds = cuts.div_ceil(CUTS_PER_WORLD);
    let all = live_all(worlds, AT_A_TIME, |number| {
        let home = Home::new(&format!("power-{number}"));
        let machine = Machine::new(&home, number)?;
        let mut world = World::on(machine, home, number);
        world.live_through(cuts / worlds + u64::from(number < cuts % worlds));
        Some(world.judge())
    });
    if all.is_empty() {
        return;
    }
    tell(&all);
    let sum = |figure: fn(&Figures) -> u64| all.iter().map(figure).sum::<u64>();
    assert_eq!(sum(|it| it.cuts), cuts);
    assert!(sum(|it| it.lossy) > cuts / 3, "this is no loss of power");
    assert!(sum(|it| it.told.created) > cuts && sum(|it| it.told.cancelled) > cuts / 10, "this is no load");
}

fn tell(all: &[Figures]) {
    let sum = |figure: fn(&Figures) -> u64| all.iter().map(figure).sum::<u64>();
    println!(
        "{} power cuts ({} of them lost what was not flushed) in {} lives ({} ended before it was ready): {} creations \
         acknowledged ({} of them had been kept unanswered), {} cancels, {} changes, {} refusals; {} received, {} of them \
         again under their run's id; {} facts; nothing acknowledged lost",
        sum(|it| it.cuts),
        sum(|it| it.lossy),
        sum(|it| it.kills),
        sum(|it| it.early),
        sum(|it| it.told.created),
        sum(|it| it.told.found_again),
        sum(|it| it.told.cancelled),
        sum(|it| it.told.changed),
        sum(|it| it.told.refused),
        sum(|it| it.received),
        sum(|it| it.redelivered),
        sum(|it| it.facts),
    );
}

/// Lets a world live that has to lose something: within how many lives that was seen, and as what.
fn assert_noticed(what: &str, change: impl FnOnce(Machine, &Home) -> Machine) {
    let home = Home::new(&format!("power-{what}"));
    let path = home.path().to_owned();
    let Some(machine) = Machine::new(&home, 7) else { return };
    let machine = change(machine, &home);
    let mut world = World::on(machine, home, 7);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        world.live_through(CUTS);
        world.judge();
    }));
    let why = ended.expect_err("a loss was not noticed");
    let text = why.downcast_ref::<String>().cloned();
    let why = text.or_else(|| why.downcast_ref::<&str>().map(|&text| text.to_owned())).unwrap_or_default();
    println!("{what}: {why}");
    assert!(LOST.iter().any(|lost| why.contains(lost)), "{what}: this is another fault: {why}");
    // It stayed because its world ended in a panic.
    let _ = fs::remove_dir_all(path);
}

/// A copy of the program that differs in one byte: its commits are not flushed.
fn careless(home: &Home) -> PathBuf {
    let mut program = fs::read(program()).expect("it was built");
    let places: Vec<usize> =
        (0..program.len() - FULL.len()).filter(|place| program[*place..].starts_with(FULL)).collect();
    assert!(!places.is_empty(), "the program does not say how it flushes");
    for place in places {
        program[place + FULL.len() - 1] = b'1';
    }
    let path = home.path().join("careless");
    fs::write(&path, program).expect("room");
    fs::set_permissions(&path, Permissions::from_mode(0o700)).expect("ours");
    path
}

#[test]
fn a_daemon_that_does_not_flush_its_commits_loses_and_is_found_out() {
    assert_noticed("careless", |machine, home| machine.with_program(&careless(home)));
}

#[test]
fn a_disk_that_lies_about_its_flushes_is_found_out() {
    assert_noticed("lies", |machine, _| machine.whose_disk_lies_about("store.db-wal"));
}

/// A first start promises nothing before it is ready: cut at each of its writes and flushes, it leaves what can be started.
#[test]
fn a_first_start_may_be_cut_at_any_moment() {
    let moments = assert_every_moment("first", |_, _| {});
    assert!(moments.is_none_or(|moments| moments > 30), "a store is made in more than {moments:?} steps");
}

/// A killed daemon leaves commits that it has written and not flushed. The next one reads them as if they were kept.
#[test]
fn a_start_after_a_kill_may_be_cut_at_any_moment() {
    let moments = assert_every_moment("second", |machine, home| {
        let slow = home.path().join("slow");
        let mut serve = machine.serve(home);
        let daemon = Daemon::start_with(home, serve.env("POWER_SLOW", &slow));
        daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
        let create =
            ":kind :message :session-id \"main\" :message \"m\" :durability :durable :delay-ms 3600000";
        let create = format!("[(psi.scheduler/create {{{create}}})]");
        daemon.eql(&create);
        let since = machine.disk.written();
        fs::write(&slow, "").expect("room");
        let asked = daemon.post("POST /eql", &["Content-Type: application/edn"], &create);
        until("it is written", PATIENCE, || machine.disk.flushes("store.db-wal", since));
        daemon.kill();
        drop(asked);
        fs::remove_file(slow).expect("ours");
        machine.disk.note();
    });
    assert!(moments.is_none_or(|moments| moments > 8), "a store is opened in more than {moments:?} steps");
}

/// Prepares a directory and cuts the power at the first entry of the start that follows, at the second, and so on until it is
/// ready: each time the next start works. How many entries that were; `None` without a C compiler.
fn assert_every_moment(what: &str, prepare: impl Fn(&mut Machine, &Home)) -> Option<u64> {
    let home = Home::new(&format!("power-{what}"));
    let mut machine = Machine::new(&home, 11)?;
    let mut dice = Dice::new(11);
    for at in 1.. {
        machine.disk.wipe();
        prepare(&mut machine, &home);
        let mut serve = machine.serve(&home);
        serve.env("POWER_CUT_AT", at.to_string());
        let is_ready = becomes_ready(&home, &mut serve);
        machine.disk.note();
        let loss = Loss::any(&mut dice);
        machine.disk.cut(loss);
        let (daemon, said) = Daemon::try_start(&home, &mut machine.serve(&home));
        assert!(daemon.is_some(), "cut at entry {at}, {loss:?}: {said}");
        drop(daemon);
        if is_ready {
            println!("the {what} start was cut at each of its {} writes and flushes", at - 1);
            return Some(at - 1);
        }
    }
    None
}

/// Whether a start comes so far as to say that it is ready; it is over then, whatever it did next.
fn becomes_ready(home: &Home, serve: &mut Command) -> bool {
    let mut child = spawn(serve, &home.path().join("log-cut"));
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("UTF-8");
    // Where it has gone by itself, that was the cut.
    let _ = child.kill();
    child.wait().expect("it ends");
    line.starts_with("reveille ready ")
}

/// How [`reveille`] says that a commit is flushed before it returns.
const FULL: &[u8] = b"synchronous = 2";
/// What the judge of a world says of a loss.
const LOST: [&str; 4] = ["acknowledged", "was never claimed", "is not kept", "was not created"];
const CUTS: u64 = 12;
const CUTS_PER_WORLD: u64 = 25;
const AT_A_TIME: usize = 3;

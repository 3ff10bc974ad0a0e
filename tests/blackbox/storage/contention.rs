//! Other processes hold the database's write lock for seconds (T14), and one reads in a single transaction all the while: whoever
//! asks waits, is told yes, and memory does not notice: not in its own session, that is, because one session takes one delivery
//! at a time, and one that waits for the disk has its place.

use std::fs;
use std::time::Duration;

use rusqlite::Connection;

use crate::harness::ask::{assert_kept, create, create_in, middle};
use crate::harness::daemon::{Daemon, Home, PATIENCE, PROMPT, now, pass, until};
use crate::harness::diary::Diary;
use crate::harness::figures::said;
use crate::harness::ledger::Ledger;
use crate::harness::load::Dice;
use crate::harness::stream::{Harness, Stream};

/// The daemon waits for five.
const HELD_MS_MAX: u64 = 4_000;
const WAITS: Duration = Duration::from_millis(4_800);
/// Whoever waits for a lock looks again more often than that.
const PAUSE: Duration = Duration::from_millis(300);

#[test]
fn a_database_that_others_have_locked_is_waited_for() {
    let home = Home::new("contention");
    let daemon = Daemon::start(&home);
    let harness =
        Harness::attach(&daemon.socket, &["main".to_owned(), "memory".to_owned()]).expect("it lives");
    let (mut durable, mut stream) = (
        Stream::connect(&daemon.socket).expect("it lives"),
        Stream::connect(&daemon.socket).expect("it lives"),
    );
    let others = [(); 2].map(|()| Connection::open(home.store("store.db")).expect("it is there"));
    let reader = Connection::open(home.store("store.db")).expect("it is there");
    reader.execute_batch("BEGIN; SELECT count(*) FROM fact").expect("it can be read");
    let (mut dice, holds) = (Dice::new(14), said("HOLDS").unwrap_or(4));
    let (mut slowest, mut late, mut kept) = (Duration::ZERO, Vec::new(), Vec::new());
    for hold in 0..holds {
        let other = &others[usize::from(hold % 2 == 1)];
        other.busy_timeout(PATIENCE).expect("it is set");
        other.execute_batch("BEGIN IMMEDIATE").expect("nobody holds it for long");
        // The longest there is, and others.
        let time = Duration::from_millis(if hold == 0 { HELD_MS_MAX } else { dice.below(HELD_MS_MAX) });
        let began = now();
        let (made, held) = std::thread::scope(|scope| {
            let durable = &mut durable;
            let maker = scope.spawn(move || make(durable));
            while began.elapsed_here() + PAUSE < time {
                late.push(fire(&mut stream, &harness));
            }
            pass(time.saturating_sub(began.elapsed_here()));
            other.execute_batch("ROLLBACK").expect("it held it");
            let held = began.elapsed_here();
            (maker.join().expect("it only asks"), held)
        });
        // Where the machine stood still with the lock in our hand, the daemon was right to give up.
        if held < WAITS {
            assert!(made.iter().all(|(made, _)| made.is_ok()), "locked for {held:?}: {made:?}");
            assert_eq!(daemon.metric("reveille_store_down"), 0.0, "locked for {held:?}");
        }
        slowest = slowest.max(made.iter().map(|(_, took)| *took).max().unwrap_or_default());
        kept.extend(made.into_iter().filter_map(|(made, _)| made.ok()));
        pass(PAUSE);
    }
    let (late, count) = (middle(late.clone()), late.len());
    println!(
        "{holds} locks: durable work was kept after at most {slowest:?}; {count} volatile runs {late:?} late at p50"
    );
    assert!(late < Duration::from_millis(500), "{late:?}");
    assert!(slowest > Duration::from_millis(HELD_MS_MAX - 500), "{slowest:?}: nothing was locked");
    assert_kept(&daemon, &kept);
    drop(reader);
    // All that was made during the last one comes yet.
    pass(Duration::from_secs(2));
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_sound();
    let log = Ledger::read(&home.store("store.db"));
    Diary::of(home.path()).assert_clean(Some(&log), PROMPT + Duration::from_millis(HELD_MS_MAX));
}

/// A backup, say: it holds up neither durable work after a quiet moment nor the stop.
#[test]
fn a_process_that_reads_for_long_is_not_waited_for() {
    let home = Home::new("reader");
    let daemon = Daemon::start(&home);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
    let mut stream = Stream::connect(&daemon.socket).expect("it lives");
    let reader = Connection::open(home.store("store.db")).expect("it is there");
    reader.execute_batch("BEGIN; SELECT count(*) FROM fact").expect("it can be read");
    let large = format!(":durability :durable :delay-ms 3600000 :message \"{}\"", "x".repeat(60_000));
    let log = home.store("store.db-wal");
    let has_grown = || fs::metadata(&log).is_ok_and(|log| log.len() > 6 << 20);
    until("there is a log that a quiet moment would be used for", PATIENCE, || {
        create(&mut stream, &large).expect("it is made");
        has_grown()
    });
    let mut took = Vec::new();
    for _ in 0..5 {
        pass(PAUSE);
        let asked = now();
        create(&mut stream, &large).expect("it is made");
        took.push(asked.elapsed_here());
    }
    let took = middle(took);
    let began = now();
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    println!(
        "beside a reader: durable work after a quiet moment took {took:?}, the stop {:?}",
        began.elapsed_here()
    );
    assert!(took < Duration::from_secs(2) && began.elapsed_here() < Duration::from_secs(4), "{took:?}");
    drop(reader);
    home.assert_sound();
}

/// Asks for durable work, one after the other: what was said, and how long that took.
fn make(stream: &mut Stream) -> Vec<(Result<String, String>, Duration)> {
    let one = |_| {
        let asked = now();
        let made = create(stream, ":durability :durable :delay-ms 700 :message \"m\"");
        (made, asked.elapsed_here())
    };
    (0..3).map(one).collect()
}

/// Work that needs no disk; by how much it was late.
fn fire(stream: &mut Stream, harness: &Harness) -> Duration {
    let asked = now();
    let ask = ":durability :volatile :delay-ms 150 :message \"m\"";
    let id = create_in(stream, "memory", ask).expect("memory waits for no disk");
    stream.diary.leave_out(&id);
    let is_it = || {
        let receipt = harness.next(Duration::from_millis(20));
        receipt.is_some_and(|receipt| receipt.run.schedule.to_string() == id)
    };
    until("it fires", PATIENCE, is_it);
    asked.elapsed_here().saturating_sub(Duration::from_millis(150))
}

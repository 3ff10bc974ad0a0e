//! The hash chain over the log: what the store pruned itself is sound, and what another program changed is found.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use reveille::adapter::{StoreOptions, StoreSqlite};
use reveille::domain::Cursor;
use reveille::port::{FactRecord, HistoryCaps, Store};
use reveille::testkit::store_conformance::{fact, keep, log};
use rusqlite::Connection;

use super::scratch::{Scratch, options};

/// A store from which all caps have pruned something, and which another process has opened since.
fn pruned(caps: HistoryCaps) -> Scratch {
    let scratch = Scratch::new();
    let open = || StoreSqlite::open(StoreOptions { caps, ..options(scratch.path()) }).expect("it is ours");
    let mut store = open();
    let schedules = ["often", "often", "often", "seldom", "once in a while", "often", "often"];
    for cursor in (1..=900).step_by(3) {
        let facts = [0, 1, 2].map(|step| {
            // Gaps between cursors are those of volatile facts.
            let (cursor, place) = (2 * (cursor + step), cursor + step);
            let second = i64::try_from(cursor).expect("small") * 60;
            fact(cursor, schedules[usize::try_from(place % 7).expect("small")], second)
        });
        keep(&store, &facts, &[]).expect("it is kept");
        if cursor % 90 == 1 {
            assert_sound(&store);
            drop(store);
            store = open();
        }
    }
    assert_sound(&store);
    drop(store);
    scratch
}

fn assert_sound(store: &StoreSqlite) {
    let report = store.doctor().expect("it can be examined");
    assert!(report.is_sound(), "{report:?}");
    assert_eq!(report.counts.linked, report.counts.facts, "every fact is in the chain");
}

fn change(scratch: &Scratch, sql: &str) -> usize {
    let connection = Connection::open(scratch.file("store.db")).expect("nobody has it");
    connection.execute(sql, []).expect("it is SQL")
}

/// What the doctor finds.
fn defects(scratch: &Scratch) -> Vec<String> {
    StoreSqlite::inspect(scratch.path(), CAPS[0]).expect("it can be looked at").defects
}

fn does_not_follow(cursor: Cursor) -> Vec<String> {
    vec![format!("another program changed the log: fact {cursor} does not follow from the one before it")]
}

const ROOMY: HistoryCaps = reveille::testkit::store_conformance::ROOMY;
const CAPS: [HistoryCaps; 3] = [
    HistoryCaps { schedule_rows: 40, ..ROOMY },
    HistoryCaps { bytes: 12_000, ..ROOMY },
    HistoryCaps { schedule_rows: 60, bytes: 9_000, days: 1 },
];

#[test]
fn what_the_store_pruned_itself_is_sound() {
    let gaps = CAPS.map(|caps| {
        let scratch = pruned(caps);
        let report = StoreSqlite::inspect(scratch.path(), caps).expect("it can be looked at");
        assert!(report.is_sound(), "{report:?}");
        assert!(report.counts.facts < 600, "something was pruned: {report:?}");
        report.counts.gaps
    });
    assert_eq!(gaps[1], 1, "only the beginning is missing");
    assert!(gaps[0] > 20 && gaps[2] > 1, "facts are missing in the middle: {gaps:?}");
}

#[test]
fn a_fact_that_another_program_removes_is_missed() {
    for caps in CAPS {
        let scratch = pruned(caps);
        let facts =
            log(&StoreSqlite::open(StoreOptions { caps, ..options(scratch.path()) }).expect("it is ours"));
        let cursors: Vec<Cursor> = facts.iter().map(|fact| fact.cursor).collect();
        let last = cursors.len() - 1;
        for place in (0..last).step_by(7).chain([last - 1]) {
            let copy = scratch.as_left_now();
            let gone = format!("DELETE FROM fact WHERE cursor = {}", cursors[place]);
            assert_eq!(change(&copy, &gone), 1);
            assert_eq!(defects(&copy), does_not_follow(cursors[place + 1]), "without {}", cursors[place]);
        }
        let copy = scratch.as_left_now();
        assert_eq!(change(&copy, &format!("DELETE FROM fact WHERE cursor = {}", cursors[last])), 1);
        let (head, newest) = (cursors[last - 1], cursors[last]);
        let lost = format!("fact {newest} was acknowledged, and the last one in it is {head}");
        assert_eq!(defects(&copy), [lost], "the mark knows of the newest one");
        // A beginning that is cut off looks different from one that was pruned.
        let copy = scratch.as_left_now();
        change(&copy, &format!("DELETE FROM fact WHERE cursor < {}", cursors[last / 2]));
        assert_eq!(defects(&copy), does_not_follow(cursors[last / 2]));
    }
}

#[test]
fn a_fact_that_another_program_changes_is_named() {
    let scratch = pruned(CAPS[1]);
    let facts =
        log(&StoreSqlite::open(StoreOptions { caps: CAPS[1], ..options(scratch.path()) }).expect("ours"));
    let FactRecord { cursor, .. } = &facts[facts.len() / 2];
    let next = facts[facts.len() / 2 + 1].cursor;
    let check = |sql: &str, expected: Vec<String>| {
        let copy = scratch.as_left_now();
        assert_ne!(change(&copy, sql), 0, "{sql}");
        assert_eq!(defects(&copy), expected, "{sql}");
    };
    let first = facts[0].cursor;
    let damaged = format!(
        "the store is damaged: fact {cursor} is not what was written; run the doctor, and restore a backup"
    );
    check(&format!("UPDATE fact SET payload = x'00' WHERE cursor = {cursor}"), vec![damaged]);
    check(&format!("UPDATE fact SET hash = NULL WHERE cursor = {cursor}"), does_not_follow(*cursor));
    check(&format!("UPDATE fact SET hash = zeroblob(32) WHERE cursor = {cursor}"), does_not_follow(*cursor));
    check("DELETE FROM gap", does_not_follow(first));
    check(&format!("UPDATE gap SET cursor = {next}"), does_not_follow(first));
    check("UPDATE gap SET pruned = zeroblob(32)", does_not_follow(first));
    assert!(defects(&scratch).is_empty(), "the original is whole");
}

/// A store as the first version of the tables has it, with this many facts.
fn unchained(facts: u64) -> Scratch {
    let scratch = Scratch::new();
    let store = scratch.open().expect("it is made");
    for cursor in 1..=facts {
        keep(&store, &[fact(cursor, "a", 0)], &[]).expect("it is kept");
    }
    drop(store);
    let old = Connection::open(scratch.file("old.db")).expect("it is made");
    let copy = format!(
        "PRAGMA journal_mode = wal; PRAGMA application_id = 1383492609; {} PRAGMA user_version = 1;
         ATTACH '{}' AS new; INSERT INTO fact SELECT cursor, at, nanos, kind, schedule, session, run, payload, digest
             FROM new.fact; DETACH new; PRAGMA wal_checkpoint(TRUNCATE)",
        include_str!("../../../schema/sqlite/0001_facts_and_state.sql"),
        scratch.file("store.db").display()
    );
    old.execute_batch(&copy).expect("it is SQL");
    drop(old);
    fs::rename(scratch.file("old.db"), scratch.file("store.db")).expect("it is ours");
    fs::set_permissions(scratch.file("store.db"), Permissions::from_mode(0o600)).expect("it is ours");
    scratch
}

#[test]
fn the_chain_of_an_older_store_begins_where_it_was_upgraded() {
    let scratch = unchained(5);
    let caps = HistoryCaps { schedule_rows: 8, ..ROOMY };
    let before = StoreSqlite::inspect(scratch.path(), caps).expect("it can be looked at");
    assert!(before.is_sound(), "{before:?}");
    assert_eq!((before.schema, before.counts.facts, before.counts.linked), (1, 5, 0));
    for first in [6, 9, 12, 15] {
        let store =
            StoreSqlite::open(StoreOptions { caps, ..options(scratch.path()) }).expect("it is upgraded");
        for cursor in first..first + 3 {
            keep(&store, &[fact(cursor, "a", 0)], &[]).expect("it is kept");
        }
        let report = store.doctor().expect("it can be examined");
        assert!(report.is_sound(), "{report:?}");
        let counts = report.counts;
        // The facts without a hash are pruned first.
        assert_eq!(counts.linked, counts.facts.min(first - 3), "{counts:?}");
    }
    assert!(scratch.file("store.db.before-0002").exists(), "with a backup");
    assert_eq!(change(&scratch, "UPDATE fact SET hash = NULL"), 9);
    let first = log(&scratch.open().expect("it is ours"))[0].cursor;
    assert_eq!(
        defects(&scratch),
        does_not_follow(first),
        "who removes all hashes does not make it an older store"
    );
}

#[test]
fn a_beginning_that_one_session_lost_is_missing_for_everybody() {
    let scratch = Scratch::new();
    let caps = HistoryCaps { bytes: 12_000, ..ROOMY };
    let store = StoreSqlite::open(StoreOptions { caps, ..options(scratch.path()) }).expect("it is made");
    for cursor in 1..=1_000 {
        let second = i64::try_from(cursor).expect("small") * 60;
        keep(&store, &[fact(cursor, "a", second)], &[]).expect("it is kept");
    }
    let report = store.doctor().expect("it can be examined");
    assert_eq!(
        (report.pruned.by_age, report.pruned.by_rows),
        (0, 0),
        "all was over the share of its session"
    );
    // Once an hour of the log's time, what is said of sessions is dropped if it lies before the first fact.
    assert!(store.lost_history().expect("it can be read").beginning);
}

//! The write-ahead log is moved into the file in time, and no sooner than it has to be.

use std::path::Path;

use super::super::StoreOptions;
use super::super::open::open;
use super::*;
use crate::domain::Moment;
use crate::port::{Batch, Term};

/// A new store, and its write-ahead log.
fn writer(name: &str) -> (Writer, PathBuf) {
    let dir = std::env::temp_dir().join(format!("reveille-writer-{name}-{}", std::process::id()));
    let writer = open(StoreOptions::new(&dir, Moment::EPOCH)).expect("it is made");
    let log = beside(&writer.path, "-wal");
    (writer, log)
}

fn log_bytes(log: &Path) -> u64 {
    fs::metadata(log).map_or(0, |found| found.len())
}

/// Commits one fact of this size.
fn commit(writer: &mut Writer, cursor: u64, bytes: usize) {
    let fact = FactRecord {
        cursor: Cursor::new(cursor),
        at: Moment::EPOCH,
        kind: "created".into(),
        schedule: None,
        session: None,
        share: None,
        run: None,
        payload: vec![7; bytes].into(),
    };
    let batch = Batch { facts: vec![fact], rows: Vec::new() };
    let done = Box::new(|answer: Result<Cursor, StoreFault>| assert!(answer.is_ok(), "{answer:?}"));
    writer.shared.queue.submit(Term(1), batch, done).expect("there is room");
    let Work::Group(group) = writer.shared.queue.next(Idle::Rest) else { panic!("it waits") };
    assert_eq!(writer.commit(group), Idle::Tidy);
}

fn remove(writer: Writer) {
    let dir = writer.path.parent().expect("a directory").to_owned();
    drop(writer);
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn a_log_that_a_burst_has_left_is_moved_when_nothing_else_is_to_do() {
    let (mut writer, log) = writer("burst");
    commit(&mut writer, 1, 1_000);
    assert_eq!(writer.tidy(), Idle::Rest, "a short log stays where it is");
    commit(&mut writer, 2, 5_000_000);
    assert_eq!(writer.tidy(), Idle::Move);
    assert!(log_bytes(&log) > 5_000_000);
    assert_eq!(writer.move_log(), Idle::Rest);
    assert_eq!((log_bytes(&log), writer.tidy()), (0, Idle::Rest));
    remove(writer);
}

#[test]
fn a_log_is_emptied_in_the_pauses_of_a_load() {
    let (mut writer, log) = writer("pauses");
    for cursor in 1..=20 {
        commit(&mut writer, cursor, 1_000_000);
        writer.tidy();
    }
    assert!(log_bytes(&log) < 4_000_000, "{}", log_bytes(&log));
    remove(writer);
}

#[test]
fn a_log_does_not_grow_without_bound_under_a_load_without_pauses() {
    let (mut writer, log) = writer("load");
    for cursor in 1..=40 {
        commit(&mut writer, cursor, 1_000_000);
    }
    let bytes = log_bytes(&log);
    assert!((10_000_000..20_000_000).contains(&bytes), "{bytes}");
    remove(writer);
}

//! Who may open what: the directory, the lock, versions, strangers.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use reveille::adapter::{OpenFault, StoreSqlite};
use reveille::domain::Cursor;
use reveille::port::Store;
use reveille::testkit::store_conformance::{ROOMY, fact, keep, log, row};
use rusqlite::Connection;

use super::scratch::Scratch;

#[test]
fn sqlite_is_one_without_the_wal_reset_defect() {
    assert!(rusqlite::version_number() >= 3_051_003, "{}", rusqlite::version());
}

#[test]
fn everything_is_this_users_alone() {
    let scratch = Scratch::new();
    let inner = scratch.file("made");
    let store = StoreSqlite::open(super::scratch::options(&inner)).expect("it is made");
    keep(&store, &[fact(1, "a", 0)], &[]).expect("it is kept");
    let mode = |path: &std::path::Path| fs::metadata(path).expect("it is there").mode() & 0o7777;
    assert_eq!(mode(&inner), 0o700);
    for name in ["store.db", "store.db-wal", "store.db-shm", "store.lock", "store.mark"] {
        assert_eq!(mode(&inner.join(name)), 0o600, "{name}");
    }
}

#[test]
fn what_others_can_reach_is_refused() {
    let scratch = Scratch::new();
    drop(scratch.open().expect("it is made"));
    let chmod = |path: &std::path::Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    };
    for name in ["store.db", "store.mark", "store.lock"] {
        chmod(&scratch.file(name), 0o640);
        let refused = scratch.open().map(drop).expect_err("others can reach it");
        assert!(matches!(refused, OpenFault::NotOurs { .. }), "{refused}");
        assert!(refused.to_string().contains("chmod 600"), "{refused}");
        chmod(&scratch.file(name), 0o600);
    }
    chmod(scratch.path(), 0o750);
    let refused = scratch.open().map(drop).expect_err("others can reach it");
    assert!(refused.to_string().contains("chmod 700"), "{refused}");
    chmod(scratch.path(), 0o700);
    drop(scratch.open().expect("it is ours alone again"));
    let elsewhere = Scratch::new();
    fs::rename(scratch.file("store.db"), elsewhere.file("store.db")).expect("it can be moved");
    symlink(elsewhere.file("store.db"), scratch.file("store.db")).expect("a link can be made");
    let refused = scratch.open().map(drop).expect_err("a link is no file");
    assert!(matches!(refused, OpenFault::NotOurs { .. }), "{refused}");
}

#[test]
fn the_second_owner_is_told_who_the_first_is() {
    let scratch = Scratch::new();
    let store = scratch.open().expect("it is made");
    let refused = scratch.open().map(drop).expect_err("it is taken");
    let holder = format!("process {} since 1970-01-01T00:00:00Z", std::process::id());
    assert_eq!(
        refused,
        OpenFault::InUse { dir: scratch.path().canonicalize().expect("it is there"), holder: holder.clone() }
    );
    keep(&store, &[fact(1, "a", 0)], &[]).expect("the first is not disturbed");
    let report = StoreSqlite::inspect(scratch.path(), ROOMY).expect("anybody may look");
    assert_eq!((report.holder, report.counts.facts), (Some(holder), 1));
    drop(store);
    let report = StoreSqlite::inspect(scratch.path(), ROOMY).expect("anybody may look");
    assert_eq!((report.is_sound(), report.schema, report.holder), (true, 5, None));
    // What the file says after a crash is an old story: the lock went with its process.
    fs::write(scratch.file("store.lock"), "process 1 since 1970-01-01T00:00:00Z\n").expect("it is ours");
    assert_eq!(log(&scratch.open().expect("nobody has it")).len(), 1);
}

#[test]
fn versions_and_strangers_are_left_alone() {
    let change = |sql: &str| {
        let scratch = Scratch::new();
        let store = scratch.open().expect("it is made");
        keep(&store, &[fact(1, "a", 0)], &[row("a", 1, "x")]).expect("it is kept");
        drop(store);
        let stranger = Connection::open(scratch.file("store.db")).expect("it is a database");
        stranger.execute_batch(sql).expect("it can be changed");
        drop(stranger);
        let before = fs::read(scratch.file("store.db")).expect("it is there");
        let refused = scratch.open().map(drop).expect_err(sql);
        assert_eq!(before, fs::read(scratch.file("store.db")).expect("it is there"), "{sql}");
        refused
    };
    let newer = change("PRAGMA user_version = 7; PRAGMA wal_checkpoint(TRUNCATE)");
    assert!(matches!(newer, OpenFault::Newer { found: 7, known: 5, .. }), "{newer}");
    assert!(newer.to_string().contains("restore the backup"), "{newer}");
    let foreign = change("PRAGMA application_id = 42; PRAGMA wal_checkpoint(TRUNCATE)");
    assert!(matches!(foreign, OpenFault::Foreign { .. }), "{foreign}");
    let other_tables = change("DROP TABLE state");
    assert!(matches!(other_tables, OpenFault::Damaged { .. }), "{other_tables}");
    let no_wal = change("PRAGMA journal_mode = DELETE");
    assert!(matches!(no_wal, OpenFault::Damaged { .. }), "{no_wal}");
}

#[test]
fn a_start_that_broke_off_is_begun_again() {
    let scratch = Scratch::new();
    fs::write(scratch.file("store.db.new"), "half").expect("the directory is ours");
    let store = scratch.open().expect("a draft is nobody's");
    assert_eq!(store.health().head, Cursor::START);
}

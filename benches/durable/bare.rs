//! The limit of disk and SQLite: equal bytes and settings, on one thread, without a queue, digests,
//! an index or answers.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reveille::port::{FactRecord, RowRecord};
use rusqlite::{Connection, params};

use crate::{Written, millis};

/// The duration in microseconds of each of `count` flushes of 8 KiB, overwriting existing bytes.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn flushes(dir: &Path, count: u64) -> Vec<f64> {
    std::fs::create_dir_all(dir).expect("it can be made");
    let path = dir.join("flush");
    let file = std::fs::File::create(&path).expect("it can be made");
    // Written and synced first, so that the measured flushes need not allocate blocks.
    file.write_all_at(&vec![b'x'; 4 << 20], 0).expect("there is room");
    file.sync_all().expect("it is flushed");
    let each = |number: u64| {
        // Overwrites the file block by block.
        file.write_all_at(&[b'y'; 8_192], (number % 512) * 8_192).expect("there is room");
        let begin = Instant::now();
        file.sync_data().expect("it is flushed");
        begin.elapsed().as_secs_f64() * 1e6
    };
    (0..count).map(each).collect()
}

/// Inserts per second of a fact and a row like these, `group` of them per transaction.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn inserts(dir: &Path, like: &Written, group: usize, for_each: Duration) -> f64 {
    let connection = fresh(dir);
    let (mut fact, mut row) = (like.facts[0].clone(), like.rows[0].clone());
    let key = row.key.to_string();
    let begin = Instant::now();
    let mut number = 0_u64;
    while begin.elapsed() < for_each {
        connection.execute_batch("BEGIN IMMEDIATE").expect("it begins");
        for _ in 0..group {
            number += 1;
            fact.cursor = reveille::domain::Cursor::new(number);
            // As long as our keys, and in order like them.
            let tail = format!("{number:016x}");
            row.key = [&key[..key.len() - tail.len()], &tail].concat().into();
            insert(&connection, &fact);
            upsert(&connection, &row);
        }
        connection.execute_batch("COMMIT").expect("it is flushed");
    }
    number as f64 / begin.elapsed().as_secs_f64()
}

/// The milliseconds to write records, a thousand facts per transaction with their share of the
/// rows.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn write_again(dir: &Path, records: &Written) -> f64 {
    let connection = fresh(dir);
    let begin = Instant::now();
    let groups = records.facts.len().div_ceil(1_000).max(1);
    let share = records.rows.len().div_ceil(groups).max(1);
    let mut rows = records.rows.chunks(share);
    for facts in records.facts.chunks(1_000) {
        connection.execute_batch("BEGIN IMMEDIATE").expect("it begins");
        facts.iter().for_each(|fact| insert(&connection, fact));
        rows.next().into_iter().flatten().for_each(|row| upsert(&connection, row));
        connection.execute_batch("COMMIT").expect("it is flushed");
    }
    millis(begin)
}

/// The milliseconds that SQLite alone takes to read all rows of a store.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn read_rows(dir: &Path) -> f64 {
    let connection = Connection::open(dir.join("store.db")).expect("it opens");
    let begin = Instant::now();
    let mut all = connection.prepare("SELECT key, payload FROM state ORDER BY key").expect("it is SQL");
    let mut rows = all.query([]).expect("it reads");
    let mut bytes = 0;
    while let Some(row) = rows.next().expect("it reads") {
        let payload = row.get_ref(1).expect("it is there").as_blob_or_null().expect("it is a payload");
        bytes += payload.map_or(0, <[u8]>::len);
    }
    assert!(bytes > 0, "there are rows");
    millis(begin)
}

fn fresh(dir: &Path) -> Connection {
    let _ = std::fs::remove_dir_all(dir);
    std::fs::create_dir_all(dir).expect("it can be made");
    let path: PathBuf = dir.join("bare.db");
    let connection = Connection::open(path).expect("it opens");
    connection
        .execute_batch(
            // The settings of our own store: anything cheaper would not be comparable.
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384;
             PRAGMA wal_autocheckpoint = 4096;
             CREATE TABLE fact (cursor INTEGER PRIMARY KEY, at INTEGER, nanos INTEGER, kind TEXT, schedule TEXT,
                 session TEXT, run TEXT, payload BLOB);
             CREATE TABLE state (key TEXT PRIMARY KEY, revision INTEGER, at INTEGER, payload BLOB) WITHOUT ROWID;",
        )
        .expect("it is fresh");
    connection
}

fn insert(connection: &Connection, fact: &FactRecord) {
    let sql = "INSERT INTO fact VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let values = params![
        fact.cursor.number().cast_signed(),
        fact.at.seconds(),
        fact.at.nanos(),
        &*fact.kind,
        fact.schedule.as_deref(),
        fact.session.as_deref(),
        fact.run.as_deref(),
        &*fact.payload,
    ];
    connection.prepare_cached(sql).expect("it is SQL").execute(values).expect("it is kept");
}

fn upsert(connection: &Connection, row: &RowRecord) {
    let sql = "INSERT OR REPLACE INTO state VALUES (?1, ?2, 0, ?3)";
    let values = params![&*row.key, row.revision.cast_signed(), row.payload.as_deref()];
    connection.prepare_cached(sql).expect("it is SQL").execute(values).expect("it is kept");
}

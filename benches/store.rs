//! Benchmarks the SQLite store: durable appends per second, compared with bare inserts of equal
//! bytes, and the time to open it.
//!
//! `cargo bench --bench store` measures; `-- --quick` only shows that everything runs. Each append
//! is one fact and one row of 200 bytes each, answered after the flush. The bare side is SQLite
//! alone: equal bytes into a table with a key, one transaction for as many records as there are
//! callers, with equal settings, on one thread, without a queue, digests, an index or answers.
//! Lives here: the measurements. Invariant: nothing here passes or fails.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reveille::adapter::{StoreOptions, StoreSqlite};
use reveille::domain::{Cursor, Moment};
use reveille::port::{Batch, FactRecord, HistoryQuery, RowRecord, Store, Ticket};
use rusqlite::{Connection, params};

struct Sizes {
    for_each: Duration,
    rows: u64,
}

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() {
    let is_quick = std::env::args().any(|argument| argument == "--quick" || argument == "--test");
    let sizes = if is_quick {
        Sizes { for_each: Duration::from_millis(200), rows: 10_000 }
    } else {
        Sizes { for_each: Duration::from_secs(4), rows: 1_000_000 }
    };
    let base = std::env::var_os("STORE_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = base.join(format!("reveille-bench-{}", std::process::id()));
    println!("| workload | Reveille | bare SQLite | ratio |\n|---|---|---|---|");
    for keys in [Keys::InOrder, Keys::Random] {
        for callers in [1, 64, 256] {
            let ours = appends(&dir, callers, keys, sizes.for_each);
            let bare = inserts(&dir, callers, keys, sizes.for_each);
            let ratio = ours / bare;
            println!("| {callers} callers, {keys:?}: /s | {ours:.0} | {bare:.0} | {ratio:.2}× |");
        }
    }
    opening(&dir, sizes.rows);
    let _ = std::fs::remove_dir_all(&dir);
}

/// The order of the rows' keys. Keys that begin with a time come in order, random ids do not; a
/// B-tree likes the former better.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Keys {
    InOrder,
    Random,
}

impl Keys {
    fn key(self, number: u64) -> String {
        let text = match self {
            Keys::InOrder => number,
            Keys::Random => number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31),
        };
        format!("sch-{text:016x}-0000-4000-8000-000000000000")
    }
}

fn record(cursor: u64, key: &Arc<str>) -> Batch {
    let fact = FactRecord {
        cursor: Cursor::new(cursor),
        // About a thousand facts per second, as in a busy engine.
        at: Moment::new(1_767_225_600 + (cursor >> 10).cast_signed(), 0).expect("this century"),
        kind: "schedule-created".into(),
        schedule: Some(key.clone()),
        session: Some("6f1d0f6e-93e4-4dd1-9a59-0f7d0bd5d3b7".into()),
        share: None,
        run: None,
        payload: PAYLOAD.into(),
    };
    let row = RowRecord { key: key.clone(), revision: 1, payload: Some(PAYLOAD.into()) };
    Batch { facts: vec![fact], rows: vec![row] }
}

fn open(dir: &Path) -> StoreSqlite {
    StoreSqlite::open(StoreOptions::new(dir, Moment::EPOCH)).expect("it opens")
}

/// Durable appends per second by this many callers, each waiting for its answer.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn appends(dir: &Path, callers: u64, keys: Keys, for_each: Duration) -> f64 {
    let _ = std::fs::remove_dir_all(dir);
    let store = open(dir);
    let term = store.health().term.expect("it is fresh");
    let next = Mutex::new(1);
    let begin = Instant::now();
    std::thread::scope(|threads| {
        for _ in 0..callers {
            threads.spawn(|| {
                while begin.elapsed() < for_each {
                    let (ticket, done) = Ticket::new();
                    // Numbering and submitting under one lock: cursors must arrive in order.
                    let mut next = next.lock().expect("nobody panics");
                    let batch = record(*next, &keys.key(*next).into());
                    store.submit(term, batch, done).expect("the queue has room");
                    *next += 1;
                    // Unlocked before waiting, so that the callers' batches can share a flush.
                    drop(next);
                    ticket.wait().expect("it is kept");
                }
            });
        }
    });
    let seconds = begin.elapsed().as_secs_f64();
    // Counted by the store itself: committed records only.
    store.health().head.number() as f64 / seconds
}

/// Inserts equal bytes by SQLite alone, one transaction for all callers.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn inserts(dir: &Path, callers: u64, keys: Keys, for_each: Duration) -> f64 {
    let _ = std::fs::remove_dir_all(dir);
    std::fs::create_dir_all(dir).expect("it can be made");
    let bare = Connection::open(dir.join("bare.db")).expect("it opens");
    bare.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384;
         PRAGMA wal_autocheckpoint = 4096;
         CREATE TABLE fact (cursor INTEGER PRIMARY KEY, at INTEGER, kind TEXT, schedule TEXT, session TEXT, payload BLOB);
         CREATE TABLE state (key TEXT PRIMARY KEY, revision INTEGER, payload BLOB) WITHOUT ROWID;",
    )
    .expect("it is fresh");
    let begin = Instant::now();
    let mut cursor = 0_i64;
    while begin.elapsed() < for_each {
        bare.execute_batch("BEGIN IMMEDIATE").expect("it begins");
        for _ in 0..callers {
            cursor += 1;
            let key = keys.key(cursor.cast_unsigned());
            let session = "6f1d0f6e-93e4-4dd1-9a59-0f7d0bd5d3b7";
            let sql = "INSERT INTO fact VALUES (?1, ?2, 'schedule-created', ?3, ?4, ?5)";
            let mut fact = bare.prepare_cached(sql).expect("it is SQL");
            fact.execute(params![cursor, cursor >> 10, key, session, PAYLOAD]).expect("it is kept");
            let mut row = bare.prepare_cached("INSERT INTO state VALUES (?1, 1, ?2)").expect("it is SQL");
            row.execute(params![key, PAYLOAD]).expect("it is kept");
        }
        bare.execute_batch("COMMIT").expect("it is flushed");
    }
    cursor as f64 / begin.elapsed().as_secs_f64()
}

/// Fills a store, and then measures opening, loading rows, replaying facts and reading histories.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn opening(dir: &Path, count: u64) {
    let _ = std::fs::remove_dir_all(dir);
    let store = open(dir);
    let term = store.health().term.expect("it is fresh");
    let mut last = None;
    let begin = Instant::now();
    for first in (1..=count).step_by(1_000) {
        let batches = (first..first + 1_000).map(|cursor| record(cursor, &Keys::Random.key(cursor).into()));
        let whole = batches.fold(Batch::default(), |mut whole, batch| {
            whole.facts.extend(batch.facts);
            whole.rows.extend(batch.rows);
            whole
        });
        let (ticket, done) = Ticket::new();
        store.submit(term, whole, done).expect("the queue has room");
        // One batch is written while the next one is built.
        if let Some(last) = last.replace(ticket) {
            last.wait().expect("it is kept");
        }
    }
    last.map(Ticket::wait);
    println!("| {count} in batches of 1000: /s | {:.0} | | |", count as f64 / begin.elapsed().as_secs_f64());
    drop(store);
    let size = std::fs::metadata(dir.join("store.db")).map_or(0, |found| found.len());
    let timed = |name: &str, begin: Instant| println!("| {name}: ms | {} | | |", begin.elapsed().as_millis());
    let begin = Instant::now();
    let store = open(dir);
    timed(&format!("open {count} facts and rows, {} MB", size >> 20), begin);
    let begin = Instant::now();
    let mut after = None;
    while let Some(last) = store.rows_after(after.as_deref()).expect("it reads").pop() {
        after = Some(last.key);
    }
    timed("load all rows", begin);
    let begin = Instant::now();
    let mut after = Cursor::START;
    while let Some(last) = store.facts_after(after).expect("it reads").last() {
        after = last.cursor;
    }
    timed("replay all facts", begin);
    let begin = Instant::now();
    for number in 0..1_000 {
        let key = Keys::Random.key(1 + number * (count / 1_000));
        let query = HistoryQuery { schedule: Some(key.into()), limit: 100, ..HistoryQuery::default() };
        store.history(&query).expect("it reads");
    }
    timed("1000 pages of one schedule's history", begin);
}

const PAYLOAD: &[u8] = &[b'p'; 200];

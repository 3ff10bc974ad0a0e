//! What the conformance suite needs of a store under test, and the facts and rows that it writes.

use crate::domain::{Cursor, Moment};
use crate::port::{Batch, FactRecord, HistoryCaps, RowRecord, Store, StoreFault, Term, Ticket};

/// How to create, reopen and break the stores under test.
pub trait StoreMaker {
    /// The store under test.
    type Store: Store;

    /// Creates an empty store.
    fn fresh(&self, caps: HistoryCaps) -> Self::Store;

    /// Ends the process, and opens the store as the next process finds it.
    fn reopen(&self, store: Self::Store) -> Self::Store;

    /// Makes the disk fail in this way; `None` repairs it.
    fn set_failing(&self, store: &Self::Store, failing: Option<Failing>);

    /// Submits this batch, cuts the power when half of it is on the disk, and opens the store as
    /// the next process finds it.
    fn tear(&self, store: Self::Store, batch: Batch) -> Self::Store;
}

/// The ways in which a disk fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// Every append and every `renew` fails.
    Everything,
    /// Every append fails; the store can be opened again, as on a full disk.
    Appends,
    /// The bytes are written and the flush fails; the store can be opened again.
    Flushes,
}

/// Caps that no test reaches.
pub const ROOMY: HistoryCaps = HistoryCaps { schedule_rows: 1 << 20, bytes: 1 << 40, days: 36_500 };

/// A fact of a schedule, at a second of 2026.
pub fn fact(cursor: u64, schedule: &str, second: i64) -> FactRecord {
    FactRecord {
        cursor: Cursor::new(cursor),
        at: Moment::new(1_767_225_600 + second, 123_456_789).expect("a second of 2026"),
        kind: "run-delivered".into(),
        schedule: Some(schedule.into()),
        session: Some("session-1".into()),
        share: None,
        run: None,
        payload: format!("payload of {cursor}").into_bytes().into(),
    }
}

/// A current row.
pub fn row(key: &str, revision: u64, payload: &str) -> RowRecord {
    RowRecord { key: key.into(), revision, payload: Some(payload.as_bytes().into()) }
}

/// A tombstone: the marker of a deleted row.
pub fn tombstone(key: &str, revision: u64) -> RowRecord {
    RowRecord { key: key.into(), revision, payload: None }
}

/// Submits a batch and waits for its commit.
///
/// # Errors
/// The store's fault, at submission or later.
pub fn keep(store: &dyn Store, facts: &[FactRecord], rows: &[RowRecord]) -> Result<Cursor, StoreFault> {
    send(store, term(store), facts, rows)?.wait()
}

/// Reads the whole log.
///
/// # Panics
/// If it cannot be read.
pub fn log(store: &dyn Store) -> Vec<FactRecord> {
    let (mut all, mut after) = (Vec::new(), Cursor::START);
    loop {
        let chunk = store.facts_after(after).expect("the log can be read");
        let Some(last) = chunk.last() else { return all };
        after = last.cursor;
        all.extend(chunk);
    }
}

/// Reads all current rows.
///
/// # Panics
/// If they cannot be read.
pub fn rows(store: &dyn Store) -> Vec<RowRecord> {
    let mut all: Vec<RowRecord> = Vec::new();
    loop {
        let after = all.last().map(|row| row.key.clone());
        let chunk = store.rows_after(after.as_deref()).expect("the rows can be read");
        if chunk.is_empty() {
            return all;
        }
        all.extend(chunk);
    }
}

pub(super) fn send(
    store: &dyn Store,
    term: Term,
    facts: &[FactRecord],
    rows: &[RowRecord],
) -> Result<Ticket, StoreFault> {
    let (ticket, done) = Ticket::new();
    store.submit(term, Batch { facts: facts.to_vec(), rows: rows.to_vec() }, done)?;
    Ok(ticket)
}

pub(super) fn term(store: &dyn Store) -> Term {
    store.health().term.expect("a term stands")
}

pub(super) fn fill(store: &dyn Store, count: u64, fact: impl Fn(u64) -> FactRecord) {
    let each = 10;
    for first in (1..=count).step_by(each) {
        let facts: Vec<FactRecord> = (first..first + each as u64).map(&fact).collect();
        keep(store, &facts, &[]).expect("it is kept");
    }
}

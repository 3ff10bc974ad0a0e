//! The durable store: an append-only log of facts, and the current state beside it.
//!
//! A store knows nothing of what it keeps: keys are texts, payloads are bytes, and what they mean is their writer's affair.
//! What lives elsewhere: who turns a fact into bytes and back (the writer), how a caller waits (`ticket`), what a check of
//! the whole store says (`store_report`). The contract:
//!
//! - **One batch, all or none.** The facts and rows of a [`Batch`] are kept together or not at all, in the order of the calls
//!   of [`Store::submit`]. A batch has at least one fact: state changes only with a fact that says why.
//! - **Acknowledged means kept.** [`Done`] is called with `Ok` once the batch would survive the loss of power, and in log
//!   order: whoever publishes from there publishes in the order of the log. It is called on a thread of the store's, and must
//!   neither wait nor panic; it may submit.
//! - **`submit` never waits.** What does not fit into the queue is refused, so it may be called under a lock.
//! - **Terms.** Batches are decided on what the log is believed to hold. When an append fails that belief is broken for every
//!   batch behind it, so the term ends: all that wait are answered with an error, and batches that name an ended term are
//!   refused until the owner has called [`Store::renew`], read again what is kept, and decides anew. What was answered with an
//!   error may be in the log all the same (the flush failed, the bytes got through): whole or not at all, and whoever reads
//!   after `renew` sees which. A store shared by several processes ends a term when its lease is lost; the term's number is
//!   then the fence that every write bears, and `renew` is the attempt to get the lease back.
//! - **`renew` comes after what was let in.** A refused batch ends no term, and those before it may wait still, to be kept and
//!   acknowledged later. So [`Store::renew`] answers, where the term stands too, only when every batch that was let in before it
//!   has been answered, kept or failed: what is read after it is that at least. A store that cannot wait for them says that it
//!   is not so yet ([`StoreFault::Overloaded`]), and its owner tries again.
//! - **Cursors** come from the writer, because its facts that are not durable have cursors too: gaps are allowed, steps back
//!   are refused. A row's revision only grows.
//! - **Reads** see what is acknowledged, at least. They come in chunks, each a short read of its own, so that no reader holds
//!   up a writer; a list changes between two chunks only behind the place where the reader stands, or by pruning.
//! - **History ends.** Facts beyond the caps are pruned, oldest first, and counted. Current rows never are; tombstones are
//!   when they are as old as the oldest fact may be.

use std::error::Error;
use std::sync::Arc;

use super::StoreReport;
use crate::domain::{Cursor, Moment};

/// One fact as the log keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRecord {
    /// Where it stands.
    pub cursor: Cursor,
    /// When it was decided, on the wall clock.
    pub at: Moment,
    /// What happened, in one word.
    pub kind: Arc<str>,
    /// The schedule that it is about.
    pub schedule: Option<Arc<str>>,
    /// The session that it is about.
    pub session: Option<Arc<str>>,
    /// The run that it is about.
    pub run: Option<Arc<str>>,
    /// All of it, in its writer's notation.
    pub payload: Arc<[u8]>,
}

/// The current state of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowRecord {
    /// Its key.
    pub key: Arc<str>,
    /// How often it changed: more than in the row that it replaces.
    pub revision: u64,
    /// What it is, in its writer's notation; `None` is a tombstone: it was, and is not to come back.
    pub payload: Option<Arc<[u8]>>,
}

/// What is kept together or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// What happened, by rising cursor; at least one.
    pub facts: Vec<FactRecord>,
    /// What the state is from there on, each key once.
    pub rows: Vec<RowRecord>,
}

impl Batch {
    /// The bytes that it asks the store to keep, without what the store adds.
    pub fn bytes(&self) -> usize {
        let rows: usize = self.rows.iter().map(RowRecord::bytes).sum();
        self.facts.iter().map(FactRecord::bytes).sum::<usize>() + rows
    }
}

impl FactRecord {
    /// The bytes of its texts and its payload.
    pub fn bytes(&self) -> usize {
        let keys = [&self.schedule, &self.session, &self.run];
        let keys: usize = keys.into_iter().flatten().map(|key| key.len()).sum();
        self.kind.len() + keys + self.payload.len()
    }
}

impl RowRecord {
    /// The bytes of its key and its payload.
    pub fn bytes(&self) -> usize {
        self.key.len() + self.payload.as_ref().map_or(0, |payload| payload.len())
    }
}

/// A stretch in which nothing failed: what was submitted in it was decided on what the log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u64);

/// Told once what became of a batch: the cursor of its last fact when it is kept.
pub type Done = Box<dyn FnOnce(Result<Cursor, StoreFault>) + Send + Sync>;

/// Called with each failure that ends a term, on a thread of the store's: it must not wait.
pub type Alarm = Box<dyn Fn(&StoreFault) + Send + Sync>;

/// What a store cannot do. The first four are the world's, the rest their caller's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreFault {
    /// It could not be written or flushed.
    #[error("the store cannot be written: {detail}; nothing of it is acknowledged")]
    Unwritable {
        /// What the world said.
        detail: Arc<str>,
    },
    /// It could not be read.
    #[error("the store cannot be read: {detail}")]
    Unreadable {
        /// What the world said.
        detail: Arc<str>,
    },
    /// What it holds is not what was written.
    #[error("the store is damaged: {what}; run the doctor, and restore a backup")]
    Damaged {
        /// Where.
        what: Arc<str>,
    },
    /// Its owner gave it up.
    #[error("the store is closed")]
    Closed,
    /// The term is over: read again what is kept, and decide anew.
    #[error("an earlier append failed, and this was decided on top of it; renew the term and read again")]
    TermOver,
    /// Too much is waiting.
    #[error("more than {max} {unit} wait for the disk; try again")]
    Overloaded {
        /// The bound.
        max: u64,
        /// What it counts.
        unit: &'static str,
    },
    /// A batch, a key or a payload that is too large.
    #[error("{what} is larger than {max}")]
    TooLarge {
        /// What.
        what: &'static str,
        /// The bound.
        max: u64,
    },
    /// A batch without facts.
    #[error("a batch needs a fact that says why")]
    NoFact,
    /// A cursor that is not above the one before it.
    #[error("cursor {cursor} does not come after {after}")]
    OutOfOrder {
        /// The cursor.
        cursor: Cursor,
        /// The last one taken.
        after: Cursor,
    },
    /// A row's revision that is not above the one that is kept.
    #[error("revision {revision} of `{key}` does not come after the one that is kept")]
    StaleRow {
        /// The row's key.
        key: Arc<str>,
        /// The revision.
        revision: u64,
    },
}

impl StoreFault {
    /// A failed write, with the reason of whoever failed.
    pub fn unwritable(error: &dyn Error) -> StoreFault {
        StoreFault::Unwritable { detail: error.to_string().into() }
    }

    /// A failed read, with the reason of whoever failed.
    pub fn unreadable(error: &dyn Error) -> StoreFault {
        StoreFault::Unreadable { detail: error.to_string().into() }
    }

    /// Whether the same may succeed later, without a person's help.
    pub fn is_retryable(&self) -> bool {
        match self {
            StoreFault::Unwritable { .. }
            | StoreFault::Unreadable { .. }
            | StoreFault::TermOver
            | StoreFault::Overloaded { .. } => true,
            StoreFault::Damaged { .. }
            | StoreFault::Closed
            | StoreFault::TooLarge { .. }
            | StoreFault::NoFact
            | StoreFault::OutOfOrder { .. }
            | StoreFault::StaleRow { .. } => false,
        }
    }
}

/// Which part of the history is wanted: newest first, everything where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryQuery {
    /// Facts about this schedule only.
    pub schedule: Option<Arc<str>>,
    /// Facts decided at this instant or later.
    pub from: Option<Moment>,
    /// Facts decided before this instant.
    pub until: Option<Moment>,
    /// Facts before this cursor: where the last page ended.
    pub before: Option<Cursor>,
    /// How many, at most; a chunk's bounds hold too.
    pub limit: usize,
}

/// How a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreHealth {
    /// The term that batches are taken for; `None` while none is.
    pub term: Option<Term>,
    /// The last fact that is kept.
    pub head: Cursor,
    /// Batches that wait.
    pub queued: usize,
    /// Terms that ended in a failure since the store was opened.
    pub failures: u64,
    /// The last of these failures.
    pub last_fault: Option<StoreFault>,
}

/// Keeps facts and state for good. The page of this module is the contract.
pub trait Store: Send + Sync {
    /// Takes a batch, or refuses it at once; in the latter case `done` is dropped uncalled.
    ///
    /// # Errors
    /// [`StoreFault::TermOver`], [`StoreFault::Overloaded`], [`StoreFault::Closed`], and the caller's faults.
    fn submit(&self, term: Term, batch: Batch, done: Done) -> Result<(), StoreFault>;

    /// Begins a new term after a failure; where none is broken, says the present one. It answers when everything that was let in
    /// before it has been answered, so it waits for the disk, and must not be called by a [`Done`].
    ///
    /// # Errors
    /// What stands in the way still, batches that wait among it; the owner tries again when it likes.
    fn renew(&self) -> Result<Term, StoreFault>;

    /// How it is. It waits for nothing.
    fn health(&self) -> StoreHealth;

    /// A chunk of the log after a cursor, oldest first; an empty one is the end. Pruned facts are left out.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`], [`StoreFault::Damaged`].
    fn facts_after(&self, after: Cursor) -> Result<Vec<FactRecord>, StoreFault>;

    /// A chunk of the current rows after a key, by key, tombstones included; an empty one is the end.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`], [`StoreFault::Damaged`].
    fn rows_after(&self, after: Option<&str>) -> Result<Vec<RowRecord>, StoreFault>;

    /// A page of history, newest first.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`], [`StoreFault::Damaged`].
    fn history(&self, query: &HistoryQuery) -> Result<Vec<FactRecord>, StoreFault>;

    /// Checks all of it: minutes for a large one, during which it goes on working.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`] where even looking is impossible; what is found wrong stands in the report.
    fn doctor(&self) -> Result<StoreReport, StoreFault>;

    /// Takes no more batches, answers those that wait, and lets go. Dropping a store does the same.
    fn close(&self);
}

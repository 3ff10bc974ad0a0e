//! Port: the durable store, an append-only log of facts with the current state beside it.
//!
//! A store does not interpret what it holds: keys are texts, payloads are bytes, and only their
//! writer knows what they mean. What lives elsewhere: encoding a fact as bytes and back (the
//! writer), how a caller waits (`ticket`), the report on a check of the whole store
//! (`store_report`). The contract:
//!
//! - **One batch, all or none.** The facts and rows of a [`Batch`] are committed together or not at
//!   all, in the order of the calls of [`Store::submit`]. A batch has at least one fact: state
//!   changes only with a fact that says why.
//! - **Acknowledged means durable.** [`Done`] is called with `Ok` once the batch would survive the
//!   loss of power, and in log order: a caller that publishes from `Done` publishes in the order of
//!   the log. It is called on a thread of the store, and must neither wait nor panic; it may
//!   submit.
//! - **`submit` never waits.** A batch that does not fit into the queue is refused, so `submit` may
//!   be called under a lock.
//! - **Terms.** Batches are decided on what the log is believed to hold. When an append fails, that
//!   belief is broken for every batch behind it, so the term ends: all batches that wait are
//!   answered with an error, and batches that name an ended term are refused until the owner has
//!   called [`Store::renew`], reloaded the persisted state, and decided anew. A batch that was
//!   answered with an error may be in the log all the same (the flush failed, the bytes got
//!   through): whole or not at all, and a reader that reads after `renew` sees which. A store
//!   shared by several processes ends a term when its lease is lost; the term's number is then the
//!   fence that every write bears, and `renew` is the attempt to get the lease back.
//! - **`renew` comes after every accepted batch.** A refused batch ends no term, and batches
//!   accepted before it may still be waiting, to be committed and acknowledged later. So
//!   [`Store::renew`] returns only when every batch accepted before the call has been answered,
//!   committed or failed; this holds too when the term has not ended. A read after `renew`
//!   therefore sees at least those batches. A store that cannot wait for them returns
//!   [`StoreFault::Overloaded`], and its owner tries again.
//! - **Cursors** come from the writer, because its facts that are not durable have cursors too:
//!   gaps are allowed, steps back are refused. A row's revision only grows.
//! - **Reads** see at least what is acknowledged. They come in chunks, each a short read of its
//!   own, so that no reader delays a writer; between two chunks a list changes only behind the
//!   position of the reader, or by pruning.
//! - **History ends.** Facts beyond the caps are pruned and counted: the oldest of the log; of a
//!   schedule that has too many, its oldest but the creation; or, when bytes run out, facts in the share of a
//!   session that is over its even part of them ([`HISTORY_SHARES`](crate::limits::HISTORY_SHARES)):
//!   its oldest. Edits go first where they are more than a part of these ([`EDITS_PART`]).
//!   [`Store::lost_history`] says what is missing, so that no reader takes the rest for the whole. Current
//!   rows are never pruned; tombstones are, once they are as old as the oldest fact may be.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{StoreFault, StoreReport};
use crate::domain::{Cursor, Moment};

/// One fact as the log stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRecord {
    /// Position of the fact in the log.
    pub cursor: Cursor,
    /// When it was decided, on the wall clock.
    pub at: Moment,
    /// The kind of fact, in one word.
    pub kind: Arc<str>,
    /// The schedule that the fact is about.
    pub schedule: Option<Arc<str>>,
    /// The session that the fact is about.
    pub session: Option<Arc<str>>,
    /// The session in whose share of the log the fact counts, if it is not `session`.
    pub share: Option<Arc<str>>,
    /// The run that the fact is about.
    pub run: Option<Arc<str>>,
    /// The whole fact, in its writer's notation.
    pub payload: Arc<[u8]>,
}

/// The current state of one thing, as the store holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowRecord {
    /// The row's key.
    pub key: Arc<str>,
    /// How often the thing changed: larger than in the row that this one replaces.
    pub revision: u64,
    /// The state, in its writer's notation; `None` is a tombstone: the thing was deleted and must
    /// not come back.
    pub payload: Option<Arc<[u8]>>,
}

/// Facts and rows that are committed together or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The facts, by rising cursor; at least one.
    pub facts: Vec<FactRecord>,
    /// The rows that are current from these facts on, each key at most once.
    pub rows: Vec<RowRecord>,
}

impl Batch {
    /// Counts the bytes of all facts and rows, without what the store adds.
    pub fn bytes(&self) -> usize {
        let rows: usize = self.rows.iter().map(RowRecord::bytes).sum();
        self.facts.iter().map(FactRecord::bytes).sum::<usize>() + rows
    }
}

impl FactRecord {
    /// Counts the bytes of the fact's texts and payload.
    pub fn bytes(&self) -> usize {
        let keys = [&self.schedule, &self.session, &self.share, &self.run];
        let keys: usize = keys.into_iter().flatten().map(|key| key.len()).sum();
        self.kind.len() + keys + self.payload.len()
    }

    /// Returns the session in whose share of the log the fact counts; `None` if it counts in nobody's.
    pub fn sharer(&self) -> Option<&Arc<str>> {
        self.share.as_ref().or(self.session.as_ref()).filter(|_| !is_shared_by_nobody(&self.kind))
    }
}

impl RowRecord {
    /// Counts the bytes of the row's key and payload.
    pub fn bytes(&self) -> usize {
        self.key.len() + self.payload.as_ref().map_or(0, |payload| payload.len())
    }
}

/// A period without a failed append: a batch submitted in it was decided on what the log really
/// holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u64);

/// Called once with the outcome of a batch: the cursor of its last fact once it is committed.
pub type Done = Box<dyn FnOnce(Result<Cursor, StoreFault>) + Send + Sync>;

/// Called with each failure that ends a term, on a thread of the store: it must not wait.
pub type Alarm = Box<dyn Fn(&StoreFault) + Send + Sync>;

/// Which part of the history is wanted, newest first. The default selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryQuery {
    /// Facts about this schedule only.
    pub schedule: Option<Arc<str>>,
    /// Together with a schedule: nothing, unless its newest or its oldest fact counts in the share of this session. A schedule of
    /// others is then not read at all, so the time of the answer does not tell that there is one.
    pub within: Option<Arc<str>>,
    /// Facts decided at this instant or later.
    pub from: Option<Moment>,
    /// Facts decided before this instant.
    pub until: Option<Moment>,
    /// Facts before this cursor: the position where the last page ended.
    pub before: Option<Cursor>,
    /// Maximum number of facts; the bounds of a chunk apply as well.
    pub limit: usize,
}

/// Which parts of the history pruning has taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostHistory {
    /// Whether facts were pruned from the beginning of the log. If not, the first fact that was
    /// ever written is there, or only facts about its own schedule were pruned with it.
    pub beginning: bool,
    /// Sessions over their share, each with the newest fact that was pruned for it: of the facts
    /// about the session and its schedules up to there, some are missing.
    pub sessions: BTreeMap<Arc<str>, Cursor>,
    /// Schedules with too many facts, each with the newest fact that was pruned for it.
    pub schedules: BTreeMap<Arc<str>, Cursor>,
}

/// Which part of a share, or of the facts that a schedule may have, edits may fill, as one divided by this. Beyond it the
/// oldest edits are pruned before any other fact.
pub const EDITS_PART: u64 = 8;

/// Whether facts of this kind are edits: they change a schedule's definition, or pause and resume it. Edits are pruned
/// before other facts, so that these outlive any number of edits.
pub fn is_edit(kind: &str) -> bool {
    // The names of `DecisionKind`: a store knows a fact by its kind alone.
    ["schedule-changed", "schedule-paused", "schedule-resumed"].contains(&kind)
}

/// Whether facts of this kind create a schedule. Of a schedule with too many facts, its creation is never pruned.
pub fn is_creation(kind: &str) -> bool {
    kind == "schedule-created"
}

/// How many bytes the facts of the log have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryBytes {
    /// All facts.
    pub all: u64,
    /// Those in the largest share of a session.
    pub largest: u64,
    /// Those in the share of the session that was asked for.
    pub of_session: u64,
}

/// Whether facts of this kind count in no session's share: only operators cause them.
pub fn is_shared_by_nobody(kind: &str) -> bool {
    kind == "session-granted"
}

/// The health of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreHealth {
    /// The current term, for which batches are accepted; `None` while there is none.
    pub term: Option<Term>,
    /// The cursor of the last committed fact.
    pub head: Cursor,
    /// Batches that wait to be written.
    pub queued: usize,
    /// Terms that ended in a failure since the store was opened.
    pub failures: u64,
    /// The failure that ended the last of these terms.
    pub last_fault: Option<StoreFault>,
}

/// Persists facts and state. The page of this module is the contract.
pub trait Store: Send + Sync {
    /// Enqueues a batch, or refuses it at once; a refused batch drops `done` uncalled.
    ///
    /// # Errors
    /// [`StoreFault::TermOver`], [`StoreFault::Overloaded`], [`StoreFault::Closed`], and the faults
    /// of the caller.
    fn submit(&self, term: Term, batch: Batch, done: Done) -> Result<(), StoreFault>;

    /// Begins a new term after a failure; if the term has not ended, returns the current one. It
    /// returns once every batch accepted before the call has been answered, so it waits for the
    /// disk, and must not be called from a [`Done`].
    ///
    /// # Errors
    /// What still prevents a new term, waiting batches included; the owner may try again at any
    /// time.
    fn renew(&self) -> Result<Term, StoreFault>;

    /// Returns the health of the store. It waits for nothing.
    fn health(&self) -> StoreHealth;

    /// Reads a chunk of the log after a cursor, oldest first; an empty chunk is the end. Pruned
    /// facts are left out.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`], [`StoreFault::Damaged`].
    fn facts_after(&self, after: Cursor) -> Result<Vec<FactRecord>, StoreFault>;

    /// Reads a chunk of the current rows after a key, by key, tombstones included; an empty chunk
    /// is the end.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`], [`StoreFault::Damaged`].
    fn rows_after(&self, after: Option<&str>) -> Result<Vec<RowRecord>, StoreFault>;

    /// Reads a page of history, newest first.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`], [`StoreFault::Damaged`].
    fn history(&self, query: &HistoryQuery) -> Result<Vec<FactRecord>, StoreFault>;

    /// Returns which parts of the history pruning has taken. Counting starts with the store, and
    /// not with the process.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`].
    fn lost_history(&self) -> Result<LostHistory, StoreFault>;

    /// Returns how many bytes of facts the log holds. It does not wait for the disk.
    fn history_bytes(&self, session: Option<&str>) -> HistoryBytes;

    /// Checks the whole store: this takes minutes for a large one, during which the store keeps
    /// serving.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`] if the store cannot be examined at all; defects that are found
    /// stand in the report.
    fn doctor(&self) -> Result<StoreReport, StoreFault>;

    /// Accepts no more batches, answers those that wait, and releases the files. Dropping a store
    /// has the same effect.
    fn close(&self);
}

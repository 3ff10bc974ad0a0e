//! A batch that was submitted and is not committed yet, and what is left of those that failed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::durability::runs_of;
use crate::domain::{Cursor, RunId, SessionId};
use crate::engine::{Effect, Report, Undo};
use crate::port::{Done, StoreFault};

/// A submitted batch, and what waits for its commit.
pub(super) struct Pending {
    /// The cursors of its facts.
    pub(super) cursors: Vec<Cursor>,
    pub(super) bytes: u64,
    /// The sessions whose rows are in the batch. They are written again if it fails.
    pub(super) sessions: Vec<SessionId>,
    pub(super) effects: Vec<Effect>,
    /// The host's report that the batch records, if it records one.
    pub(super) report: Option<Report>,
    /// How everything that the batch's command changes was before.
    pub(super) undo: Vec<Undo>,
    /// Callers that repeated a pending command meanwhile and wait for it too.
    pub(super) repeats: Vec<Done>,
    /// Whether the publishing thread has to be woken when it is committed.
    pub(super) awaited: Arc<AtomicBool>,
    /// Why the store refused it, and every batch that was decided on top of it.
    pub(super) refused: Option<StoreFault>,
}

/// What is left of batches that were dropped, in the order of the log.
#[derive(Default)]
pub(in crate::runtime) struct Dropped {
    /// The cursors of their facts.
    pub(in crate::runtime) cursors: Vec<Cursor>,
    /// The runs whose dispatch was held back.
    pub(in crate::runtime) unsent: Vec<RunId>,
    /// How everything was before their commands.
    pub(in crate::runtime) undone: Vec<Undo>,
}

impl Dropped {
    /// Adds a batch, and tells those who repeated its command. Returns the host's report that it records.
    pub(super) fn add(&mut self, pending: Pending, fault: &StoreFault) -> Option<Report> {
        // The feed searches them when it removes their decisions.
        debug_assert!(self.cursors.last() < pending.cursors.first(), "{:?} came late", pending.cursors);
        self.cursors.extend(pending.cursors);
        self.unsent.extend(pending.effects.iter().flat_map(|effect| runs_of(effect).cloned()));
        self.undone.extend(pending.undo);
        pending.repeats.into_iter().for_each(|answered| answered(Err(fault.clone())));
        pending.report
    }
}

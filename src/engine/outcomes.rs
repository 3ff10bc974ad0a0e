//! What became of slots within a stretch of time.
//!
//! What lives elsewhere: the accounts of a whole life, which balance (`ledger`). A stretch does not balance: a slot may be
//! expected in one and end in another.

use super::ledger::Ledger;

/// Numbers of slots by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Delivered, or taken out of an inbox.
    pub(crate) delivered: u64,
    /// Left in an inbox. One that is taken later counts as delivered as well.
    pub(crate) left: u64,
    /// Skipped or folded into another slot.
    pub(crate) skipped: u64,
    /// Cancelled before delivery, or replaced by other slots.
    pub(crate) cancelled: u64,
    /// Ended in an error.
    pub(crate) failed: u64,
    /// Lost with the process.
    pub(crate) lost: u64,
}

impl Outcomes {
    /// Returns what happened between two states of the accounts.
    pub fn between(before: &Ledger, after: &Ledger) -> Outcomes {
        Outcomes {
            delivered: after.delivered.saturating_sub(before.delivered),
            // Fewer, if one was taken or goes to a host: that is no outcome of its own.
            left: after.left.saturating_sub(before.left),
            skipped: after.skipped.saturating_sub(before.skipped),
            cancelled: after.cancelled.saturating_sub(before.cancelled),
            failed: after.failed.saturating_sub(before.failed),
            lost: after.lost.saturating_sub(before.lost),
        }
    }

    /// Adds others.
    pub(crate) fn add(&mut self, more: &Outcomes) {
        self.delivered += more.delivered;
        self.left += more.left;
        self.skipped += more.skipped;
        self.cancelled += more.cancelled;
        self.failed += more.failed;
        self.lost += more.lost;
    }
}

//! The accounting identity: every slot that was to come is somewhere, exactly once.

use crate::domain::RunState;

/// How many slots came to what. Counted as facts are applied, over the engine's whole life.
///
/// Invariant: `expected` is the sum of all the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Slots that were to come, and runs by hand.
    pub expected: u64,
    /// Delivered, with a receipt.
    pub delivered: u64,
    /// Skipped or folded into another, with a reason.
    pub skipped: u64,
    /// Called off before delivery, or replaced by other slots.
    pub cancelled: u64,
    /// Ended in an error.
    pub failed: u64,
    /// Lost with the process, and reported afterwards.
    pub lost: u64,
    /// Not ended yet: to come, queued, in flight or running.
    pub pending: u64,
}

impl Ledger {
    /// Expected slots less those accounted for; anything but zero is a defect.
    pub fn imbalance(&self) -> i128 {
        let accounted = [self.delivered, self.skipped, self.cancelled, self.failed, self.lost, self.pending];
        i128::from(self.expected) - accounted.into_iter().map(i128::from).sum::<i128>()
    }

    /// Those that have ended: delivered, skipped, cancelled, failed, lost.
    pub(super) fn settled(&self) -> [u64; 5] {
        [self.delivered, self.skipped, self.cancelled, self.failed, self.lost]
    }

    /// One more is to come.
    pub(super) fn expect(&mut self) {
        self.expected += 1;
        self.pending += 1;
    }

    /// One that was to come is let go of, because what is kept will say it anew.
    pub(super) fn unexpect(&mut self) {
        self.expected -= 1;
        self.pending -= 1;
    }

    /// So many passed that nobody had been told to expect.
    pub(super) fn pass(&mut self, slots: u64) {
        self.expected += slots;
        self.skipped += slots;
    }

    /// The one that was to come was skipped.
    pub(super) fn skip(&mut self) {
        self.pending -= 1;
        self.skipped += 1;
    }

    /// The one that was to come, or a run that waited, was called off.
    pub(super) fn cancel(&mut self) {
        self.pending -= 1;
        self.cancelled += 1;
    }

    /// A run has ended so.
    pub(super) fn settle(&mut self, state: RunState) {
        debug_assert!(state.is_terminal(), "{state:?} does not settle a slot");
        match state {
            RunState::Delivered => self.delivered += 1,
            RunState::Cancelled => self.cancelled += 1,
            RunState::Failed => self.failed += 1,
            RunState::Queued | RunState::InFlight | RunState::Running => return,
        }
        self.pending -= 1;
    }

    /// So many were in memory only when the process ended.
    pub(super) fn lose(&mut self, slots: u64) {
        self.expected += slots;
        self.lost += slots;
    }
}

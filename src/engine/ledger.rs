//! The accounting identity: every expected slot has exactly one outcome, or is pending.

use crate::domain::RunState;

/// Number of slots by outcome. Updated as facts are applied, since the engine's first fact.
///
/// Invariant: `expected` is the sum of all other fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Slots that became due or will, and manual runs.
    pub expected: u64,
    /// Delivered, with a receipt.
    pub delivered: u64,
    /// In the inbox of a session in which nobody listens.
    pub left: u64,
    /// Skipped or folded into another slot, with a reason.
    pub skipped: u64,
    /// Cancelled before delivery, or replaced by other slots.
    pub cancelled: u64,
    /// Ended in an error.
    pub failed: u64,
    /// Lost with the process, and reported afterwards.
    pub lost: u64,
    /// Not ended yet: to come, queued, in flight or running.
    pub pending: u64,
}

impl Ledger {
    /// Returns expected slots minus those accounted for; anything but zero is a defect.
    pub fn imbalance(&self) -> i128 {
        let accounted =
            [self.delivered, self.left, self.skipped, self.cancelled, self.failed, self.lost, self.pending];
        i128::from(self.expected) - accounted.into_iter().map(i128::from).sum::<i128>()
    }

    /// Returns the outcomes that are final: delivered, skipped, cancelled, failed, lost.
    pub(super) fn settled(&self) -> [u64; 5] {
        [self.delivered, self.skipped, self.cancelled, self.failed, self.lost]
    }

    /// Counts one more expected slot or manual run.
    pub(super) fn expect(&mut self) {
        self.expected += 1;
        self.pending += 1;
    }

    /// Takes back an expected slot or run that will be counted anew: it is replaced, or reloaded
    /// from the store.
    pub(super) fn unexpect(&mut self) {
        self.expected -= 1;
        self.pending -= 1;
    }

    /// Counts slots that passed without having been expected one by one.
    pub(super) fn pass(&mut self, slots: u64) {
        self.expected += slots;
        self.skipped += slots;
    }

    /// Counts the expected slot as skipped.
    pub(super) fn skip(&mut self) {
        self.pending -= 1;
        self.skipped += 1;
    }

    /// Counts the expected slot, or a waiting run, as cancelled.
    pub(super) fn cancel(&mut self) {
        self.pending -= 1;
        self.cancelled += 1;
    }

    /// Counts a run that has ended in this state.
    pub(super) fn settle(&mut self, state: RunState) {
        debug_assert!(state.is_terminal(), "{state:?} does not settle a slot");
        match state {
            RunState::Delivered => self.delivered += 1,
            RunState::Left => self.left += 1,
            RunState::Cancelled => self.cancelled += 1,
            RunState::Failed => self.failed += 1,
            RunState::Queued | RunState::InFlight | RunState::Running => return,
        }
        self.pending -= 1;
    }

    /// Counts a left message as delivered: somebody took it.
    pub(super) fn take(&mut self) {
        self.left -= 1;
        self.delivered += 1;
    }

    /// Counts a left message as pending again: a host is to get it.
    pub(super) fn recall(&mut self) {
        self.left -= 1;
        self.pending += 1;
    }

    /// Counts a message that an earlier process left, and that can still be taken.
    pub(super) fn restore_left(&mut self) {
        self.expected += 1;
        self.left += 1;
    }

    /// Takes back a left message whose run will be loaded from the store again.
    pub(super) fn unexpect_left(&mut self) {
        self.expected -= 1;
        self.left -= 1;
    }

    /// Counts volatile slots that were lost with the process.
    pub(super) fn lose(&mut self, slots: u64) {
        self.expected += slots;
        self.lost += slots;
    }
}

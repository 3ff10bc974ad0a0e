//! The accounting identity: every slot that was to come is somewhere, exactly once.

use crate::domain::Status;

/// How many slots came to what. Counted as facts are applied, over the engine's whole life.
///
/// Invariant: `expected` is the sum of all the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Slots that were to come.
    pub expected: u64,
    /// Delivered, with a receipt.
    pub delivered: u64,
    /// Skipped, with a reason.
    pub skipped: u64,
    /// Called off before delivery.
    pub cancelled: u64,
    /// Ended in an error.
    pub failed: u64,
    /// Lost with the process, and reported afterwards.
    pub lost: u64,
    /// Not ended yet: pending, queued or in flight.
    pub pending: u64,
}

impl Ledger {
    /// Expected slots less those accounted for; anything but zero is a defect.
    pub fn imbalance(&self) -> i128 {
        let accounted = [self.delivered, self.skipped, self.cancelled, self.failed, self.lost, self.pending];
        i128::from(self.expected) - accounted.into_iter().map(i128::from).sum::<i128>()
    }

    pub(super) fn expect(&mut self) {
        self.expected += 1;
        self.pending += 1;
    }

    pub(super) fn settle(&mut self, status: Status) {
        debug_assert!(status.is_terminal(), "{status:?} does not settle a slot");
        self.pending -= 1;
        match status {
            Status::Delivered => self.delivered += 1,
            Status::Cancelled => self.cancelled += 1,
            Status::Failed => self.failed += 1,
            Status::Pending | Status::Queued | Status::InFlight => self.pending += 1,
        }
    }
}

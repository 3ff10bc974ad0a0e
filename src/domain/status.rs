//! Where a schedule stands.

use super::names;

names! {
    /// The status of a schedule, in the engine's own words: that of its next slot if it has one, else that of its last run.
    ///
    /// A dialect may show fewer: psi shows a delivery in flight as pending.
    Status {
        /// Its next slot is not due yet.
        Pending = "pending",
        /// Its slots are not claimed until somebody resumes it.
        Paused = "paused",
        /// Its slot was claimed and its run waits, with a reason, for its session or its host.
        Queued = "queued",
        /// Its run was handed to the host, whose receipt is still out.
        InFlight = "in-flight",
        /// The host has confirmed the delivery.
        Delivered = "delivered",
        /// Its only slot was skipped, with a reason.
        Skipped = "skipped",
        /// It recurred, and has no slots left.
        Finished = "finished",
        /// It was called off before delivery.
        Cancelled = "cancelled",
        /// Its run ended in an error, with the phase in which it did.
        Failed = "failed",
    }
}

impl Status {
    /// Whether nothing can happen to the schedule any more.
    pub const fn is_terminal(self) -> bool {
        match self {
            Status::Delivered | Status::Skipped | Status::Finished | Status::Cancelled | Status::Failed => {
                true
            }
            Status::Pending | Status::Paused | Status::Queued | Status::InFlight => false,
        }
    }
}

//! The status of a schedule.

use crate::domain::names;

names! {
    /// The status of a schedule: that of its next slot if it has one, otherwise that of its last
    /// run.
    ///
    /// A dialect may show fewer values: psi shows a delivery in flight as pending.
    Status {
        /// Its next slot is not due yet.
        Pending = "pending",
        /// Its slots are not claimed until it is resumed.
        Paused = "paused",
        /// Its slot was claimed, and its run waits, with a reason.
        Queued = "queued",
        /// Its run was handed to the host, and the receipt is outstanding.
        InFlight = "in-flight",
        /// Its run's message is in the inbox of a session in which nobody listens.
        Left = "left",
        /// The host acknowledged the delivery.
        Delivered = "delivered",
        /// Its only slot was skipped, with a reason.
        Skipped = "skipped",
        /// It recurred, and has no more slots.
        Finished = "finished",
        /// It was cancelled before delivery.
        Cancelled = "cancelled",
        /// Its run ended in an error, which names the phase.
        Failed = "failed",
    }
}

impl Status {
    /// Returns whether the schedule has ended for good.
    pub const fn is_terminal(self) -> bool {
        match self {
            Status::Left
            | Status::Delivered
            | Status::Skipped
            | Status::Finished
            | Status::Cancelled
            | Status::Failed => true,
            Status::Pending | Status::Paused | Status::Queued | Status::InFlight => false,
        }
    }
}

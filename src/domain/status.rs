//! Where a one-shot schedule stands.

use super::names;

names! {
    /// The status of a schedule with one slot, in the engine's own words.
    ///
    /// A dialect may show fewer: psi shows a delivery in flight as pending.
    Status {
        /// Its slot is not due yet.
        Pending = "pending",
        /// Its slot was claimed and its run waits, with a reason, for its session or its host.
        Queued = "queued",
        /// Its run was handed to the host, whose receipt is still out.
        InFlight = "in-flight",
        /// The host has confirmed the delivery.
        Delivered = "delivered",
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
            Status::Delivered | Status::Cancelled | Status::Failed => true,
            Status::Pending | Status::Queued | Status::InFlight => false,
        }
    }
}

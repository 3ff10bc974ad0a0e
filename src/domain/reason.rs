//! The closed list of reasons: why something waits, was called off, failed or was refused a turn.

use super::names;

names! {
    /// One code for each way in which a slot does not simply become a delivery.
    Reason {
        /// The session is in a turn, or compacting; the run waits for the idle transition.
        SessionBusy = "session-busy",
        /// Another delivery to the session is waiting for its receipt.
        DeliveryInFlight = "delivery-in-flight",
        /// The host accepted a prompt and has not reported the turn yet.
        TurnStarting = "turn-starting",
        /// The session's host is not connected.
        HostGone = "host-gone",
        /// Somebody entitled to it cancelled the schedule.
        Cancelled = "cancelled",
        /// The owning session was closed.
        SessionClosed = "session-closed",
        /// The engine was shut down in good order.
        Shutdown = "shutdown",
        /// The host refused the delivery.
        HostRefused = "host-refused",
        /// The host did not acknowledge in time.
        ReceiptOverdue = "receipt-overdue",
        /// The host's connection was lost while the delivery was out.
        HostLost = "host-lost",
        /// A bound of the engine stood in the way.
        LimitReached = "limit-reached",
    }
}

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
        /// Everything is held.
        Held = "held",
        /// The schedule is paused.
        Paused = "paused",
        /// The last attempt failed, and the next is still to come.
        Retrying = "retrying",
        /// The store cannot be written, and the schedule is durable.
        StoreUnavailable = "store-unavailable",
        /// An operator has to say yes before the run is handed over.
        AwaitingApproval = "awaiting-approval",
        /// The guard has been asked whether the run may be handed over.
        AwaitingGuard = "awaiting-guard",
        /// An earlier run of the schedule had not ended, and its policy is to skip.
        Overlap = "overlap",
        /// The slot passed while nobody was there to see it, and its policy is to skip.
        Missed = "missed",
        /// The slot was seen later than its policy allows.
        TooLate = "too-late",
        /// It is part of another run, of a later slot or of one that waits.
        Coalesced = "coalesced",
        /// More slots were missed than are made up for.
        CatchUpLimit = "catch-up-limit",
        /// Somebody asked for this slot to be skipped.
        SkippedByHand = "skipped-by-hand",
        /// The schedule was given other slots before this one came.
        Rescheduled = "rescheduled",
        /// As many runs as it was to have.
        MaxRuns = "max-runs",
        /// It was to live no longer.
        Expired = "expired",
        /// Its trigger has no more slots.
        NoMoreSlots = "no-more-slots",
        /// Somebody entitled to it cancelled the schedule.
        Cancelled = "cancelled",
        /// Another schedule with the same key took its place.
        Replaced = "replaced",
        /// A person spoke in the session before the slot came, and it was to be called off then.
        UserActivity = "user-activity",
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
        /// The run did not end within its time.
        TimedOut = "timed-out",
        /// The process ended while the run was with its host.
        Crashed = "crashed",
        /// The session that it goes to is not open.
        TargetMissing = "target-missing",
        /// There is no channel of that name.
        ChannelUnknown = "channel-unknown",
        /// Whoever is behind the channel wants nothing more.
        ChannelDisabled = "channel-disabled",
        /// The session that it belongs to may not do that any more.
        NotGranted = "not-granted",
        /// A rule of the guard's policy forbids it.
        RefusedByRule = "refused-by-rule",
        /// The guard has refused it.
        RefusedByGuard = "refused-by-guard",
        /// The guard gave no answer that can be understood.
        GuardFailed = "guard-failed",
        /// The guard gave no answer in time.
        GuardTimedOut = "guard-timed-out",
        /// It had to be approved, and there is nobody who could.
        NobodyApproves = "nobody-approves",
        /// An operator has denied it.
        ApprovalDenied = "approval-denied",
        /// Nobody approved it in time.
        ApprovalExpired = "approval-expired",
        /// It was in memory only when the process ended.
        Lost = "lost",
        /// A bound of the engine stood in the way.
        LimitReached = "limit-reached",
    }
}

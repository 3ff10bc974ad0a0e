//! The closed list of reasons: why a run waits, or was skipped, cancelled, failed or refused.

use crate::domain::names;

names! {
    /// Why a slot is not simply delivered; one code for each way.
    Reason {
        /// The session is in a turn, or compacting; the run waits for the idle transition.
        SessionBusy = "session-busy",
        /// Another delivery to the session is waiting for its receipt.
        DeliveryInFlight = "delivery-in-flight",
        /// The host accepted a prompt and has not reported the turn yet.
        TurnStarting = "turn-starting",
        /// The session's host is not connected.
        HostGone = "host-gone",
        /// Somebody else holds the agent's conversation, or it is not known whether somebody does.
        HeldElsewhere = "held-elsewhere",
        /// The agent's program is not there, or no agent of that name is configured.
        AgentMissing = "agent-missing",
        /// The agent wants a login.
        NotAuthenticated = "not-authenticated",
        /// A budget is used up for now: the agent's turns, the session's bulletins, the channel's messages, or the session's
        /// bytes on disk.
        OverBudget = "over-budget",
        /// The agent's program ended, or gave no usable answer, each time it was started.
        AgentBroken = "agent-broken",
        /// The maximum number of agents' processes is running, or the process in the conversation cannot take a prompt yet.
        HostBusy = "host-busy",
        /// Nobody listens in the session; the message waits in its inbox until somebody takes it or a host attaches.
        NobodyListens = "nobody-listens",
        /// Everything is held.
        Held = "held",
        /// The schedule is paused.
        Paused = "paused",
        /// The last attempt failed, and the next one is not due yet.
        Retrying = "retrying",
        /// The store cannot be written, and the schedule is durable.
        StoreUnavailable = "store-unavailable",
        /// An operator must approve the run before it is handed over.
        AwaitingApproval = "awaiting-approval",
        /// An external guard is checking whether the run may be handed over.
        AwaitingGuard = "awaiting-guard",
        /// An earlier run of the schedule had not ended, and the policy is to skip such slots.
        Overlap = "overlap",
        /// The slot passed while it could not be claimed, and the policy is to skip such slots.
        Missed = "missed",
        /// The slot was noticed later than the policy allows.
        TooLate = "too-late",
        /// The slot is part of another run: of a later slot, or of a run that waits.
        Coalesced = "coalesced",
        /// More slots were missed than the limit on catching up allows.
        CatchUpLimit = "catch-up-limit",
        /// A caller skipped the slot.
        SkippedByHand = "skipped-by-hand",
        /// The schedule was rescheduled before this slot was due.
        Rescheduled = "rescheduled",
        /// The schedule has had its maximum number of runs.
        MaxRuns = "max-runs",
        /// The schedule has expired.
        Expired = "expired",
        /// The trigger has no more slots.
        NoMoreSlots = "no-more-slots",
        /// An authorized caller cancelled the schedule.
        Cancelled = "cancelled",
        /// Another schedule with the same key or name replaced it.
        Replaced = "replaced",
        /// A person wrote in the session before the slot was due, and that cancels the schedule.
        UserActivity = "user-activity",
        /// The owning session was closed.
        SessionClosed = "session-closed",
        /// The engine was shut down in an orderly way.
        Shutdown = "shutdown",
        /// The host, or the channel, refused the delivery.
        HostRefused = "host-refused",
        /// The host did not acknowledge the delivery in time.
        ReceiptOverdue = "receipt-overdue",
        /// The host's connection was lost while the delivery was in flight.
        HostLost = "host-lost",
        /// The agent could not go on with the conversation, or showed nothing of it.
        ResumeFailed = "resume-failed",
        /// The agent said nothing for too long after it got the prompt.
        AgentSilent = "agent-silent",
        /// The agent has the prompt in its conversation, and its turn did not end: the process ended before.
        TurnLost = "turn-lost",
        /// It cannot be found out whether the agent got the prompt, which is not sent twice.
        OutcomeUnknown = "outcome-unknown",
        /// The run did not end within its time limit.
        TimedOut = "timed-out",
        /// The process ended, or its store failed, while the run was with its host.
        Crashed = "crashed",
        /// The session to which the run is addressed is not open.
        TargetMissing = "target-missing",
        /// There is no channel with the name that the schedule gives.
        ChannelUnknown = "channel-unknown",
        /// The channel is disabled, because its receiver asked for no more deliveries.
        ChannelDisabled = "channel-disabled",
        /// The channel is paused, and lets nothing out until it is resumed.
        ChannelPaused = "channel-paused",
        /// The receiver has refused the message for good.
        Rejected = "rejected",
        /// The session that owns, made or last edited the schedule may not do that now.
        NotGranted = "not-granted",
        /// A rule of the guard's policy forbids the run.
        RefusedByRule = "refused-by-rule",
        /// The external guard refused the run.
        RefusedByGuard = "refused-by-guard",
        /// The external guard gave no usable answer.
        GuardFailed = "guard-failed",
        /// The external guard gave no answer in time.
        GuardTimedOut = "guard-timed-out",
        /// The run requires an approval, but the guard's policy has no operator to approve it.
        NobodyApproves = "nobody-approves",
        /// An operator denied the run.
        ApprovalDenied = "approval-denied",
        /// No operator approved the run in time.
        ApprovalExpired = "approval-expired",
        /// The session that is to be told is not open; it is told if it opens again in time.
        SessionAbsent = "session-absent",
        /// No executor has the tool.
        ToolUnknown = "tool-unknown",
        /// The session may not call the tool.
        ToolNotAllowed = "tool-not-allowed",
        /// The tool answered with an error, or with nothing that can be used.
        ToolFailed = "tool-failed",
        /// The maximum number of calls is running.
        TooManyCalls = "too-many-calls",
        /// An operator must approve each call of the tool, and this one cannot wait for that.
        ApprovalNeeded = "approval-needed",
        /// The schedule was volatile, and the process ended.
        Lost = "lost",
        /// A limit of the engine was reached.
        LimitReached = "limit-reached",
    }
}

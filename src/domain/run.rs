//! One occurrence of a schedule.

use super::{Failure, HostId, Moment, Phase, Reason, SessionId, names};

names! {
    /// What made a run happen.
    Cause {
        /// Its slot came.
        Slot = "slot",
    }
}

names! {
    /// Where a run stands; it ends in exactly one of the last three and never leaves it.
    RunState {
        /// It waits for its session or its host.
        Queued = "queued",
        /// It was handed to the host, whose receipt is still out.
        InFlight = "in-flight",
        /// The host confirmed it.
        Delivered = "delivered",
        /// It was called off while it waited.
        Cancelled = "cancelled",
        /// It ended in an error.
        Failed = "failed",
    }
}

/// One occurrence, from the claim of its slot to its one terminal state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What made it happen.
    pub cause: Cause,
    /// Where it stands.
    pub state: RunState,
    /// Which try this is, from 1.
    pub attempt: u16,
    /// When its slot was claimed.
    pub claimed_at: Moment,
    /// When it was handed to the host; `None` while it waits.
    pub started_at: Option<Moment>,
    /// When it reached its terminal state.
    pub ended_at: Option<Moment>,
    /// How far its delivery came; `None` before it began.
    pub phase: Option<Phase>,
    /// Why it ended otherwise than by delivery. Why it waits is a question to the state: it changes.
    pub reason: Option<Reason>,
    /// The host that it was handed to.
    pub host: Option<HostId>,
    /// The session whose lane it occupies, or the fresh session it opens.
    pub session: Option<SessionId>,
    /// Whether the fresh session exists.
    pub session_created: bool,
    /// Its error, once it failed.
    pub failure: Option<Box<Failure>>,
}

//! One occurrence of a schedule.

use std::sync::Arc;

use super::{Checks, Failure, HostId, Moment, Phase, Reason, Schedule, SessionId, names};

names! {
    /// What made a run happen.
    Cause {
        /// Its slot came.
        Slot = "slot",
        /// Its slot passed while nobody was there, and was made up for.
        Missed = "missed",
        /// Somebody asked for a run at once; the schedule's slots are as they were.
        Manual = "manual",
    }
}

names! {
    /// Where a run stands; it ends in exactly one of the last three and never leaves it.
    RunState {
        /// It waits for its session or its host.
        Queued = "queued",
        /// It was handed to the host, whose receipt is still out.
        InFlight = "in-flight",
        /// The host has the prompt, and the turn that it began has not ended.
        Running = "running",
        /// The host confirmed it, or the turn ended that it began: whichever its schedule waits for.
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
    /// How often the schedule's trigger had been replaced, from 1.
    pub incarnation: u32,
    /// The nominal instant; of a run by hand, the instant at which it was asked for.
    pub slot: Moment,
    /// How many more slots it stands for.
    pub folded: u64,
    /// What made it happen.
    pub cause: Cause,
    /// Where it stands.
    pub state: RunState,
    /// Which try this is, from 1.
    pub attempt: u16,
    /// When its slot was claimed.
    pub claimed_at: Moment,
    /// When it was handed to the host first; `None` while it waits.
    pub started_at: Option<Moment>,
    /// When the host had the prompt.
    pub delivered_at: Option<Moment>,
    /// When it is tried again; `None` unless it waits for that.
    pub retry_at: Option<Moment>,
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
    /// Its error, once it failed; of a run that is tried again, that of the last attempt.
    pub failure: Option<Box<Failure>>,
    /// What is remembered of the guard, where that is anything.
    pub checks: Option<Box<Checks>>,
    /// What was asked for when its slot was claimed, where that was changed since.
    pub asked: Option<Arc<Schedule>>,
}

impl Run {
    /// A run whose slot has just been claimed.
    pub fn claimed(incarnation: u32, slot: Moment, cause: Cause, folded: u64, at: Moment) -> Run {
        Run {
            incarnation,
            slot,
            folded,
            cause,
            state: RunState::Queued,
            attempt: 1,
            claimed_at: at,
            started_at: None,
            delivered_at: None,
            retry_at: None,
            ended_at: None,
            phase: None,
            reason: None,
            host: None,
            session: None,
            session_created: false,
            failure: None,
            checks: None,
            asked: None,
        }
    }
}

impl RunState {
    /// Whether nothing can happen to the run any more.
    pub const fn is_terminal(self) -> bool {
        match self {
            RunState::Delivered | RunState::Cancelled | RunState::Failed => true,
            RunState::Queued | RunState::InFlight | RunState::Running => false,
        }
    }
}

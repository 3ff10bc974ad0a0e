//! Everything that can happen to the engine: a command, a host's report, a wake-up.

use std::sync::Arc;

use crate::domain::{
    Dialect, Durability, Failure, HostId, Payload, RunId, ScheduleId, Scope, SessionConfig, SessionId, When,
};
use crate::limits;

/// One thing to decide on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Somebody wants something.
    Command(Command),
    /// A host says what became of something.
    Report(Report),
    /// Time passed: the earliest deadline, if it is due, is dealt with. One deadline, one step.
    Wake,
}

/// What callers ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Open a session.
    OpenSession {
        /// Its id; `None` for a random one.
        session: Option<SessionId>,
        /// Who runs its turns.
        host: HostId,
        /// What it is to be.
        config: Arc<SessionConfig>,
    },
    /// Close a session; its schedules are called off first.
    CloseSession {
        /// Its id.
        session: SessionId,
    },
    /// Let a connected host run the turns of sessions that are built in or that lost their host. All or none.
    HostSessions {
        /// The host.
        host: HostId,
        /// The sessions.
        sessions: Vec<SessionId>,
    },
    /// Create a schedule.
    CreateSchedule(NewSchedule),
    /// Cancel a schedule.
    CancelSchedule {
        /// Who asks.
        scope: Scope,
        /// Which one.
        schedule: ScheduleId,
    },
    /// Stop in good order: nothing new, and what waits is called off, one session per wake-up.
    Shutdown {
        /// Whether receipts that are still out are given up too.
        abandon: bool,
    },
}

/// A schedule as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSchedule {
    /// Its id; `None` for a random one.
    pub id: Option<ScheduleId>,
    /// Whose tools ask.
    pub dialect: Dialect,
    /// What a restart leaves of it.
    pub durability: Durability,
    /// A name for people.
    pub label: Option<Box<str>>,
    /// The session that asks.
    pub owner: SessionId,
    /// When.
    pub when: When,
    /// What.
    pub payload: Payload,
    /// How many unfinished schedules the dialect lets a session have, this one included.
    pub session_live_max: u32,
}

impl NewSchedule {
    /// A prompt into the session that owns it, as the crate's own interface makes it; every field can be changed.
    pub fn message(owner: SessionId, when: When, text: impl Into<Box<str>>) -> NewSchedule {
        NewSchedule {
            id: None,
            dialect: Dialect::Native,
            durability: Durability::Volatile,
            label: None,
            owner,
            when,
            payload: Payload::Turn { text: text.into() },
            session_live_max: u32::try_from(limits::SESSION_SCHEDULES.value).unwrap_or(u32::MAX),
        }
    }
}

/// What hosts say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// A turn began, or ended.
    Busy {
        /// The session.
        session: SessionId,
        /// Whether something runs.
        busy: bool,
    },
    /// A person spoke.
    UserMessage {
        /// The session.
        session: SessionId,
        /// What was said.
        text: Box<str>,
    },
    /// The fresh session of a run exists, configured and with its preloaded messages.
    Created {
        /// The run.
        run: RunId,
    },
    /// The prompt of a run was accepted: the receipt.
    Accepted {
        /// The run.
        run: RunId,
    },
    /// The host could not do what it was asked to.
    Failed {
        /// The run.
        run: RunId,
        /// What went wrong.
        failure: Failure,
    },
    /// A host has connected; sessions can be opened on it.
    HostAttached {
        /// The host.
        host: HostId,
    },
    /// The host's connection is gone, and with it whatever it was working on.
    HostLost {
        /// The host.
        host: HostId,
    },
}

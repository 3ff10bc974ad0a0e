//! What the mutations of a session, and of all its schedules, take.

use super::super::params::{OneOrMany, enums, params};
use super::schedule::ReasonParams;
use crate::domain::{Dialect, JobId, Right, SessionId, names};
use crate::edn::Map;

params! {
    /// Which session.
    pub SessionParams {
        /// The session. The caller's own if left out.
        optional session: SessionId = "session-id",
    }
}

params! {
    /// What a session is opened with.
    pub OpenSession {
        /// Its id. One is made if there is none.
        optional session: SessionId = "session-id",
        /// Its configuration.
        optional config: Map = "session-config",
    }
}

params! {
    /// What a person said.
    pub SaidParams {
        /// What the person says.
        required text: Box<str> = "text",
    }
}

params! {
    /// Whether a turn is under way.
    pub BusyParams {
        /// Whether a turn is under way.
        required busy: bool = "busy" or "busy?",
    }
}

params! {
    /// Which job.
    pub JobParams {
        /// The job.
        required job: JobId = "job-id",
    }
}

params! {
    /// What a session may do. What is left out stays as it is.
    pub GrantParams {
        /// The session.
        required session: SessionId = "session-id",
        /// What it may do at all. None, like nil, ends its token.
        patch right: GrantRight = "right",
        /// By the tools of which dialects. Nil for all.
        patch dialects: OneOrMany<Dialect> = "dialects",
        /// How deep it may be in a chain of turns that schedules began, and schedule more.
        optional depth: u32 = "depth",
    }
}

names! {
    /// What a session may do at all.
    GrantRight {
        /// Read and change.
        Change = "change",
        /// Read.
        Read = "read",
        /// Neither: its token ends.
        None = "none",
    }
}

enums! {
    GrantRight = "grant-right",
}

impl GrantRight {
    /// The right, if it is one.
    pub fn right(self) -> Option<Right> {
        match self {
            GrantRight::Change => Some(Right::Change),
            GrantRight::Read => Some(Right::Read),
            GrantRight::None => None,
        }
    }
}

/// The parameters of a person's message.
#[derive(Clone, Debug, PartialEq)]
pub struct UserMessage {
    /// The session.
    pub of: SessionParams,
    /// What was said.
    pub said: SaidParams,
}

/// The parameters of a report that a turn began or ended.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyReport {
    /// The session.
    pub of: SessionParams,
    /// Which of both.
    pub busy: BusyParams,
}

/// The parameters of a report that a job is ready.
#[derive(Clone, Debug, PartialEq)]
pub struct JobReady {
    /// The session.
    pub of: SessionParams,
    /// The job.
    pub job: JobParams,
}

/// The parameters of a pause of all schedules of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct PauseAll {
    /// The session.
    pub of: SessionParams,
    /// Why.
    pub why: ReasonParams,
}

//! The parameters of mutations of a session, and of all its schedules.

use super::super::config_params::ConfigMap;
use super::super::params::{OneOrMany, enums, params};
use super::schedule::ReasonParams;
use crate::domain::{Address, AddressError, Dialect, JobId, PingName, Right, SessionId, names};

params! {
    /// The session to act on.
    pub SessionParams {
        /// The id of the session. The caller's session if omitted.
        optional session: SessionId = "session-id",
    }
}

params! {
    /// The parameters of a new session.
    pub OpenSession {
        /// The id of the new session. A random one if omitted.
        optional session: SessionId = "session-id",
        /// The configuration of the session.
        optional config: ConfigMap = "session-config",
        /// The time zone that calls of the session mean if they name none. If omitted, the configured one, else the machine's.
        optional zone: Box<str> = "zone",
        /// Whether somebody reads the messages of the session as they come. Otherwise messages are left in its inbox until they
        /// are taken, or a host attaches.
        optional listens: bool = "listens" or "listens?",
        /// The agent's conversation behind the session, such as `claude:ID`; the agent's name alone begins a new conversation.
        optional address: Address = "address",
        /// The working directory of that conversation, an absolute path.
        optional directory: Box<str> = "directory",
        /// The name under which the agent is configured, if it is not the agent's own.
        optional agent_profile: Box<str> = "agent-profile",
    }
}

impl OpenSession {
    /// The address with its parts.
    ///
    /// # Errors
    /// [`AddressError`], if a part is wrong or without an address.
    pub fn whole_address(&self) -> Result<Option<Address>, AddressError> {
        let text = self.address.as_ref().map(ToString::to_string);
        Address::from_parts(text.as_deref(), self.directory.as_deref(), self.agent_profile.as_deref())
    }
}

params! {
    /// The message of a person.
    pub SaidParams {
        /// The text of the message.
        required text: Box<str> = "text",
    }
}

params! {
    /// How many messages to take.
    pub CountParams {
        /// How many messages to take at most, from 1 to 100; 20 if omitted. Fewer are taken if their texts are long.
        optional first: u32 = "first" bounded(1, 100),
    }
}

params! {
    /// The state of a session's turn.
    pub BusyParams {
        /// Whether a turn is in progress.
        required busy: bool = "busy" or "busy?",
    }
}

params! {
    /// The job to report.
    pub JobParams {
        /// The id of the job.
        required job: JobId = "job-id",
    }
}

params! {
    /// The ping to send.
    pub PingParams {
        /// The name of the ping, up to 64 bytes: it tells the pings of one session apart.
        required name: PingName = "name",
    }
}

params! {
    /// What a session may do. Omitted parts stay unchanged.
    pub GrantParams {
        /// The id of the session.
        required session: SessionId = "session-id",
        /// The right of the session: to change and read, or to read. None, like nil, revokes its token.
        patch right: GrantRight = "right",
        /// The dialects whose tools the session may use. Nil for all.
        patch dialects: OneOrMany<Dialect> = "dialects",
        /// How deep in a chain of turns that schedules began the session may create further schedules.
        optional depth: u32 = "depth",
        /// Whether the session's token may have jobs delivered into other sessions, and change the shared jobs of others.
        optional cron_others: bool = "cron-others",
    }
}

names! {
    /// The right of a session.
    GrantRight {
        /// Read and change.
        Change = "change",
        /// Read.
        Read = "read",
        /// Neither: the token is revoked.
        None = "none",
    }
}

enums! {
    GrantRight = "grant-right",
}

impl GrantRight {
    /// Returns the right; `None` for neither.
    pub fn right(self) -> Option<Right> {
        match self {
            GrantRight::Change => Some(Right::Change),
            GrantRight::Read => Some(Right::Read),
            GrantRight::None => None,
        }
    }
}

/// The parameters of taking messages out of an inbox.
#[derive(Clone, Debug, PartialEq)]
pub struct TakeRequest {
    /// The session.
    pub(crate) of: SessionParams,
    /// How many.
    pub(crate) count: CountParams,
}

/// The parameters of a person's message.
#[derive(Clone, Debug, PartialEq)]
pub struct UserMessage {
    /// The session.
    pub(crate) of: SessionParams,
    /// The message.
    pub(crate) said: SaidParams,
}

/// The parameters of a report that a turn began or ended.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyReport {
    /// The session.
    pub(crate) of: SessionParams,
    /// Whether the turn began or ended.
    pub(crate) busy: BusyParams,
}

/// The parameters of a report that a job is ready.
#[derive(Clone, Debug, PartialEq)]
pub struct JobReady {
    /// The session.
    pub(crate) of: SessionParams,
    /// The job.
    pub(crate) job: JobParams,
}

/// The parameters of a ping.
#[derive(Clone, Debug, PartialEq)]
pub struct PingRequest {
    /// The session.
    pub(crate) of: SessionParams,
    /// The ping.
    pub(crate) ping: PingParams,
}

/// The parameters of a pause of all schedules of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct PauseAll {
    /// The session.
    pub(crate) of: SessionParams,
    /// The reason.
    pub(crate) why: ReasonParams,
}

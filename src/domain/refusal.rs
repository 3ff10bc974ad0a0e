//! What the engine refuses: the caller's fault, as data. A refusal changes nothing.

use super::{HostId, RunId, ScheduleId, SessionId, Status, names};
use crate::limits::Limit;

names! {
    /// The class of a refusal, the same in every notation.
    Code {
        /// The request makes no sense.
        Validation = "VALIDATION",
        /// What it names does not exist, or not for this caller.
        NotFound = "NOT_FOUND",
        /// What it names is in a state that forbids it.
        Conflict = "CONFLICT",
        /// A bound is reached.
        Limit = "LIMIT",
        /// The caller may look and not change.
        Forbidden = "FORBIDDEN",
    }
}

/// Why the engine refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No session of that id is open.
    #[error("session not found: {session}")]
    UnknownSession {
        /// The id given.
        session: SessionId,
    },
    /// A session of that id is open already.
    #[error("session already open: {session}")]
    SessionExists {
        /// The id given.
        session: SessionId,
    },
    /// Another connected host has the session.
    #[error("session {session} is hosted by {host}")]
    HostedElsewhere {
        /// The session.
        session: SessionId,
        /// Who has it.
        host: HostId,
    },
    /// No host of that number is connected.
    #[error("host not connected: {host}")]
    UnknownHost {
        /// The host given.
        host: HostId,
    },
    /// No schedule of that id exists for this caller.
    #[error("schedule not found: {schedule}")]
    UnknownSchedule {
        /// The id given.
        schedule: ScheduleId,
    },
    /// A schedule of that id exists already.
    #[error("schedule-id already exists: {schedule}")]
    ScheduleExists {
        /// The id given.
        schedule: ScheduleId,
    },
    /// The schedule has ended, or its delivery is under way.
    #[error("schedule is not cancellable: {schedule} is {}", status.name())]
    NotCancellable {
        /// The schedule.
        schedule: ScheduleId,
        /// Where it stands.
        status: Status,
    },
    /// A receipt for a run that does not exist, or not for this caller.
    #[error("delivery not found: {run}")]
    UnknownRun {
        /// The run named.
        run: RunId,
    },
    /// A receipt for a run that is not waiting for one: too early, late or repeated.
    #[error("no delivery in flight: {run}")]
    NotInFlight {
        /// The run named.
        run: RunId,
    },
    /// The dialect's own cap on one session's unfinished schedules is reached.
    #[error("scheduler pending cap exceeded: at most {max} unfinished schedules in a session")]
    SessionFull {
        /// The cap.
        max: u32,
    },
    /// A bound of the engine is reached.
    #[error("limit reached: {} is {} {}", limit.name, limit.value, limit.unit)]
    LimitReached {
        /// The bound.
        limit: Limit,
    },
    /// The instant meant lies outside the calendar.
    #[error("the delay leads beyond the calendar")]
    BeyondCalendar,
    /// The engine is being shut down.
    #[error("the engine is stopping")]
    Stopping,
}

impl Refusal {
    /// The class.
    pub fn code(&self) -> Code {
        match self {
            Refusal::UnknownSession { .. }
            | Refusal::UnknownHost { .. }
            | Refusal::UnknownSchedule { .. }
            | Refusal::UnknownRun { .. } => Code::NotFound,
            Refusal::SessionExists { .. }
            | Refusal::HostedElsewhere { .. }
            | Refusal::ScheduleExists { .. }
            | Refusal::NotInFlight { .. }
            | Refusal::NotCancellable { .. }
            | Refusal::Stopping => Code::Conflict,
            Refusal::SessionFull { .. } | Refusal::LimitReached { .. } => Code::Limit,
            Refusal::BeyondCalendar => Code::Validation,
        }
    }

    /// What the caller can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Refusal::UnknownSession { .. } => "open the session first, or check its id",
            Refusal::SessionExists { .. } => "use the open session, or choose another id",
            Refusal::HostedElsewhere { .. } => "let that host detach, or close the session there",
            Refusal::UnknownHost { .. } => "attach the host first",
            Refusal::UnknownSchedule { .. } => "list the schedules to see the ids that exist",
            Refusal::ScheduleExists { .. } => "leave the id out to get a fresh one",
            Refusal::NotCancellable { .. } => "only pending and queued schedules can be cancelled",
            Refusal::UnknownRun { .. } => "acknowledge by the delivery-id that was pushed to you",
            Refusal::NotInFlight { .. } => "acknowledge each delivery once, within the receipt time",
            Refusal::SessionFull { .. } => "cancel a schedule or wait for one to end",
            Refusal::LimitReached { .. } => "close what is no longer needed",
            Refusal::BeyondCalendar => "choose a shorter delay",
            Refusal::Stopping => "try again after the restart",
        }
    }
}

//! What the engine refuses: the caller's fault, as data. A refusal changes nothing.

use super::{Digest, HostId, Moment, Reason, RunId, ScheduleId, SessionId, Status, names};
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
    /// Another change came first: the one asked for was made on a definition that is no longer the present one.
    #[error("schedule {schedule} is at revision {revision}, not {base}")]
    RevisionConflict {
        /// The schedule.
        schedule: ScheduleId,
        /// The revision given.
        base: u32,
        /// The present one.
        revision: u32,
    },
    /// The key stands for another request.
    #[error("the key is taken by another request: {schedule}")]
    KeyTaken {
        /// The schedule that has the key.
        schedule: ScheduleId,
    },
    /// What is asked for cannot be done to a schedule that stands so.
    #[error("schedule {schedule} is {}", status.name())]
    WrongStatus {
        /// The schedule.
        schedule: ScheduleId,
        /// Where it stands.
        status: Status,
    },
    /// A run of the schedule has not ended, and its policy is not to have two.
    #[error("an earlier run has not ended: {run}")]
    Overlapping {
        /// The run.
        run: RunId,
    },
    /// No slot of the schedule would ever come.
    #[error("no slot would ever come: {}", reason.doc())]
    NoSlot {
        /// Why.
        reason: Reason,
    },
    /// The store cannot be written, and what is asked for has to be kept.
    #[error("the store cannot be written: {detail}; nothing was changed")]
    Unkept {
        /// What stands in the way.
        detail: Box<str>,
    },
    /// There is no store, and what is asked for has to be kept.
    #[error("this engine keeps nothing on disk")]
    NoStore,
    /// Schedules of sessions may not go out by this channel, or there is none of that name: a session is not told which.
    #[error("channel not allowed: {channel}")]
    ChannelNotAllowed {
        /// The channel's name.
        channel: Box<str>,
    },
    /// The run waits for no operator's word.
    #[error("run {run} does not wait for approval")]
    NotHeld {
        /// The run named.
        run: RunId,
    },
    /// What was approved is not what would be handed over: it was changed meanwhile.
    #[error("run {run} is not what was shown: it was {digest}, and is {present}")]
    ApprovalConflict {
        /// The run.
        run: RunId,
        /// What was to be approved.
        digest: Digest,
        /// What it is by now.
        present: Digest,
    },
    /// An answer to a question that nobody asks, or asks no more.
    #[error("the guard is not asked about {run}")]
    NotAsked {
        /// The run named.
        run: RunId,
    },
    /// A schedule began the turn in which this is asked for, and it may not schedule more.
    #[error(
        "a schedule began this turn, {depth} deep in its line, and its session may schedule more up to {max}"
    )]
    TooDeep {
        /// How deep it is in its line.
        depth: u32,
        /// How deep its session may be.
        max: u32,
    },
    /// A schedule began the turn in which this is asked for, and it would be a loop.
    #[error("a schedule began this turn, and nothing is run by hand in it")]
    WokenTurn,
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
            | Refusal::RevisionConflict { .. }
            | Refusal::KeyTaken { .. }
            | Refusal::WrongStatus { .. }
            | Refusal::Overlapping { .. }
            | Refusal::NotHeld { .. }
            | Refusal::ApprovalConflict { .. }
            | Refusal::NotAsked { .. }
            | Refusal::Unkept { .. }
            | Refusal::Stopping => Code::Conflict,
            Refusal::TooDeep { .. } | Refusal::WokenTurn => Code::Forbidden,
            Refusal::SessionFull { .. } | Refusal::LimitReached { .. } => Code::Limit,
            Refusal::ChannelNotAllowed { .. } => Code::Forbidden,
            Refusal::BeyondCalendar | Refusal::NoSlot { .. } | Refusal::NoStore => Code::Validation,
        }
    }

    /// One of each, for the index of errors; what they are about is made up.
    pub fn samples() -> Vec<Refusal> {
        let session = || SessionId::new("SESSION").expect("a name of ours");
        let schedule = || ScheduleId::new("SCHEDULE").expect("a name of ours");
        let run = || RunId { schedule: schedule(), incarnation: 1, slot: Moment::EPOCH };
        let host = HostId::new(1);
        vec![
            Refusal::UnknownSession { session: session() },
            Refusal::SessionExists { session: session() },
            Refusal::HostedElsewhere { session: session(), host },
            Refusal::UnknownHost { host },
            Refusal::UnknownSchedule { schedule: schedule() },
            Refusal::ScheduleExists { schedule: schedule() },
            Refusal::NotCancellable { schedule: schedule(), status: Status::Delivered },
            Refusal::UnknownRun { run: run() },
            Refusal::NotInFlight { run: run() },
            Refusal::SessionFull { max: 50 },
            Refusal::LimitReached { limit: crate::limits::SCHEDULES },
            Refusal::RevisionConflict { schedule: schedule(), base: 1, revision: 2 },
            Refusal::KeyTaken { schedule: schedule() },
            Refusal::WrongStatus { schedule: schedule(), status: Status::Delivered },
            Refusal::Overlapping { run: run() },
            Refusal::NoSlot { reason: Reason::Expired },
            Refusal::Unkept { detail: "REASON".into() },
            Refusal::NoStore,
            Refusal::ChannelNotAllowed { channel: "CHANNEL".into() },
            Refusal::NotHeld { run: run() },
            Refusal::ApprovalConflict { run: run(), digest: Digest([0; 32]), present: Digest([1; 32]) },
            Refusal::NotAsked { run: run() },
            Refusal::TooDeep { depth: 2, max: 1 },
            Refusal::WokenTurn,
            Refusal::BeyondCalendar,
            Refusal::Stopping,
        ]
    }

    /// Its name in the index of errors.
    pub fn name(&self) -> &'static str {
        match self {
            Refusal::UnknownSession { .. } => "unknown-session",
            Refusal::SessionExists { .. } => "session-exists",
            Refusal::HostedElsewhere { .. } => "hosted-elsewhere",
            Refusal::UnknownHost { .. } => "unknown-host",
            Refusal::UnknownSchedule { .. } => "unknown-schedule",
            Refusal::ScheduleExists { .. } => "schedule-exists",
            Refusal::NotCancellable { .. } => "not-cancellable",
            Refusal::UnknownRun { .. } => "unknown-run",
            Refusal::NotInFlight { .. } => "not-in-flight",
            Refusal::SessionFull { .. } => "session-full",
            Refusal::LimitReached { .. } => "limit-reached",
            Refusal::RevisionConflict { .. } => "revision-conflict",
            Refusal::KeyTaken { .. } => "key-taken",
            Refusal::WrongStatus { .. } => "wrong-status",
            Refusal::Overlapping { .. } => "overlapping",
            Refusal::NoSlot { .. } => "no-slot",
            Refusal::Unkept { .. } => "unkept",
            Refusal::NoStore => "no-store",
            Refusal::ChannelNotAllowed { .. } => "channel-not-allowed",
            Refusal::NotHeld { .. } => "not-held",
            Refusal::ApprovalConflict { .. } => "approval-conflict",
            Refusal::NotAsked { .. } => "not-asked",
            Refusal::TooDeep { .. } => "too-deep",
            Refusal::WokenTurn => "woken-turn",
            Refusal::BeyondCalendar => "beyond-calendar",
            Refusal::Stopping => "stopping",
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
            Refusal::RevisionConflict { .. } => {
                "read the schedule again, and make the change on what it says now"
            }
            Refusal::KeyTaken { .. } => "choose another key, or repeat the request that the key stands for",
            Refusal::WrongStatus { .. } => "read the schedule again to see what can be done with it",
            Refusal::Overlapping { .. } => "wait for that run to end, or let runs of the schedule overlap",
            Refusal::NoSlot { .. } => "choose an instant that lies ahead, or a later end",
            Refusal::Unkept { .. } => "try again when the store can be written",
            Refusal::NoStore => "start it with a data directory, or ask for a volatile schedule",
            Refusal::ChannelNotAllowed { .. } => "ask an operator to let sessions use the channel",
            Refusal::NotHeld { .. } => "list the approvals that are waited for",
            Refusal::ApprovalConflict { .. } => "look at it again, and approve what it is now",
            Refusal::NotAsked { .. } => "answer each question once, within its time",
            Refusal::WokenTurn => "schedule it for a little later instead: that counts in its line",
            Refusal::TooDeep { .. } => {
                "ask the user, whose word ends the line; or an operator for a grant of more depth"
            }
            Refusal::BeyondCalendar => "choose a shorter delay",
            Refusal::Stopping => "try again after the restart",
        }
    }
}

//! What the engine refuses, as data. A refusal changes nothing.
//!
//! Nearly all are the caller's fault. Three are not, and have a code of their own, [`Code::Unavailable`]: the request was
//! right, and may be repeated as it is.

use crate::domain::{Digest, HostId, Moment, Reason, RunId, ScheduleId, SessionId, Status, names};
use crate::limits::Limit;

names! {
    /// The class of a refusal, spelled alike in every notation.
    Code {
        /// The request is invalid.
        Validation = "VALIDATION",
        /// Something that the request names does not exist, or the caller may not see it.
        NotFound = "NOT_FOUND",
        /// Something that the request names is in a state that does not allow the request.
        Conflict = "CONFLICT",
        /// A limit was reached.
        Limit = "LIMIT",
        /// The caller is not allowed to do this.
        Forbidden = "FORBIDDEN",
        /// The engine cannot handle the request now. Repeat it unchanged a little later.
        Unavailable = "UNAVAILABLE",
    }
}

/// Why the engine rejected a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    // psi's own tests match parts of some messages, such as `schedule not found` and `pending cap exceeded`.
    /// No session with this id is open.
    #[error("session not found: {session}")]
    UnknownSession {
        /// The id given.
        session: SessionId,
    },
    /// A session with this id is already open.
    #[error("session already open: {session}")]
    SessionExists {
        /// The id given.
        session: SessionId,
    },
    /// Another connected host runs the session.
    #[error("session {session} is hosted by {host}")]
    HostedElsewhere {
        /// The session.
        session: SessionId,
        /// The host that runs it.
        host: HostId,
    },
    /// No host with this number is connected.
    #[error("host not connected: {host}")]
    UnknownHost {
        /// The host given.
        host: HostId,
    },
    /// No schedule with this id exists for this caller.
    #[error("schedule not found: {schedule}")]
    UnknownSchedule {
        /// The id given.
        schedule: ScheduleId,
    },
    /// The schedule was volatile, and was lost with an earlier process.
    #[error("schedule not found: {schedule} was volatile, and was lost at the restart of {}", at.brief())]
    ScheduleLost {
        /// The id given.
        schedule: ScheduleId,
        /// When the process started again.
        at: Moment,
    },
    /// A schedule with this id already exists.
    #[error("schedule-id already exists: {schedule}")]
    ScheduleExists {
        /// The id given.
        schedule: ScheduleId,
    },
    /// The schedule has ended, or its delivery is in progress.
    #[error("schedule is not cancellable: {schedule} is {}", status.name())]
    NotCancellable {
        /// The schedule.
        schedule: ScheduleId,
        /// The status of the schedule.
        status: Status,
    },
    /// The receipt names a run that does not exist, or not for this caller.
    #[error("delivery not found: {run}")]
    UnknownRun {
        /// The run named.
        run: RunId,
    },
    /// The receipt names a run that is not waiting for one: it came too early, too late, or twice.
    #[error("no delivery in flight: {run}")]
    NotInFlight {
        /// The run named.
        run: RunId,
    },
    /// The message of the run is not in the inbox: somebody took it, or it never was there.
    #[error("not in the inbox: {run}")]
    NotLeft {
        /// The run named.
        run: RunId,
    },
    /// The dialect's cap on the unfinished schedules of one session was reached.
    #[error("scheduler pending cap exceeded: at most {max} unfinished schedules in a session")]
    SessionFull {
        /// The cap.
        max: u32,
    },
    /// A bound of the engine was reached.
    #[error("limit reached: {} is {} {}", limit.name, limit.value, limit.unit)]
    LimitReached {
        /// The bound, with its value.
        limit: Limit,
    },
    /// Another change came first: the request was based on a revision that is no longer the current
    /// one.
    #[error("schedule {schedule} is at revision {revision}, not {base}")]
    RevisionConflict {
        /// The schedule.
        schedule: ScheduleId,
        /// The revision that the request was based on.
        base: u32,
        /// The current revision.
        revision: u32,
    },
    /// The idempotency key belongs to a different request.
    #[error("the key is taken by another request: {schedule}")]
    KeyTaken {
        /// The schedule that has the key.
        schedule: ScheduleId,
    },
    /// The status of the schedule does not allow the request.
    #[error("schedule {schedule} is {}", status.name())]
    WrongStatus {
        /// The schedule.
        schedule: ScheduleId,
        /// The status of the schedule.
        status: Status,
    },
    /// A run of the schedule has not ended, and its policy does not allow two at a time.
    #[error("an earlier run has not ended: {run}")]
    Overlapping {
        /// The run that has not ended.
        run: RunId,
    },
    /// The schedule would never have a slot.
    #[error("no slot would ever come: {}", reason.doc())]
    NoSlot {
        /// Why it would have none.
        reason: Reason,
    },
    /// The store cannot be written, and the request has to be persisted.
    #[error("the store cannot be written: {detail}; nothing was changed")]
    StoreUnavailable {
        /// What stands in the way.
        detail: Box<str>,
    },
    /// There is no store, and the request has to be persisted.
    #[error("this engine has no store")]
    NoStore,
    /// Schedules of sessions may not use this channel, or no channel has this name; a session does
    /// not learn which.
    #[error("channel not allowed: {channel}")]
    ChannelNotAllowed {
        /// The channel's name.
        channel: Box<str>,
    },
    /// The channel is paused, and takes nothing until it is resumed.
    #[error("channel {channel} is paused")]
    ChannelPaused {
        /// The channel's name.
        channel: Box<str>,
    },
    /// The session has no task of this number.
    #[error("task t{task} not found. Available: {}", available(*count))]
    UnknownTask {
        /// The number given.
        task: u32,
        /// How many tasks there are.
        count: u32,
    },
    /// The text is blank.
    #[error("the text is blank")]
    NothingSaid,
    /// The run is not waiting for an operator's approval.
    #[error("run {run} does not wait for approval")]
    NotHeld {
        /// The run named.
        run: RunId,
    },
    /// The run changed after it was shown to the operator, so the approval does not apply.
    #[error("run {run} is not what was shown: {digest} is not its digest")]
    ApprovalConflict {
        /// The run.
        run: RunId,
        /// The digest that was approved. That of the run as it is remains unsaid: it is for those who look.
        digest: Digest,
    },
    /// An answer to a question that the guard was not asked, or that is no longer open.
    #[error("the guard is not asked about {run}")]
    NotAsked {
        /// The run named.
        run: RunId,
    },
    /// A schedule began this turn, and its chain is too deep to create more schedules.
    #[error(
        "a schedule began this turn at depth {depth}, and what its session schedules by itself ends at depth {max}"
    )]
    TooDeep {
        /// The depth of the turn in its chain.
        depth: u32,
        /// The depth that the session's grant allows.
        max: u32,
    },
    /// A schedule began this turn, so a manual run is not allowed: it belongs to no chain, and
    /// could loop for ever.
    #[error("a schedule began this turn, and nothing is run by hand in it")]
    WokenTurn,
    /// The requested instant is outside the calendar.
    #[error("the delay leads beyond the calendar")]
    BeyondCalendar,
    /// The engine is being shut down.
    #[error("the engine is stopping")]
    Stopping,
}

/// The ids of tasks, the last ones if there are many.
fn available(count: u32) -> String {
    if count == 0 {
        return "none".to_owned();
    }
    let first = count.saturating_sub(TASKS_SHOWN) + 1;
    let ids: Vec<String> = (first..=count).map(|number| format!("t{number}")).collect();
    format!("[{}{}]", if first > 1 { "…, " } else { "" }, ids.join(", "))
}

/// How many ids of tasks a refusal shows.
const TASKS_SHOWN: u32 = 20;

impl Refusal {
    /// Returns the class of the refusal.
    pub fn code(&self) -> Code {
        match self {
            Refusal::UnknownSession { .. }
            | Refusal::UnknownHost { .. }
            | Refusal::UnknownSchedule { .. }
            | Refusal::ScheduleLost { .. }
            | Refusal::UnknownTask { .. }
            | Refusal::UnknownRun { .. } => Code::NotFound,
            Refusal::SessionExists { .. }
            | Refusal::HostedElsewhere { .. }
            | Refusal::ScheduleExists { .. }
            | Refusal::NotInFlight { .. }
            | Refusal::NotLeft { .. }
            | Refusal::NotCancellable { .. }
            | Refusal::RevisionConflict { .. }
            | Refusal::KeyTaken { .. }
            | Refusal::WrongStatus { .. }
            | Refusal::Overlapping { .. }
            | Refusal::NotHeld { .. }
            | Refusal::ApprovalConflict { .. }
            | Refusal::NotAsked { .. } => Code::Conflict,
            // Such a request was right, and may be repeated as it is.
            Refusal::StoreUnavailable { .. } | Refusal::ChannelPaused { .. } | Refusal::Stopping => {
                Code::Unavailable
            }
            Refusal::TooDeep { .. } | Refusal::WokenTurn | Refusal::ChannelNotAllowed { .. } => {
                Code::Forbidden
            }
            Refusal::SessionFull { .. } | Refusal::LimitReached { .. } => Code::Limit,
            // No store is a property of this engine, so a repetition of the request would not help.
            Refusal::BeyondCalendar | Refusal::NoSlot { .. } | Refusal::NoStore | Refusal::NothingSaid => {
                Code::Validation
            }
        }
    }

    /// Returns one refusal of each kind with invented data, for the index of errors.
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
            Refusal::ScheduleLost { schedule: schedule(), at: Moment::EPOCH },
            Refusal::ScheduleExists { schedule: schedule() },
            Refusal::NotCancellable { schedule: schedule(), status: Status::Delivered },
            Refusal::UnknownRun { run: run() },
            Refusal::NotInFlight { run: run() },
            Refusal::NotLeft { run: run() },
            Refusal::SessionFull { max: 50 },
            Refusal::LimitReached { limit: crate::limits::SCHEDULES },
            Refusal::RevisionConflict { schedule: schedule(), base: 1, revision: 2 },
            Refusal::KeyTaken { schedule: schedule() },
            Refusal::WrongStatus { schedule: schedule(), status: Status::Delivered },
            Refusal::Overlapping { run: run() },
            Refusal::NoSlot { reason: Reason::Expired },
            Refusal::StoreUnavailable { detail: "REASON".into() },
            Refusal::NoStore,
            Refusal::ChannelNotAllowed { channel: "CHANNEL".into() },
            Refusal::ChannelPaused { channel: "CHANNEL".into() },
            Refusal::UnknownTask { task: 3, count: 2 },
            Refusal::NothingSaid,
            Refusal::NotHeld { run: run() },
            Refusal::ApprovalConflict { run: run(), digest: Digest([0; 32]) },
            Refusal::NotAsked { run: run() },
            Refusal::TooDeep { depth: 2, max: 1 },
            Refusal::WokenTurn,
            Refusal::BeyondCalendar,
            Refusal::Stopping,
        ]
    }

    /// Returns the name of the refusal in the index of errors.
    pub fn name(&self) -> &'static str {
        match self {
            Refusal::UnknownSession { .. } => "unknown-session",
            Refusal::SessionExists { .. } => "session-exists",
            Refusal::HostedElsewhere { .. } => "hosted-elsewhere",
            Refusal::UnknownHost { .. } => "unknown-host",
            Refusal::UnknownSchedule { .. } => "unknown-schedule",
            Refusal::ScheduleLost { .. } => "schedule-lost",
            Refusal::ScheduleExists { .. } => "schedule-exists",
            Refusal::NotCancellable { .. } => "not-cancellable",
            Refusal::UnknownRun { .. } => "unknown-run",
            Refusal::NotInFlight { .. } => "not-in-flight",
            Refusal::NotLeft { .. } => "not-left",
            Refusal::SessionFull { .. } => "session-full",
            Refusal::LimitReached { .. } => "limit-reached",
            Refusal::RevisionConflict { .. } => "revision-conflict",
            Refusal::KeyTaken { .. } => "key-taken",
            Refusal::WrongStatus { .. } => "wrong-status",
            Refusal::Overlapping { .. } => "overlapping",
            Refusal::NoSlot { .. } => "no-slot",
            Refusal::StoreUnavailable { .. } => "store-unavailable",
            Refusal::NoStore => "no-store",
            Refusal::ChannelNotAllowed { .. } => "channel-not-allowed",
            Refusal::ChannelPaused { .. } => "channel-paused",
            Refusal::UnknownTask { .. } => "unknown-task",
            Refusal::NothingSaid => "nothing-said",
            Refusal::NotHeld { .. } => "not-held",
            Refusal::ApprovalConflict { .. } => "approval-conflict",
            Refusal::NotAsked { .. } => "not-asked",
            Refusal::TooDeep { .. } => "too-deep",
            Refusal::WokenTurn => "woken-turn",
            Refusal::BeyondCalendar => "beyond-calendar",
            Refusal::Stopping => "stopping",
        }
    }

    /// Returns what the caller can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Refusal::UnknownSession { .. } => {
                "check its id: a session is opened by its harness, or by an operator, as by the mutation psi.agent-session/open"
            }
            Refusal::SessionExists { .. } => {
                "use the open session, which :or-attach? true attaches to over the stream, or choose another id"
            }
            Refusal::HostedElsewhere { .. } => "let that host detach, or close the session there",
            Refusal::UnknownHost { .. } => "attach the host first",
            Refusal::UnknownSchedule { .. } => "list the schedules to see the ids that exist",
            Refusal::ScheduleLost { .. } => "create it again, and durable if it must outlive the process",
            Refusal::ScheduleExists { .. } => "leave the id out to get a fresh one",
            Refusal::NotCancellable { status: Status::Left, .. }
            | Refusal::WrongStatus { status: Status::Left, .. } => {
                "its message waits in the inbox of its session: the tool inbox, or `reveille inbox SESSION --take`, takes it"
            }
            Refusal::NotCancellable { .. } => "only pending and queued schedules can be cancelled",
            Refusal::UnknownRun { .. } => "acknowledge by the delivery-id that was pushed to you",
            Refusal::NotLeft { .. } => "read the inbox again: a message is taken once",
            Refusal::NotInFlight { .. } => "acknowledge each delivery once, within the receipt time",
            Refusal::SessionFull { .. } => "cancel a schedule or wait for one to end",
            Refusal::LimitReached { limit } if *limit == crate::limits::YEAR_MAX => "name an earlier instant",
            Refusal::LimitReached { .. } => "close what is no longer needed",
            Refusal::RevisionConflict { .. } => {
                "read the schedule again, and make the change on what it says now"
            }
            Refusal::KeyTaken { .. } => {
                "choose another key, repeat the request that the key stands for, or change that schedule with update"
            }
            Refusal::WrongStatus { status: Status::Failed, .. } => {
                "it has ended: reveille retry, or the mutation psi.scheduler/retry, tries a failed run again"
            }
            Refusal::WrongStatus { status, .. } if status.is_terminal() => "it has ended: create another",
            Refusal::WrongStatus { .. } => "read the schedule again to see what can be done with it",
            Refusal::Overlapping { .. } => "wait for that run to end, or let runs of the schedule overlap",
            Refusal::NoSlot { .. } => "choose an instant that lies ahead, or a later end",
            Refusal::StoreUnavailable { .. } => {
                "ask again in a second: the store is tried about once a second, and `reveille status` says since when it fails"
            }
            Refusal::NoStore => "ask an operator to start it with a data directory",
            Refusal::ChannelNotAllowed { .. } => "ask an operator to let sessions use the channel",
            Refusal::ChannelPaused { .. } => "repeat it when the channel is resumed",
            Refusal::UnknownTask { .. } => "use the id that task_create answered",
            Refusal::NothingSaid => "give a text that is not blank",
            Refusal::NotHeld { .. } => "list what waits for approval, as reveille approvals does",
            Refusal::ApprovalConflict { .. } => {
                "look at it again, for example with reveille approvals, and approve the digest that it shows"
            }
            Refusal::NotAsked { .. } => "answer each question once, within its time",
            Refusal::WokenTurn => "schedule it for a little later instead: that counts in its chain",
            Refusal::TooDeep { .. } => {
                "ask the user, because a turn of theirs begins anew; or an operator for a grant of more depth"
            }
            Refusal::BeyondCalendar => "choose a shorter delay",
            Refusal::Stopping => "try again after the restart",
        }
    }
}

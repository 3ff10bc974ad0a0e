//! Everything that can happen to the engine: a command, a host's report, a wake-up, the store's failures and its rows.

use std::sync::Arc;

use super::local_fact::StoredRow;
use crate::domain::{
    Actor, Channel, Cursor, Dialect, Digest, Durability, Failure, Grant, GuardAnswer, GuardPolicy, HostId,
    JobId, Lifetime, Payload, Policy, RunId, ScheduleId, SessionConfig, SessionId, Target, Terms, When,
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
    /// A schedule is about to be changed: what is due of it is dealt with first.
    SettleFirst {
        /// Which one.
        schedule: ScheduleId,
    },
    /// Lanes may have become free without a word: each takes what waits for it.
    FillLanes,
    /// Something about the store. Only the runtime submits it.
    Store(StoreInput),
    /// A new life begins on what was restored of an earlier one: what was under way goes on as its policy says.
    Awake {
        /// Schedules that were in memory only, and are gone.
        lost: u64,
    },
}

impl Input {
    /// The schedule that has to be settled before this is decided on.
    pub fn settles_first(&self) -> Option<&ScheduleId> {
        match self {
            Input::Command(
                Command::ChangeSchedule { which, .. }
                | Command::PauseSchedule { which, .. }
                | Command::SkipNext(which),
            ) => Some(&which.schedule),
            Input::Command(_)
            | Input::Report(_)
            | Input::Wake
            | Input::SettleFirst { .. }
            | Input::FillLanes
            | Input::Store(_)
            | Input::Awake { .. } => None,
        }
    }
}

/// What becomes of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreInput {
    /// The log of an earlier process ends there: facts are counted on from this cursor.
    LogEnds {
        /// Its last cursor.
        at: Cursor,
    },
    /// Rows were read.
    Rows(Vec<StoredRow>),
    /// Nothing can be written any more.
    Failed {
        /// Runs whose hand-over waited for the store: nobody has heard of it.
        unsent: Vec<RunId>,
    },
    /// It can be written again, and its rows follow: memory may hold durable changes that were never committed.
    Recovered,
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
    /// Create a schedule in the place of the one that the session has under the same key, if there is one.
    ReplaceSchedule(NewSchedule),
    /// Let what is to come of a schedule come now: its next slot, or the next attempt at its run.
    BringForward(Which),
    /// Cancel a schedule: its slots, and its runs that wait.
    CancelSchedule(Which),
    /// Cancel a schedule wherever it stands: one on disk also after it has ended, and while a run of it is with a host, which
    /// goes on to its own end.
    DeleteSchedule(Which),
    /// Give a schedule another definition. One on disk that has ended lives again, if that gives it a slot to come.
    ChangeSchedule {
        /// Which one.
        which: Which,
        /// What is to be otherwise.
        change: ScheduleChange,
    },
    /// Claim no slots of a schedule until it is resumed.
    PauseSchedule {
        /// Which one.
        which: Which,
        /// Why, in the caller's words.
        reason: Option<Box<str>>,
    },
    /// Claim its slots again; those that passed meanwhile are missed ones.
    ResumeSchedule(Which),
    /// Begin a run at once; the schedule's slots stay as they are.
    RunNow(Which),
    /// Let the next slot pass without a run.
    SkipNext(Which),
    /// A job of a session is ready: what waits for it has its slot now.
    JobReady {
        /// The session.
        session: SessionId,
        /// The job.
        job: JobId,
    },
    /// Claim nothing and hand nothing over until everything is released. Who may is the surfaces' affair.
    HoldAll {
        /// Who asks.
        by: Actor,
        /// Why, in the caller's words.
        reason: Option<Box<str>>,
    },
    /// Let everything go on; what was paused by itself stays so.
    ReleaseAll {
        /// Who asks.
        by: Actor,
    },
    /// Say yes to a run that waits for that. Only operators can.
    Approve {
        /// The run.
        run: RunId,
        /// What is said yes to, as it was shown: anything else by now is a conflict.
        digest: Digest,
        /// Who asks.
        by: Actor,
    },
    /// Say no to it: it fails. Only operators can.
    Deny {
        /// The run.
        run: RunId,
        /// Why, in the caller's words.
        why: Option<Box<str>>,
        /// Who asks.
        by: Actor,
    },
    /// Measure runs by this from here on, when they are about to be handed over. Who may is the surfaces' affair.
    SetGuard {
        /// By what; `None` for nothing.
        policy: Option<Arc<GuardPolicy>>,
        /// Who asks.
        by: Actor,
    },
    /// Change what a session may do, whether it is open or not. Who may is the surfaces' affair.
    SetGrant {
        /// The session.
        session: SessionId,
        /// What it may do.
        grant: Grant,
        /// Who asks.
        by: Actor,
    },
    /// Stop in good order: nothing new, and what waits is called off, one session per wake-up.
    Shutdown {
        /// Whether receipts that are still out are given up too.
        abandon: bool,
    },
}

/// A schedule that somebody wants something of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Which {
    /// Who asks.
    pub by: Actor,
    /// Its id.
    pub schedule: ScheduleId,
    /// The revision that the caller has seen; a later one is a conflict. `None` for whichever it is.
    pub base: Option<u32>,
}

impl Which {
    /// The schedule of this id, whichever its revision.
    pub fn any(by: impl Into<Actor>, schedule: ScheduleId) -> Which {
        Which { by: by.into(), schedule, base: None }
    }
}

/// What is to be otherwise about a schedule; `None` leaves a part as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleChange {
    /// Its name for people; inner `None` takes it away.
    pub label: Option<Option<Box<str>>>,
    /// What it is for; inner `None` takes it away.
    pub description: Option<Option<Box<str>>>,
    /// When. The same as before is no change: its slots go on as they were.
    pub when: Option<When>,
    /// The prompt.
    pub text: Option<Box<str>>,
    /// Where it goes.
    pub target: Option<Target>,
    /// What applies where the plain course of things does not say.
    pub policy: Option<Policy>,
    /// How long it lives.
    pub lifetime: Option<Lifetime>,
    /// Whether it is paused.
    pub paused: Option<bool>,
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
    /// The session that it belongs to.
    pub owner: SessionId,
    /// Who asks, where that is not this session by the tools of the dialect.
    pub made_by: Option<Box<Actor>>,
    /// When.
    pub when: When,
    /// What.
    pub payload: Payload,
    /// What it has beyond that; `None` is [`Terms::PLAIN`].
    pub terms: Option<Box<Terms>>,
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
            made_by: None,
            when,
            payload: Payload::Turn { text: text.into() },
            terms: None,
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
    /// An operator has named a way out of the process.
    ChannelOpened(Channel),
    /// The guard says whether a run may be handed over, or that it cannot say.
    GuardAnswered {
        /// The run.
        run: RunId,
        /// What it was asked about.
        digest: Digest,
        /// What it says.
        answer: GuardAnswer,
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

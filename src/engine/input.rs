//! Every input of the engine: commands, reports of hosts, wake-ups, and the store's rows and
//! failures.

use std::sync::Arc;

use super::bulletin_text;
use super::new_schedule::NewSchedule;
use super::reading::{Look, read_outcome};
use super::row::StoredRow;
use super::undo::Undo;
use crate::domain::{
    Actor, Address, AgentSchedules, Channel, Cursor, Decided, Digest, Downtime, Failure, Grant, GrantChange,
    GuardAnswer, GuardPolicy, HostId, JobId, Lifetime, LostSchedule, MemoryChange, Op, Outcome, PingName,
    Policy, Primitives, Reading, Reason, RunId, ScheduleId, SessionConfig, SessionId, Target, ToolName, Ways,
    When,
};

/// One input to decide on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A caller asks for something.
    Command(Command),
    /// A host reports an outcome or an event.
    Report(Report),
    /// Time passed. Handles the earliest deadline, if it is due: one deadline per step.
    Wake,
    /// A schedule is about to be changed: its due slots are consumed first.
    FlushDue {
        /// The schedule that is about to be changed.
        schedule: ScheduleId,
    },
    /// Lanes may have become free without a report: every free lane takes the run that waits for
    /// it.
    FillLanes,
    /// A failure of the store, its recovery, or its rows. Only the runtime submits it.
    Store(StoreInput),
    /// The engine starts on restored state. Runs that were with a host are redelivered or failed,
    /// as their schedules' policies say.
    Restart {
        /// Number of volatile schedules that were lost with the earlier process.
        lost: u64,
        /// The times in which no process was there that are known, oldest first. Empty if they are not known.
        downs: Box<[Downtime]>,
        /// The lost ones, as far as they are known.
        named: Box<[LostSchedule]>,
    },
}

impl Input {
    /// Returns the schedule whose due slots have to be consumed before this input is decided on.
    pub fn settles_first(&self) -> Option<&ScheduleId> {
        match self {
            Input::Command(
                Command::ChangeSchedule { which, .. }
                | Command::PauseSchedule { which, .. }
                | Command::SkipNext(which),
            ) => Some(&which.schedule),
            // A cancel withdraws a slot that is due, so no run may come of it first. Other commands leave due slots to the next
            // wake-up.
            Input::Command(_)
            | Input::Report(_)
            | Input::Wake
            | Input::FlushDue { .. }
            | Input::FillLanes
            | Input::Store(_)
            | Input::Restart { .. } => None,
        }
    }
}

/// What the runtime reports about the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreInput {
    /// The log already holds facts up to this cursor; new facts are numbered from there on.
    LogEnds {
        /// The last cursor in the log.
        at: Cursor,
    },
    /// Rows were read from the store.
    Rows(Vec<StoredRow>),
    /// The store cannot be written any more.
    Failed {
        /// Runs whose dispatch was waiting for its commit. No host has received them.
        unsent: Vec<RunId>,
        /// How everything was before the commands that could not be committed, oldest first.
        undone: Vec<Undo>,
        /// The error.
        why: Box<str>,
    },
    /// The store can be written again, and its rows will be loaded next. Durable state in memory
    /// may contain changes that were never committed.
    Recovered,
}

/// What a caller can ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Open a session.
    OpenSession {
        /// The session's id; `None` for a random one.
        session: Option<SessionId>,
        /// The host that runs its turns.
        host: HostId,
        /// Its configuration.
        config: Arc<SessionConfig>,
        /// The actor who asks for it; `None` for the embedding program.
        by: Option<Actor>,
    },
    /// Close a session. Its volatile schedules, and durable ones that die with it, are cancelled
    /// first.
    CloseSession {
        /// The session's id.
        session: SessionId,
        /// The actor who asks for it; `None` for the embedding program.
        by: Option<Actor>,
    },
    /// Move sessions to a connected host. Each must belong to the built-in host or have lost its
    /// host. All or nothing.
    HostSessions {
        /// The new host.
        host: HostId,
        /// The sessions to move.
        sessions: Vec<SessionId>,
        /// Whether a turn is under way in them: what waits for their lane comes when it ends. `None` leaves each as it is.
        busy: Option<bool>,
        /// The actor who asks for it; `None` for the embedding program.
        by: Option<Actor>,
    },
    /// Take messages out of a session's inbox: they count as delivered. All or nothing.
    TakeLeft {
        /// The session.
        session: SessionId,
        /// The runs whose messages are taken.
        runs: Vec<RunId>,
        /// The actor who takes them; `None` for the embedding program.
        by: Option<Actor>,
    },
    /// Change what a session remembers. A fact that it knows already changes nothing.
    ChangeMemory {
        /// The session.
        session: SessionId,
        /// The change. Secrets in its texts are replaced.
        change: MemoryChange,
        /// The actor who asks for it; `None` for the embedding program.
        by: Option<Actor>,
    },
    /// Note that a job of the session gave a sign of life.
    Ping {
        /// The session.
        session: SessionId,
        /// The name of the ping.
        name: PingName,
        /// The actor who asks for it; `None` for the embedding program.
        by: Option<Actor>,
    },
    /// Create a schedule.
    CreateSchedule(NewSchedule),
    /// Create a schedule, and cancel the one that the session has under the same key, if there is
    /// one.
    ReplaceSchedule(NewSchedule),
    /// Create a schedule; if its id is in use, define that schedule anew, for the session that asks.
    Supersede {
        /// The schedule as it is to be.
        new: NewSchedule,
        /// Whose schedule may be defined anew: that of this session; `None` for anybody's. Another one's is refused, because
        /// it may have been created since the caller looked.
        of: Option<SessionId>,
    },
    /// Make the next slot of a schedule due now, or the next attempt at its failed run.
    BringForward(Which),
    /// Cancel a schedule that was not handed over: its slots and its waiting runs. Its calls can be cancelled while they are out.
    CancelSchedule(Which),
    /// Cancel the call of a schedule's run, whether it waits or is out. The schedule goes on.
    CancelCall(Which),
    /// Cancel a schedule in any state: a durable one also after it has ended or while a host has
    /// its run. Such a run still ends normally.
    DeleteSchedule(Which),
    /// Redefine a schedule. A durable one that has ended becomes live again if the new definition
    /// has a slot.
    ChangeSchedule {
        /// The schedule to change.
        which: Which,
        /// The parts that change.
        change: Box<ScheduleChange>,
    },
    /// Claim no slots of a schedule until it is resumed.
    PauseSchedule {
        /// The schedule to pause.
        which: Which,
        /// Why, in the caller's words.
        reason: Option<Box<str>>,
    },
    /// Claim slots again. Slots that passed during the pause count as missed.
    ResumeSchedule(Which),
    /// Start a run at once. It is the run of the slot if there is only one; other slots stay as they are.
    RunNow {
        /// The schedule to run.
        which: Which,
        /// Leave the only slot as it is too, so that the schedule runs again then.
        keeps_slot: bool,
    },
    /// Skip the next slot of a schedule.
    SkipNext(Which),
    /// A job of a session is ready: schedules that wait for it are due now.
    JobReady {
        /// The session of the job.
        session: SessionId,
        /// The job that is ready.
        job: JobId,
        /// The actor who asks for it; `None` for the embedding program.
        by: Option<Actor>,
    },
    /// Claim nothing and hand nothing over until the hold is released. The surfaces check whether
    /// the caller may do this.
    HoldAll {
        /// The actor who holds everything.
        by: Actor,
        /// Why, in the caller's words.
        reason: Option<Box<str>>,
    },
    /// Release the hold. Schedules that were paused individually stay paused.
    ReleaseAll {
        /// The actor who releases the hold.
        by: Actor,
    },
    /// Let nothing through a channel, one way or both, until it is resumed. The service checks whether the caller may do this.
    PauseChannel {
        /// The channel's name.
        channel: Box<str>,
        /// The ways to close.
        ways: Ways,
        /// The actor who pauses it.
        by: Actor,
    },
    /// Let messages through a channel again.
    ResumeChannel {
        /// The channel's name.
        channel: Box<str>,
        /// The ways to open.
        ways: Ways,
        /// The actor who resumes it.
        by: Actor,
    },
    /// Approve a run that waits for approval. Operators only.
    Approve {
        /// The run to approve.
        run: RunId,
        /// The digest of the run as it was shown to the operator. If the run has changed since, the
        /// approval is refused as a conflict.
        digest: Digest,
        /// The actor who approves.
        by: Actor,
    },
    /// Deny a run that waits for approval: it fails. Operators only.
    Deny {
        /// The run to deny.
        run: RunId,
        /// Why, in the caller's words.
        why: Option<Box<str>>,
        /// The actor who denies.
        by: Actor,
    },
    /// Answer what an agent asks permission for in the turn that a run began. Operators only. Whether the question waits is
    /// known to the agent's host alone, so the caller looks there first.
    AnswerQuestion {
        /// The run.
        run: RunId,
        /// The answer.
        decided: Box<Decided>,
    },
    /// Replace the guard policy that runs are checked by before they are handed over. The surfaces
    /// check whether the caller may do this.
    SetGuard {
        /// The new policy; `None` for no policy.
        policy: Option<Arc<GuardPolicy>>,
        /// The actor who replaces it.
        by: Actor,
    },
    /// Change what a session may do, whether it is open or not. The surfaces check whether the
    /// caller may do this.
    SetGrant {
        /// The session.
        session: SessionId,
        /// Its new grant.
        grant: Grant,
        /// The actor who changes it.
        by: Actor,
    },
    /// Change parts of a session's grant as it is at that moment, so that of two changes at once none undoes the other.
    ChangeGrant {
        /// The session.
        session: SessionId,
        /// The parts to change.
        change: GrantChange,
        /// The actor who changes them.
        by: Actor,
    },
    /// Stop in good order: accept nothing new, and cancel what waits, one session per wake-up.
    Shutdown {
        /// Whether outstanding receipts are given up too.
        abandon: bool,
    },
}

/// The schedule that a command is about, and who gives the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Which {
    /// The actor who gives the command.
    pub(crate) by: Actor,
    /// The schedule's id.
    pub schedule: ScheduleId,
    /// The revision that the caller has seen; if the schedule has a later one, the command is
    /// refused as a conflict. `None` accepts any revision.
    pub(crate) base: Option<u32>,
}

impl Which {
    /// Names a schedule at any revision.
    pub fn any(by: impl Into<Actor>, schedule: ScheduleId) -> Which {
        Which { by: by.into(), schedule, base: None }
    }
}

/// A partial redefinition of a schedule. `None` keeps a part as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleChange {
    /// Its display name; inner `None` removes it.
    pub label: Option<Option<Box<str>>>,
    /// What it is for; inner `None` removes it.
    pub description: Option<Option<Box<str>>>,
    /// When it is due. A value that equals the present one is no change: the slots stay as they
    /// are.
    pub when: Option<When>,
    /// The prompt.
    pub text: Option<Box<str>>,
    /// Where its runs are delivered.
    pub target: Option<Target>,
    /// Its policy for late, missed, overlapping and failed runs.
    pub policy: Option<Policy>,
    /// When it ends by itself.
    pub lifetime: Option<Lifetime>,
    /// Whether it is paused.
    pub paused: Option<bool>,
}

/// What a host or the guard reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// A turn began or ended.
    Busy {
        /// The session.
        session: SessionId,
        /// Whether a turn is running now.
        busy: bool,
        /// The actor who reports it; `None` for the embedding program.
        by: Option<Actor>,
    },
    /// A person wrote in a session.
    UserMessage {
        /// The session.
        session: SessionId,
        /// The message.
        text: Box<str>,
        /// The actor who reports it; `None` for the embedding program.
        by: Option<Actor>,
    },
    /// Tools are called at once for a session, outside of any run.
    ToolsCalled {
        /// The session.
        session: SessionId,
        /// The tools, each with the number of its calls.
        tools: Vec<(ToolName, u32)>,
        /// The actor who calls them.
        by: Actor,
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
    /// The agent's conversation cannot be reached now, and the prompt of the run is not there: the run waits.
    Unreached {
        /// The run.
        run: RunId,
        /// Why.
        reason: Reason,
    },
    /// The agent behind a session cannot be started now: nothing is handed over until the session is reported again.
    Away {
        /// The session.
        session: SessionId,
        /// Why.
        reason: Reason,
    },
    /// The agent's conversation behind a session became known, or changed.
    Addressed {
        /// The session.
        session: SessionId,
        /// The conversation.
        address: Address,
    },
    /// An agent has said which schedules it holds itself for its conversation, or what it said is no longer known to be so.
    AgentSchedules {
        /// The session.
        session: SessionId,
        /// What the agent said; `None` for nothing.
        said: Option<AgentSchedules>,
    },
    /// The host could not do what an effect asked for.
    Failed {
        /// The run.
        run: RunId,
        /// What went wrong.
        failure: Failure,
    },
    /// The call of a run ended.
    Returned {
        /// The run.
        run: RunId,
        /// What the call came to.
        outcome: Arc<Outcome>,
        /// The line that a model is shown of it ([`Report::returned`] makes it).
        line: Box<str>,
        /// Of a watch: how the outcome was evaluated.
        reading: Option<Box<Reading>>,
        /// Whether a caller waited for the outcome and has it: nobody has to be told.
        awaited: bool,
    },
    /// What a watch looks at may have changed.
    Stirred {
        /// The watch.
        schedule: ScheduleId,
    },
    /// The operator has switched families of tools on or off, for as long as the process lives.
    Switched(Primitives),
    /// An operator has configured a channel out of the process.
    ChannelOpened(Channel),
    /// The guard decided whether a run may be handed over, or failed to decide.
    GuardAnswered {
        /// The run.
        run: RunId,
        /// The digest of the question.
        digest: Digest,
        /// The guard's answer.
        answer: GuardAnswer,
    },
    /// A caller was refused an operation that it may not ask for.
    Refused {
        /// The caller.
        by: Actor,
        /// The operation.
        op: Op,
    },
    /// A host has connected; sessions can be opened on it.
    HostAttached {
        /// The host.
        host: HostId,
        /// Who connected it, and reports by it from now on; `None` for the embedding program.
        by: Option<Actor>,
    },
    /// A host goes in good order: what it had accepted is done.
    HostLeft {
        /// The host.
        host: HostId,
    },
    /// A host's connection is gone, and with it the work that it had accepted.
    HostLost {
        /// The host.
        host: HostId,
    },
}

impl Report {
    /// Makes the report that a call ended. It reads the whole outcome, so it is made outside the engine's lock.
    pub fn returned(run: RunId, outcome: Outcome, awaited: bool) -> Report {
        let line = bulletin_text::result_line(&outcome).into();
        Report::Returned { run, outcome: Arc::new(outcome), line, reading: None, awaited }
    }

    /// Makes the report that the call of a check ended. It reads the whole outcome, so it is made outside the engine's lock.
    pub fn checked(run: RunId, outcome: Outcome, look: &Look) -> Report {
        let reading = read_outcome(look, Arc::new(outcome));
        let (outcome, line) =
            (Arc::clone(&reading.outcome), bulletin_text::result_line(&reading.outcome).into());
        Report::Returned { run, outcome, line, reading: Some(Box::new(reading)), awaited: false }
    }
}

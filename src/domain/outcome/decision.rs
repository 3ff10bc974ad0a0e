//! Decisions: entries of the feed, each a summary of one fact.

use std::borrow::Cow;
use std::sync::Arc;

use crate::domain::{Actor, Cursor, Fact, Moment, Next, Reason, RunId, ScheduleId, SessionId, names};

names! {
    /// The kind of a decision.
    DecisionKind {
        /// A session was opened.
        SessionOpened = "session-opened",
        /// A session was closed; its schedules were cancelled before this.
        SessionClosed = "session-closed",
        /// A session got a host, or its host came back.
        SessionHosted = "session-hosted",
        /// A session lost its host, or its agent's conversation cannot be reached for now.
        SessionUnhosted = "session-unhosted",
        /// The agent's conversation behind a session became known; it is in the detail.
        SessionAddressed = "session-addressed",
        /// A session's host reported that a turn began.
        SessionBusy = "session-busy",
        /// A session's host reported that no turn is in progress.
        SessionIdle = "session-idle",
        /// A person wrote in a session.
        UserSpoke = "user-spoke",
        /// A host that acknowledged a prompt reported no turn in time; the session counts as idle again.
        TurnUnreported = "turn-unreported",
        /// A job of a session reported that it is ready; its id is in the detail.
        JobReady = "job-ready",
        /// A schedule was created.
        ScheduleCreated = "schedule-created",
        /// The definition of a schedule was changed.
        ScheduleChanged = "schedule-changed",
        /// A schedule was paused.
        SchedulePaused = "schedule-paused",
        /// A schedule was resumed.
        ScheduleResumed = "schedule-resumed",
        /// A schedule got its next slot, which depends on the end of a run or on an event.
        ScheduleArmed = "schedule-armed",
        /// Slots passed without a run of their own, with a reason and a count.
        SlotsSkipped = "slots-skipped",
        /// A schedule was cancelled.
        ScheduleCancelled = "schedule-cancelled",
        /// A slot was due and claimed: its run will end in exactly one way.
        RunClaimed = "run-claimed",
        /// A run waits, with a reason.
        RunQueued = "run-queued",
        /// A run was handed to its host; the detail names the phase.
        RunDispatched = "run-dispatched",
        /// The guard was asked whether a run may be handed over.
        RunAsked = "run-asked",
        /// The guard allowed a run to be handed over.
        RunAllowed = "run-allowed",
        /// A run waits until an operator approves it; the detail names the rule that requires it.
        RunHeld = "run-held",
        /// An operator approved a run.
        RunApproved = "run-approved",
        /// An operator denied a run, which fails.
        RunDenied = "run-denied",
        /// An operator answered what an agent asks permission for; the detail names the answer and what it is about.
        QuestionAnswered = "question-answered",
        /// The host accepted the prompt, and the turn that the prompt began is running.
        RunAccepted = "run-accepted",
        /// The host acknowledged the delivery, or the turn that it began ended.
        RunDelivered = "run-delivered",
        /// A bulletin that waits says something newer, and counts what it said before.
        RunFolded = "run-folded",
        /// A message was put into the inbox of a session in which nobody listens.
        RunLeft = "run-left",
        /// Somebody took a message out of an inbox: it is delivered.
        RunTaken = "run-taken",
        /// An attempt ended in an error, and there will be another.
        RunRetrying = "run-retrying",
        /// A run ended in an error.
        RunFailed = "run-failed",
        /// A waiting run was cancelled; its schedule goes on.
        RunCancelled = "run-cancelled",
        /// A session remembered a fact.
        FactRemembered = "fact-remembered",
        /// A session set its goal.
        GoalSet = "goal-set",
        /// A session noted down a task.
        TaskNoted = "task-noted",
        /// A task of a session changed its status.
        TaskMoved = "task-moved",
        /// A session was pinged; the name of the ping is in the detail.
        SessionPinged = "session-pinged",
        /// Tools were called at once by `run_parallel`; their names are in the detail.
        ToolsCalled = "tools-called",
        /// The grant of a session was changed.
        SessionGranted = "session-granted",
        /// A caller was refused an operation that it may not ask for; the operation is in the detail. Repetitions within a
        /// minute are left out.
        OperationRefused = "operation-refused",
        /// The guard policy was changed, by which runs are checked before they are handed over.
        GuardPolicySet = "engine-guarded",
        /// A host connected.
        HostAttached = "host-attached",
        /// A host's connection was lost.
        HostLost = "host-lost",
        /// A channel was opened by an operator; its name is in the detail.
        ChannelOpened = "channel-opened",
        /// The receiver behind a channel asked for no more deliveries.
        ChannelDisabled = "channel-disabled",
        /// A channel was paused; its name and the way are in the detail.
        ChannelPaused = "channel-paused",
        /// A channel was resumed; its name and the way are in the detail.
        ChannelResumed = "channel-resumed",
        /// All schedules were put on hold: no slot is claimed and no run is handed over.
        EngineHeld = "engine-held",
        /// The hold on all schedules was released.
        EngineReleased = "engine-released",
        /// The engine started again from its persisted state.
        EngineRestarted = "engine-awoke",
        /// The engine began to shut down.
        EngineStopping = "engine-stopping",
    }
}

/// One entry of the feed: what was decided, about what, why and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The decision's position in the log.
    pub cursor: Cursor,
    /// When the decision was made, on the wall clock.
    pub at: Moment,
    /// The kind of decision.
    pub kind: DecisionKind,
    /// Why it was decided; `None` for the normal course of a schedule.
    pub reason: Option<Reason>,
    /// Who asked for it or reported it; `None` if nobody did. The decisions that a host reports share it.
    pub by: Option<Arc<Actor>>,
    /// The schedule or the run that the decision is about.
    pub subject: Option<Subject>,
    /// The session that the decision is about.
    pub session: Option<SessionId>,
    /// The session whose schedule opened this session; `None` unless a schedule opened it.
    pub origin: Option<SessionId>,
    /// Further detail, such as a phase or a host's error text.
    pub detail: Option<Cow<'static, str>>,
    /// The slots that the decision consumes or skips.
    pub slots: Option<SlotRange>,
    /// The next slot, if the decision sets it. It holds until the next decision that sets one.
    pub next: Option<Next>,
}

/// What a decision is about: a schedule or a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A schedule as a whole.
    Schedule(ScheduleId),
    /// One run of a schedule.
    Run(RunId),
}

/// The range of slots that one decision consumes or skips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotRange {
    /// The first slot of the range; `None` if only an earlier decision tells it.
    pub from: Option<Moment>,
    /// The last slot of the range; for a claim, the slot of the run.
    pub until: Moment,
    /// How many slots the range has.
    pub count: u64,
}

impl Decision {
    /// Summarizes a fact for the feed. `session` stays empty, because only the state knows whose
    /// schedule it is.
    pub fn of(cursor: Cursor, at: Moment, fact: &Fact) -> Decision {
        let schedule = || fact.schedule().cloned().map(Subject::Schedule);
        Decision {
            cursor,
            at,
            kind: fact.kind(),
            reason: fact.reason(),
            by: author(fact),
            subject: fact.run().cloned().map(Subject::Run).or_else(schedule),
            // A fact about a schedule or a run does not name its session. The state that applies the fact adds it.
            session: None,
            origin: fact.origin().cloned(),
            detail: fact.detail(),
            slots: fact.slots(),
            next: fact.next(),
        }
    }

    /// Returns the schedule that the decision is about, directly or by one of its runs.
    pub fn schedule(&self) -> Option<&ScheduleId> {
        match self.subject.as_ref()? {
            Subject::Schedule(id) => Some(id),
            Subject::Run(run) => Some(&run.schedule),
        }
    }

    /// Returns the run that the decision is about.
    pub fn run(&self) -> Option<&RunId> {
        match self.subject.as_ref()? {
            Subject::Schedule(_) => None,
            Subject::Run(run) => Some(run),
        }
    }
}

/// Returns who asked for a fact or reported it. A host reports often, so its actor is not copied.
fn author(fact: &Fact) -> Option<Arc<Actor>> {
    if let Fact::Run(_, _, Some(by)) | Fact::Host(_, _, Some(by)) = fact {
        return Some(Arc::clone(by));
    }
    fact.by().cloned().map(Arc::new)
}

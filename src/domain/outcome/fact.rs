//! What the log stores. The state is the fold of these and of the engine's local facts, and of nothing else.

use std::sync::Arc;

use crate::domain::{
    Actor, Address, BootTime, Cause, ChannelFact, Digest, Downtime, Failure, Grant, GuardPolicy, Hold,
    HostId, JobId, LostSchedule, MemoryChange, Moment, Op, Outcome, Phase, PingName, Reason, RunId, Schedule,
    ScheduleId, SessionConfig, SessionId, SessionProvenance, Telling, ToolName, WatchCheck,
};

/// One thing that happened. Facts of one decision are appended together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Something happened to a session. If an actor asked for it or reported it, the actor is named.
    Session(SessionId, SessionFact, Option<Box<Actor>>),
    /// A schedule was created.
    Created {
        /// The definition of the schedule.
        schedule: Schedule,
        /// The first slot of the schedule.
        next: Next,
    },
    /// Something happened to a schedule or its slots.
    Schedule(ScheduleId, ScheduleFact),
    /// Something happened to one run. If a host reported it, the actor that connected the host is named; copies share it.
    Run(RunId, RunFact, Option<Arc<Actor>>),
    /// Something happened to a connected host. Whoever connected it is named, unless that was the embedding program.
    Host(HostId, HostFact, Option<Arc<Actor>>),
    /// Something happened to the channel of this name.
    Channel(Box<str>, ChannelFact),
    /// Something happened to the engine as a whole.
    Engine(EngineFact),
}

/// What can happen to the engine as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineFact {
    /// Everything was put on hold: nothing is claimed and nothing handed over until the hold is
    /// released.
    AllHeld {
        /// Who put everything on hold.
        by: Actor,
        /// Why, in that actor's words.
        reason: Option<Box<str>>,
    },
    /// The hold on everything was released.
    AllReleased {
        /// Who released it.
        by: Actor,
    },
    /// The guard policy was replaced: runs are checked by the new one before they are handed over.
    GuardPolicySet {
        /// The new policy; `None` for no policy.
        policy: Option<Arc<GuardPolicy>>,
        /// Who replaced it.
        by: Actor,
    },
    /// A caller was refused an operation that it may not ask for.
    Refused {
        /// The caller.
        by: Actor,
        /// The operation.
        op: Op,
    },
    /// The engine started again from its persisted state.
    Restarted {
        /// Number of volatile schedules that were lost with the earlier process.
        lost: u64,
        /// The times in which no process was there that are known, oldest first. Empty if they are not known.
        downs: Box<[Downtime]>,
        /// The lost ones, as far as they are known.
        named: Box<[LostSchedule]>,
    },
    /// The engine accepts no more schedules, and cancels what waits.
    Stopping {
        /// Whether outstanding receipts are given up too.
        abandon: bool,
    },
}

/// The next slot of a schedule, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next slot is known.
    Slot {
        /// The nominal instant.
        slot: Moment,
        /// The same instant on the boot clock, for a volatile schedule; `None` for a durable one,
        /// which follows the wall clock.
        due: Option<BootTime>,
    },
    /// The next slot will be known when the run that was just claimed has ended.
    AfterFinish,
    /// The next slot will be known when the event that the schedule waits for has happened.
    AtEvent,
    /// There is no next slot.
    Never {
        /// Why there is none.
        reason: Reason,
    },
}

impl Next {
    /// Returns the nominal instant of the next slot, if it is known.
    pub fn slot(self) -> Option<Moment> {
        match self {
            Next::Slot { slot, .. } => Some(slot),
            Next::AfterFinish | Next::AtEvent | Next::Never { .. } => None,
        }
    }
}

/// What can happen to a schedule and its slots after its creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleFact {
    /// The schedule was redefined: a new revision.
    Changed(Box<Redefinition>),
    /// Its slots are not claimed until it is resumed.
    Paused {
        /// Who paused it.
        by: Actor,
        /// Why, in that actor's words.
        reason: Option<Box<str>>,
    },
    /// Its slots are claimed again.
    Resumed {
        /// Who resumed it.
        by: Actor,
        /// Its next slot, which may have passed during the pause.
        next: Next,
    },
    /// Its next slot, and all up to the last one named here, passed without a run of their own.
    Skipped(Skip),
    /// Its next slot became known, because a run has ended or the event has happened.
    Armed {
        /// The next slot.
        next: Next,
        /// Who brought the slot forward, if somebody did.
        by: Option<Box<Actor>>,
    },
    /// It was cancelled, together with its waiting runs.
    Cancelled {
        /// Why it was cancelled.
        reason: Reason,
        /// Who cancelled it, if somebody did.
        by: Option<Box<Actor>>,
    },
}

/// A new definition of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redefinition {
    /// The definition that applies from now on.
    pub schedule: Schedule,
    /// Who changed it.
    pub by: Actor,
    /// The next slot, if the trigger changed or a longer lifetime has slots again; `None` if the slots stay as they were.
    pub retriggered: Option<Next>,
    /// Whether this fact makes the new revision. If the same request also pauses or resumes, that
    /// fact does.
    pub revises: bool,
}

/// Slots that passed without a run of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// The first skipped slot.
    pub from: Moment,
    /// The last skipped slot.
    pub until: Moment,
    /// How many slots were skipped; a lower bound if there were too many to count.
    pub count: u64,
    /// Why they were skipped.
    pub reason: Reason,
    /// The next slot.
    pub next: Next,
    /// Who asked to skip them, if somebody did.
    pub by: Option<Box<Actor>>,
}

/// What can happen to a connected host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostFact {
    /// It connected.
    Attached,
    /// Its connection is gone.
    Lost,
}

/// What can happen to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionFact {
    /// The session was opened.
    Opened {
        /// The host that runs its turns.
        host: HostId,
        /// Its configuration, inherited values included.
        config: Arc<SessionConfig>,
        /// The schedule that opened it, if one did.
        provenance: Option<Box<SessionProvenance>>,
    },
    /// The session was closed: its state and the records of its schedules are dropped.
    Closed,
    /// Another host took the session over.
    HostAttached {
        /// The host that runs its turns from now on.
        host: HostId,
    },
    /// The session has no host for now.
    HostDetached {
        /// Why its conversation cannot be reached; `None` if the host's connection was lost.
        why: Option<Reason>,
    },
    /// The agent's conversation behind the session became known, or changed.
    Addressed {
        /// The conversation.
        address: Box<Address>,
    },
    /// A turn began.
    Busy,
    /// Nothing runs in the session any more.
    Idle,
    /// A person wrote in the session.
    UserMessage,
    /// The host did not report a presumed turn in time; the session counts as idle again.
    TurnUnreported,
    /// The session's grant was changed. A grant holds whether the session is open or not.
    Granted {
        /// The new grant.
        grant: Grant,
    },
    /// A job reported that it is ready.
    JobReady {
        /// The job.
        job: JobId,
    },
    /// The session remembers something, or a task goes on.
    Memory(Box<MemoryChange>),
    /// A job that should run regularly gave a sign of life.
    Pinged {
        /// The name of the ping.
        name: PingName,
        /// When it came.
        at: Moment,
    },
    /// Tools were called at once for the session, by `run_parallel`. These calls are no runs, so nothing else records them.
    ToolsCalled {
        /// The tools, each with the number of its calls.
        tools: Vec<(ToolName, u32)>,
    },
}

impl SessionFact {
    /// Returns the schedule that opened the session.
    pub fn schedule(&self) -> Option<&ScheduleId> {
        match self {
            SessionFact::Opened { provenance, .. } => {
                provenance.as_ref().map(|provenance| &provenance.schedule)
            }
            SessionFact::Closed
            | SessionFact::HostAttached { .. }
            | SessionFact::HostDetached { .. }
            | SessionFact::Addressed { .. }
            | SessionFact::Busy
            | SessionFact::Idle
            | SessionFact::UserMessage
            | SessionFact::TurnUnreported
            | SessionFact::Granted { .. }
            | SessionFact::JobReady { .. }
            | SessionFact::Memory(_)
            | SessionFact::Pinged { .. }
            | SessionFact::ToolsCalled { .. } => None,
        }
    }
}

/// What the guard and operators decide about one run: before it is handed over, and about what its turn is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardFact {
    /// The guard was asked whether the run may be handed over. The run waits outside the session's
    /// lane, so that others can pass.
    Asked {
        /// Digest of what the guard was asked about.
        digest: Digest,
        /// When the answer is overdue, on the boot clock.
        due: BootTime,
        /// When the answer is overdue, on the wall clock.
        until: Moment,
    },
    /// The guard allowed the run to be handed over.
    Allowed {
        /// Digest of what the guard was asked about.
        digest: Digest,
        /// Until when the permission is valid.
        until: BootTime,
    },
    /// The run waits for an operator's approval, outside the session's lane, so that others can
    /// pass.
    Held(Box<Hold>),
    /// An operator approved the run.
    Approved {
        /// Digest of what was approved.
        digest: Digest,
        /// Who approved it.
        by: Box<Actor>,
    },
    /// An operator denied the run; a `Failed` fact follows.
    Denied {
        /// Who denied it.
        by: Box<Actor>,
        /// Why, in that actor's words.
        why: Option<Box<str>>,
    },
    /// An operator answered what the agent asks permission for in the turn that the run began. The run goes on as before.
    Answered(Box<Decided>),
}

/// An operator's answer to what an agent asks permission for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Digest of the question.
    pub question: Digest,
    /// What the agent asks for, as it shows it to people.
    pub what: Box<str>,
    /// Whether it may do so, this once.
    pub is_allowed: bool,
    /// Who answered.
    pub by: Actor,
    /// Why, in that actor's words.
    pub why: Option<Box<str>>,
}

/// What can happen to a run. A run ends in exactly one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunFact {
    /// A slot was consumed: the run exists.
    Claimed(Claim),
    /// The run waits.
    Queued {
        /// Why it waits.
        reason: Reason,
    },
    /// Whether it may be handed over was asked or answered.
    Guard(GuardFact),
    /// The run was handed to its host.
    Dispatched(Dispatch),
    /// The host accepted the prompt; the run ends with the turn.
    Accepted,
    /// The host acknowledged the delivery, or the turn that it began ended.
    Delivered,
    /// The call of the run ended: the run is delivered if the tool did what was asked, else it failed.
    Returned {
        /// What the call came to.
        outcome: Arc<Outcome>,
        /// Of a watch: how the outcome was evaluated, and what was decided.
        check: Option<Box<WatchCheck>>,
    },
    /// The bulletin that waits says something newer now, and counts what it said before.
    Folded(Box<Telling>),
    /// The bulletin goes out in the delivery of another one, and ends with that.
    Joined {
        /// The run of that delivery.
        lead: Box<RunId>,
    },
    /// The bulletin waits until then, or for what it lacks.
    Postponed {
        /// Why it waits.
        reason: Reason,
        /// Until when, on the wall clock.
        at: Moment,
        /// Until when, on the boot clock.
        due: BootTime,
    },
    /// The message is in the inbox of a session in which nobody listens.
    Left,
    /// Somebody took the message out of the inbox.
    Taken {
        /// Who took it; `None` for the embedding program.
        by: Option<Box<Actor>>,
    },
    /// An attempt ended in an error, and there will be another.
    Retrying {
        /// Why the attempt failed.
        failure: Box<Failure>,
        /// When the next attempt is due, on the wall clock.
        at: Moment,
        /// When the next attempt is due, on the boot clock.
        due: BootTime,
    },
    /// The run ended in an error.
    Failed(Box<Failure>),
    /// The run was cancelled while it waited.
    Cancelled {
        /// Why it was cancelled.
        reason: Reason,
    },
}

/// How a run came into being.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What caused the run.
    pub cause: Cause,
    /// How many earlier slots are folded into the run.
    pub folded: u64,
    /// The next slot of the schedule; `None` for a manual run and a bulletin, which leave the slots as they were. The bulletin of
    /// a task that was lost has a schedule of its own, whose slot it takes.
    pub next: Option<Next>,
    /// When the run times out; `None` if its duration is not limited.
    pub time_up: Option<BootTime>,
    /// Who asked for a manual run; `None` for any other.
    pub by: Option<Box<Actor>>,
    /// What a bulletin says; `None` for any other run.
    pub telling: Option<Box<Telling>>,
}

impl Claim {
    /// Returns whether a session asked for the run, or for the call that it tells of.
    pub(crate) fn is_by_session(&self) -> bool {
        let tells_of_one = self.telling.as_ref().is_some_and(|telling| telling.by_session);
        tells_of_one || self.by.as_deref().is_some_and(Actor::is_of_session)
    }
}

/// To which host a run was handed, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The host that received the run.
    pub host: HostId,
    /// What the host was asked to do.
    pub phase: Phase,
    /// The session that the prompt goes to, or that is to be created.
    pub session: SessionId,
    /// When the receipt is overdue.
    pub overdue: BootTime,
}

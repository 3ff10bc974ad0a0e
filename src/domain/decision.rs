//! A fact in short: what the feed shows of it.

use std::borrow::Cow;

use super::{Actor, Cursor, Fact, Moment, Next, Reason, RunId, ScheduleId, SessionId, names};

names! {
    /// What was decided.
    DecisionKind {
        /// A session was opened.
        SessionOpened = "session-opened",
        /// A session was closed; its schedules were called off before this.
        SessionClosed = "session-closed",
        /// A session got a host, or got its host back.
        SessionHosted = "session-hosted",
        /// A session lost its host.
        SessionUnhosted = "session-unhosted",
        /// A session's host reported a turn begun.
        SessionBusy = "session-busy",
        /// A session's host reported that nothing runs.
        SessionIdle = "session-idle",
        /// A person spoke in a session.
        UserSpoke = "user-spoke",
        /// A host that acknowledged a prompt reported no turn in time; the session counts as idle again.
        TurnUnreported = "turn-unreported",
        /// A job of a session reported that it is ready; its id is in the detail.
        JobReady = "job-ready",
        /// A schedule was created.
        ScheduleCreated = "schedule-created",
        /// A schedule was given another definition.
        ScheduleChanged = "schedule-changed",
        /// A schedule was paused.
        SchedulePaused = "schedule-paused",
        /// A schedule was resumed.
        ScheduleResumed = "schedule-resumed",
        /// A schedule that counts from the end of its runs, or waits for something to happen, has its next slot.
        ScheduleArmed = "schedule-armed",
        /// Slots passed without a run of their own, with a reason and a count.
        SlotsSkipped = "slots-skipped",
        /// A schedule was called off.
        ScheduleCancelled = "schedule-cancelled",
        /// A slot came and was claimed: from here on it ends in exactly one way.
        RunClaimed = "run-claimed",
        /// A run waits, with a reason.
        RunQueued = "run-queued",
        /// A run was handed to its host, for the phase in the detail.
        RunDispatched = "run-dispatched",
        /// The guard was asked whether a run may be handed over.
        RunAsked = "run-asked",
        /// The guard allowed a run to be handed over.
        RunAllowed = "run-allowed",
        /// A run waits until an operator approves it; the rule that says so is in the detail.
        RunHeld = "run-held",
        /// An operator approved a run.
        RunApproved = "run-approved",
        /// An operator denied a run, which fails.
        RunDenied = "run-denied",
        /// The host has the prompt, and the turn that it began goes on.
        RunAccepted = "run-accepted",
        /// The host confirmed the delivery, or the turn ended that it began.
        RunDelivered = "run-delivered",
        /// An attempt ended in an error, and there will be another.
        RunRetrying = "run-retrying",
        /// A run ended in an error.
        RunFailed = "run-failed",
        /// A run that waited was called off; its schedule goes on.
        RunCancelled = "run-cancelled",
        /// What a session may do was changed.
        SessionGranted = "session-granted",
        /// What runs are measured by when they are about to be handed over was changed.
        EngineGuarded = "engine-guarded",
        /// A host connected.
        HostAttached = "host-attached",
        /// A host's connection was lost.
        HostLost = "host-lost",
        /// A channel was opened by an operator; its name is in the detail.
        ChannelOpened = "channel-opened",
        /// Whoever is behind a channel wants nothing more.
        ChannelDisabled = "channel-disabled",
        /// Everything was held.
        EngineHeld = "engine-held",
        /// Everything goes on.
        EngineReleased = "engine-released",
        /// The engine began to live again on what is kept of its earlier life.
        EngineAwoke = "engine-awoke",
        /// The engine began to stop.
        EngineStopping = "engine-stopping",
    }
}

/// One entry of the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Where it stands.
    pub cursor: Cursor,
    /// When it was made, on the wall clock.
    pub at: Moment,
    /// What was decided.
    pub kind: DecisionKind,
    /// Why, where it is not the plain course of things.
    pub reason: Option<Reason>,
    /// Who wanted it, where somebody did.
    pub by: Option<Box<Actor>>,
    /// The schedule or the run concerned.
    pub subject: Option<Subject>,
    /// The session concerned.
    pub session: Option<SessionId>,
    /// The session that this one comes from, where a schedule opened it.
    pub origin: Option<SessionId>,
    /// What else is worth saying: a phase, a host's error.
    pub detail: Option<Cow<'static, str>>,
    /// The slots that it deals with.
    pub slots: Option<Dealt>,
    /// What comes next, where it says so: until the next decision that does, this is the slot to come.
    pub next: Option<Next>,
}

/// What a decision is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A schedule as a whole.
    Schedule(ScheduleId),
    /// One run of it.
    Run(RunId),
}

/// Slots that one decision deals with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dealt {
    /// The first of them; `None` where that is only known from the decision before.
    pub from: Option<Moment>,
    /// The last of them: of a claim the slot of the run.
    pub until: Moment,
    /// How many there are.
    pub count: u64,
}

impl Decision {
    /// What the feed shows of a fact; whose session it is about is known to the state only.
    pub fn of(cursor: Cursor, at: Moment, fact: &Fact) -> Decision {
        let schedule = || fact.schedule().cloned().map(Subject::Schedule);
        Decision {
            cursor,
            at,
            kind: fact.kind(),
            reason: fact.reason(),
            by: fact.by().cloned().map(Box::new),
            subject: fact.run().cloned().map(Subject::Run).or_else(schedule),
            session: None,
            origin: fact.origin().cloned(),
            detail: fact.detail(),
            slots: fact.slots(),
            next: fact.next(),
        }
    }

    /// The schedule concerned, be it in one of its runs.
    pub fn schedule(&self) -> Option<&ScheduleId> {
        match self.subject.as_ref()? {
            Subject::Schedule(id) => Some(id),
            Subject::Run(run) => Some(&run.schedule),
        }
    }

    /// The run concerned.
    pub fn run(&self) -> Option<&RunId> {
        match self.subject.as_ref()? {
            Subject::Schedule(_) => None,
            Subject::Run(run) => Some(run),
        }
    }
}

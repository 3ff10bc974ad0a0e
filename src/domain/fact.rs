//! What the log stores. The state is the fold of these, and of nothing else.

use std::sync::Arc;

use super::{
    Actor, BootTime, Cause, ChannelFact, Digest, Failure, Grant, GuardPolicy, Hold, HostId, JobId, Moment,
    Phase, Reason, RunId, Schedule, ScheduleId, SessionConfig, SessionId, SessionProvenance,
};

/// One thing that happened. Facts of one decision are appended together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Something about a session.
    Session(SessionId, SessionFact),
    /// A schedule was created.
    Created {
        /// What was asked for.
        schedule: Schedule,
        /// Its first slot.
        next: Next,
    },
    /// Something about a schedule and its slots.
    Schedule(ScheduleId, ScheduleFact),
    /// Something about one run.
    Run(RunId, RunFact),
    /// Something about a connected host.
    Host(HostId, HostFact),
    /// Something about the channel of this name.
    Channel(Box<str>, ChannelFact),
    /// Nothing is claimed and nothing handed over until everything is released.
    Held {
        /// Who wanted it.
        by: Actor,
        /// Why, in their words.
        reason: Option<Box<str>>,
    },
    /// Everything goes on.
    Released {
        /// Who wanted it.
        by: Actor,
    },
    /// Runs are measured by this from here on, when they are about to be handed over.
    Guarded {
        /// By what; `None` for nothing.
        policy: Option<Arc<GuardPolicy>>,
        /// Who wanted it.
        by: Actor,
    },
    /// The engine lives again on what is kept of its earlier life.
    Awoke {
        /// Schedules that were in memory only, and are gone.
        lost: u64,
    },
    /// The engine takes no more schedules and calls off what waits.
    Stopping {
        /// Whether receipts that are still out are given up too.
        abandon: bool,
    },
}

/// The slot of a schedule that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This one.
    Slot {
        /// The nominal instant.
        slot: Moment,
        /// The same on the boot clock, for a schedule that lives in memory; on disk the wall clock counts.
        due: Option<BootTime>,
    },
    /// It will be known when the run that has just been claimed has ended.
    AfterFinish,
    /// It will be known when what the schedule waits for has happened.
    AtEvent,
    /// There is none.
    Never {
        /// Why.
        reason: Reason,
    },
}

impl Next {
    /// The nominal instant, where it is known.
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
    /// It was given another definition: a new revision.
    Changed(Box<Change>),
    /// Its slots are not claimed until it is resumed.
    Paused {
        /// Who wanted it.
        by: Actor,
        /// Why, in their words.
        reason: Option<Box<str>>,
    },
    /// Its slots are claimed again.
    Resumed {
        /// Who wanted it.
        by: Actor,
        /// Its next slot, which may have passed meanwhile.
        next: Next,
    },
    /// Its next slot, and all up to this one, passed without a run of their own.
    Skipped(Skip),
    /// A run has ended, and its next slot counts from there; or what it waits for has happened.
    Armed {
        /// The slot.
        next: Next,
        /// Who brought it forward, if somebody did.
        by: Option<Box<Actor>>,
    },
    /// It was called off, with those of its runs that wait.
    Cancelled {
        /// Why.
        reason: Reason,
        /// Who wanted it, if somebody did.
        by: Option<Box<Actor>>,
    },
}

/// A new definition of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What is asked for from here on.
    pub schedule: Schedule,
    /// Who wanted it.
    pub by: Actor,
    /// Its next slot, where it has another trigger than before; `None` where its slots are as they were.
    pub retriggered: Option<Next>,
    /// Whether it makes the new revision. Where a pause or a resume was asked for with it, that does.
    pub revises: bool,
}

/// Slots that passed without a run of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// The first of them.
    pub from: Moment,
    /// The last of them.
    pub until: Moment,
    /// How many there are, this being the least where they were too many to count.
    pub count: u64,
    /// Why.
    pub reason: Reason,
    /// The slot that comes next.
    pub next: Next,
    /// Who wanted it, if somebody did.
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
    /// It was opened.
    Opened {
        /// Who runs its turns.
        host: HostId,
        /// What it is, inherited values included.
        config: Arc<SessionConfig>,
        /// The schedule it came from, if one opened it.
        provenance: Option<Box<SessionProvenance>>,
    },
    /// It was closed: it and the records of its schedules are gone.
    Closed,
    /// A host took it over.
    Hosted {
        /// Who runs its turns from here on.
        host: HostId,
    },
    /// Its host is gone.
    Unhosted,
    /// A turn began.
    Busy,
    /// Nothing runs any more.
    Idle,
    /// A person spoke.
    UserSpoke,
    /// A presumed turn was not reported in time; the session counts as idle again.
    TurnUnreported,
    /// What it may do was changed. That holds whether it is open or not.
    Granted {
        /// What it may do.
        grant: Grant,
        /// Who wanted it.
        by: Box<Actor>,
    },
    /// A job reported that it is ready.
    JobReady {
        /// The job.
        job: JobId,
    },
}

impl SessionFact {
    /// The schedule that opened the session.
    pub fn schedule(&self) -> Option<&ScheduleId> {
        match self {
            SessionFact::Opened { provenance, .. } => {
                provenance.as_ref().map(|provenance| &provenance.schedule)
            }
            SessionFact::Closed
            | SessionFact::Hosted { .. }
            | SessionFact::Unhosted
            | SessionFact::Busy
            | SessionFact::Idle
            | SessionFact::UserSpoke
            | SessionFact::TurnUnreported
            | SessionFact::Granted { .. }
            | SessionFact::JobReady { .. } => None,
        }
    }
}

/// What can happen to a run. It ends in exactly one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunFact {
    /// A slot was consumed: a run exists.
    Claimed(Claim),
    /// The run waits.
    Queued {
        /// What for.
        reason: Reason,
    },
    /// The guard was asked whether the run may be handed over; it waits for the answer, in nobody's way.
    Asked {
        /// What about.
        digest: Digest,
        /// When the answer is overdue.
        due: BootTime,
        /// The same on the wall clock.
        until: Moment,
    },
    /// The guard allowed it to be handed over.
    Allowed {
        /// What it was asked about.
        digest: Digest,
        /// Until when that holds.
        until: BootTime,
    },
    /// The run waits for an operator's word, in nobody's way.
    Held(Box<Hold>),
    /// An operator approved it.
    Approved {
        /// What was approved.
        digest: Digest,
        /// Who did.
        by: Box<Actor>,
    },
    /// An operator denied it; that it failed follows.
    Denied {
        /// Who did.
        by: Box<Actor>,
        /// Why, in their words.
        why: Option<Box<str>>,
    },
    /// The run was handed to its host.
    Dispatched(HandOver),
    /// The host has the prompt; the run ends with the turn.
    Accepted,
    /// The host confirmed the delivery, or the turn ended that it began.
    Delivered,
    /// An attempt ended in an error, and there will be another.
    Retrying {
        /// The error.
        failure: Box<Failure>,
        /// When it is tried again.
        at: Moment,
        /// The same on the boot clock.
        due: BootTime,
    },
    /// The run ended in an error.
    Failed(Box<Failure>),
    /// The run was called off while it waited.
    Cancelled {
        /// Why.
        reason: Reason,
    },
}

/// How a run came to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What made it happen.
    pub cause: Cause,
    /// How many earlier slots are folded into it.
    pub folded: u64,
    /// The slot that comes next; `None` where the schedule's slots are as they were: a run by hand.
    pub next: Option<Next>,
    /// When its time is up, where its time is limited.
    pub time_up: Option<BootTime>,
    /// Who wanted it, if somebody did: of a run by hand.
    pub by: Option<Box<Actor>>,
}

/// To whom a run was handed, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// The host.
    pub host: HostId,
    /// What the host was asked to do.
    pub phase: Phase,
    /// The session delivered into or to be created.
    pub session: SessionId,
    /// When the receipt is overdue.
    pub overdue: BootTime,
}

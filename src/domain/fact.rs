//! What the log stores. The state is the fold of these, and of nothing else.

use std::borrow::Cow;
use std::sync::Arc;

use super::{
    Actor, BootTime, Cause, ChannelFact, Dealt, DecisionKind, Digest, Failure, Grant, GuardPolicy, Hold,
    HostId, JobId, Moment, Phase, Reason, RunId, Schedule, ScheduleId, SessionConfig, SessionId,
    SessionProvenance,
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

impl Fact {
    /// The fact's kind, as the feed names it.
    pub fn kind(&self) -> DecisionKind {
        match self {
            Fact::Session(_, fact) => fact.kind(),
            Fact::Created { .. } => DecisionKind::ScheduleCreated,
            Fact::Schedule(_, fact) => fact.kind(),
            Fact::Run(_, fact) => fact.kind(),
            Fact::Host(_, HostFact::Attached) => DecisionKind::HostAttached,
            Fact::Host(_, HostFact::Lost) => DecisionKind::HostLost,
            Fact::Channel(_, ChannelFact::Opened(_)) => DecisionKind::ChannelOpened,
            Fact::Channel(_, ChannelFact::Disabled) => DecisionKind::ChannelDisabled,
            Fact::Held { .. } => DecisionKind::EngineHeld,
            Fact::Released { .. } => DecisionKind::EngineReleased,
            Fact::Guarded { .. } => DecisionKind::EngineGuarded,
            Fact::Awoke { .. } => DecisionKind::EngineAwoke,
            Fact::Stopping { .. } => DecisionKind::EngineStopping,
        }
    }

    /// Why, where it is not the plain course of things.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Fact::Session(_, SessionFact::Unhosted) => Some(Reason::HostLost),
            Fact::Schedule(_, ScheduleFact::Cancelled { reason, .. }) => Some(*reason),
            Fact::Schedule(_, ScheduleFact::Skipped(skip)) => Some(skip.reason),
            Fact::Schedule(_, ScheduleFact::Paused { .. }) => Some(Reason::Paused),
            Fact::Run(_, RunFact::Queued { reason } | RunFact::Cancelled { reason }) => Some(*reason),
            Fact::Run(_, RunFact::Failed(failure) | RunFact::Retrying { failure, .. }) => {
                Some(failure.reason)
            }
            Fact::Run(_, RunFact::Asked { .. }) => Some(Reason::AwaitingGuard),
            Fact::Run(_, RunFact::Held(_)) => Some(Reason::AwaitingApproval),
            Fact::Run(_, RunFact::Denied { .. }) => Some(Reason::ApprovalDenied),
            Fact::Held { .. } => Some(Reason::Held),
            Fact::Stopping { .. } => Some(Reason::Shutdown),
            Fact::Session(..)
            | Fact::Created { .. }
            | Fact::Schedule(..)
            | Fact::Run(..)
            | Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Released { .. }
            | Fact::Guarded { .. }
            | Fact::Awoke { .. } => None,
        }
    }

    /// The schedule that it is about.
    pub fn schedule(&self) -> Option<&ScheduleId> {
        match self {
            Fact::Session(_, fact) => fact.schedule(),
            Fact::Created { schedule, .. } => Some(&schedule.id),
            Fact::Schedule(id, _) => Some(id),
            Fact::Run(run, _) => Some(&run.schedule),
            Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Held { .. }
            | Fact::Released { .. }
            | Fact::Guarded { .. }
            | Fact::Awoke { .. }
            | Fact::Stopping { .. } => None,
        }
    }

    /// The run that it is about.
    pub fn run(&self) -> Option<&RunId> {
        if let Fact::Run(run, _) = self { Some(run) } else { None }
    }

    /// Who wanted it, where somebody did. A schedule was created by its owner, unless it says otherwise.
    pub fn by(&self) -> Option<&Actor> {
        match self {
            Fact::Held { by, .. } | Fact::Released { by } | Fact::Guarded { by, .. } => Some(by),
            Fact::Session(_, SessionFact::Granted { by, .. })
            | Fact::Run(_, RunFact::Approved { by, .. } | RunFact::Denied { by, .. }) => Some(by),
            Fact::Created { schedule, .. } => schedule.made_by.as_deref(),
            Fact::Schedule(_, fact) => fact.by(),
            Fact::Run(_, RunFact::Claimed(claim)) => claim.by.as_deref(),
            Fact::Session(..)
            | Fact::Run(..)
            | Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Awoke { .. }
            | Fact::Stopping { .. } => None,
        }
    }

    /// The slots that it deals with.
    pub fn slots(&self) -> Option<Dealt> {
        if let Fact::Schedule(_, ScheduleFact::Skipped(skip)) = self {
            return Some(Dealt { from: Some(skip.from), until: skip.until, count: skip.count });
        }
        let Fact::Run(run, RunFact::Claimed(claim)) = self else { return None };
        let from = (claim.folded == 0).then_some(run.slot);
        Some(Dealt { from, until: run.slot, count: claim.folded + 1 })
    }

    /// What comes next, where it says so.
    pub fn next(&self) -> Option<Next> {
        match self {
            Fact::Created { next, .. } => Some(*next),
            Fact::Schedule(_, ScheduleFact::Changed(change)) => change.retriggered,
            Fact::Schedule(_, ScheduleFact::Resumed { next, .. } | ScheduleFact::Armed { next, .. }) => {
                Some(*next)
            }
            Fact::Schedule(_, ScheduleFact::Skipped(skip)) => Some(skip.next),
            Fact::Run(_, RunFact::Claimed(claim)) => claim.next,
            Fact::Schedule(_, ScheduleFact::Paused { .. } | ScheduleFact::Cancelled { .. })
            | Fact::Session(..)
            | Fact::Run(..)
            | Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Held { .. }
            | Fact::Released { .. }
            | Fact::Guarded { .. }
            | Fact::Awoke { .. }
            | Fact::Stopping { .. } => None,
        }
    }

    /// The session that a session comes from, where a schedule opened it.
    pub fn origin(&self) -> Option<&SessionId> {
        let Fact::Session(_, SessionFact::Opened { provenance, .. }) = self else { return None };
        provenance.as_ref().map(|provenance| &provenance.origin)
    }

    /// Whether it ends a run without a word from its host, who may not even have heard of it yet.
    pub fn recalls(&self) -> bool {
        let Fact::Run(_, RunFact::Failed(failure) | RunFact::Retrying { failure, .. }) = self else {
            return false;
        };
        matches!(
            failure.reason,
            Reason::SessionClosed
                | Reason::Shutdown
                | Reason::ReceiptOverdue
                | Reason::HostLost
                | Reason::TimedOut
                | Reason::Crashed
        )
    }

    /// What else the feed says of it.
    pub fn detail(&self) -> Option<Cow<'static, str>> {
        match self {
            Fact::Host(host, _) | Fact::Session(_, SessionFact::Hosted { host }) => {
                Some(host.to_string().into())
            }
            Fact::Channel(name, _) => Some(name.to_string().into()),
            Fact::Session(_, SessionFact::JobReady { job }) => Some(job.to_string().into()),
            Fact::Session(_, SessionFact::Granted { grant, .. }) => Some(grant.to_string().into()),
            Fact::Guarded { policy, .. } => {
                let rules = policy.as_ref().map_or(0, |policy| policy.rules.len());
                Some(format!("{rules} rules").into())
            }
            Fact::Run(_, RunFact::Held(hold)) => Some(hold.detail().into()),
            Fact::Run(_, RunFact::Denied { why, .. }) => why.as_deref().map(|why| why.to_owned().into()),
            Fact::Run(_, RunFact::Dispatched(to)) => Some(to.phase.name().into()),
            Fact::Run(_, RunFact::Failed(failure)) => {
                Some(format!("{}: {}", failure.phase.name(), failure.message).into())
            }
            Fact::Run(_, RunFact::Retrying { failure, at, .. }) => {
                Some(format!("{}: {}; again at {at}", failure.phase.name(), failure.message).into())
            }
            Fact::Run(_, RunFact::Claimed(claim)) => claim.detail(),
            Fact::Schedule(_, ScheduleFact::Skipped(skip)) => {
                Some(format!("{} from {} to {}", skip.count, skip.from, skip.until).into())
            }
            Fact::Schedule(_, ScheduleFact::Paused { reason, .. }) | Fact::Held { reason, .. } => {
                reason.as_deref().map(|reason| reason.to_owned().into())
            }
            Fact::Awoke { lost } if *lost > 0 => Some(format!("{lost} in memory only are lost").into()),
            Fact::Session(..)
            | Fact::Created { .. }
            | Fact::Schedule(..)
            | Fact::Run(..)
            | Fact::Released { .. }
            | Fact::Awoke { .. }
            | Fact::Stopping { .. } => None,
        }
    }
}

impl SessionFact {
    fn kind(&self) -> DecisionKind {
        match self {
            SessionFact::Opened { .. } => DecisionKind::SessionOpened,
            SessionFact::Closed => DecisionKind::SessionClosed,
            SessionFact::Hosted { .. } => DecisionKind::SessionHosted,
            SessionFact::Unhosted => DecisionKind::SessionUnhosted,
            SessionFact::Busy => DecisionKind::SessionBusy,
            SessionFact::Idle => DecisionKind::SessionIdle,
            SessionFact::UserSpoke => DecisionKind::UserSpoke,
            SessionFact::TurnUnreported => DecisionKind::TurnUnreported,
            SessionFact::Granted { .. } => DecisionKind::SessionGranted,
            SessionFact::JobReady { .. } => DecisionKind::JobReady,
        }
    }
}

impl ScheduleFact {
    fn kind(&self) -> DecisionKind {
        match self {
            ScheduleFact::Changed(_) => DecisionKind::ScheduleChanged,
            ScheduleFact::Paused { .. } => DecisionKind::SchedulePaused,
            ScheduleFact::Resumed { .. } => DecisionKind::ScheduleResumed,
            ScheduleFact::Skipped(_) => DecisionKind::SlotsSkipped,
            ScheduleFact::Armed { .. } => DecisionKind::ScheduleArmed,
            ScheduleFact::Cancelled { .. } => DecisionKind::ScheduleCancelled,
        }
    }
}

impl ScheduleFact {
    fn by(&self) -> Option<&Actor> {
        match self {
            ScheduleFact::Changed(change) => Some(&change.by),
            ScheduleFact::Paused { by, .. } | ScheduleFact::Resumed { by, .. } => Some(by),
            ScheduleFact::Skipped(skip) => skip.by.as_deref(),
            ScheduleFact::Armed { by, .. } | ScheduleFact::Cancelled { by, .. } => by.as_deref(),
        }
    }
}

impl RunFact {
    fn kind(&self) -> DecisionKind {
        match self {
            RunFact::Claimed(_) => DecisionKind::RunClaimed,
            RunFact::Queued { .. } => DecisionKind::RunQueued,
            RunFact::Asked { .. } => DecisionKind::RunAsked,
            RunFact::Allowed { .. } => DecisionKind::RunAllowed,
            RunFact::Held(_) => DecisionKind::RunHeld,
            RunFact::Approved { .. } => DecisionKind::RunApproved,
            RunFact::Denied { .. } => DecisionKind::RunDenied,
            RunFact::Dispatched(_) => DecisionKind::RunDispatched,
            RunFact::Accepted => DecisionKind::RunAccepted,
            RunFact::Delivered => DecisionKind::RunDelivered,
            RunFact::Retrying { .. } => DecisionKind::RunRetrying,
            RunFact::Failed(_) => DecisionKind::RunFailed,
            RunFact::Cancelled { .. } => DecisionKind::RunCancelled,
        }
    }
}

impl Claim {
    fn detail(&self) -> Option<Cow<'static, str>> {
        match (self.cause, self.folded) {
            (Cause::Slot, 0) => None,
            (cause, 0) => Some(cause.name().into()),
            (cause, folded) => Some(format!("{}, {folded} folded in", cause.name()).into()),
        }
    }
}

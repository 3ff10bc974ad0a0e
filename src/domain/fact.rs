//! What the log stores. The state is the fold of these, and of nothing else.

use std::borrow::Cow;
use std::sync::Arc;

use super::{
    BootTime, Cause, DecisionKind, Failure, HostId, Moment, Phase, Reason, Schedule, ScheduleId,
    SessionConfig, SessionId, SessionProvenance,
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
        /// Its slot on the boot clock.
        due: BootTime,
    },
    /// Something about a schedule and its run.
    Run(ScheduleId, RunFact),
    /// Something about a connected host.
    Host(HostId, HostFact),
    /// The engine takes no more schedules and calls off what waits.
    Stopping {
        /// Whether receipts that are still out are given up too.
        abandon: bool,
    },
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
            | SessionFact::TurnUnreported => None,
        }
    }
}

/// What can happen to a schedule after its creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunFact {
    /// Its slot was consumed: a run exists, and ends in exactly one way.
    Claimed {
        /// The nominal instant.
        slot: Moment,
        /// What made it happen.
        cause: Cause,
    },
    /// The run waits.
    Queued {
        /// What for.
        reason: Reason,
    },
    /// The run was handed to its host.
    Dispatched(HandOver),
    /// The host confirmed the delivery.
    Delivered,
    /// The run ended in an error.
    Failed(Box<Failure>),
    /// The schedule was called off, before its slot or while its run waited.
    Cancelled {
        /// Why.
        reason: Reason,
    },
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
            Fact::Session(_, fact) => match fact {
                SessionFact::Opened { .. } => DecisionKind::SessionOpened,
                SessionFact::Closed => DecisionKind::SessionClosed,
                SessionFact::Hosted { .. } => DecisionKind::SessionHosted,
                SessionFact::Unhosted => DecisionKind::SessionUnhosted,
                SessionFact::Busy => DecisionKind::SessionBusy,
                SessionFact::Idle => DecisionKind::SessionIdle,
                SessionFact::UserSpoke => DecisionKind::UserSpoke,
                SessionFact::TurnUnreported => DecisionKind::TurnUnreported,
            },
            Fact::Created { .. } => DecisionKind::ScheduleCreated,
            Fact::Run(_, fact) => match fact {
                RunFact::Claimed { .. } => DecisionKind::RunClaimed,
                RunFact::Queued { .. } => DecisionKind::RunQueued,
                RunFact::Dispatched(_) => DecisionKind::RunDispatched,
                RunFact::Delivered => DecisionKind::RunDelivered,
                RunFact::Failed(_) => DecisionKind::RunFailed,
                RunFact::Cancelled { .. } => DecisionKind::ScheduleCancelled,
            },
            Fact::Host(_, HostFact::Attached) => DecisionKind::HostAttached,
            Fact::Host(_, HostFact::Lost) => DecisionKind::HostLost,
            Fact::Stopping { .. } => DecisionKind::EngineStopping,
        }
    }

    /// Why, where it is not the plain course of things.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Fact::Session(_, SessionFact::Unhosted) => Some(Reason::HostLost),
            Fact::Run(_, RunFact::Queued { reason } | RunFact::Cancelled { reason }) => Some(*reason),
            Fact::Run(_, RunFact::Failed(failure)) => Some(failure.reason),
            Fact::Stopping { .. } => Some(Reason::Shutdown),
            Fact::Session(..) | Fact::Created { .. } | Fact::Run(..) | Fact::Host(..) => None,
        }
    }

    /// The session that a session comes from, where a schedule opened it.
    pub fn origin(&self) -> Option<&SessionId> {
        match self {
            Fact::Session(_, SessionFact::Opened { provenance, .. }) => {
                provenance.as_ref().map(|provenance| &provenance.origin)
            }
            Fact::Session(..)
            | Fact::Created { .. }
            | Fact::Run(..)
            | Fact::Host(..)
            | Fact::Stopping { .. } => None,
        }
    }

    /// Whether it ends a run without a word from its host, who may not even have heard of it yet.
    pub fn recalls(&self) -> bool {
        let Fact::Run(_, RunFact::Failed(failure)) = self else { return false };
        match failure.reason {
            Reason::SessionClosed | Reason::Shutdown | Reason::ReceiptOverdue | Reason::HostLost => true,
            Reason::SessionBusy
            | Reason::DeliveryInFlight
            | Reason::TurnStarting
            | Reason::HostGone
            | Reason::Cancelled
            | Reason::HostRefused
            | Reason::LimitReached => false,
        }
    }

    /// What else the feed says of it.
    pub fn detail(&self) -> Option<Cow<'static, str>> {
        match self {
            Fact::Host(host, _) | Fact::Session(_, SessionFact::Hosted { host }) => {
                Some(host.to_string().into())
            }
            Fact::Run(_, RunFact::Dispatched(to)) => Some(to.phase.name().into()),
            Fact::Run(_, RunFact::Failed(failure)) => {
                Some(format!("{}: {}", failure.phase.name(), failure.message).into())
            }
            Fact::Session(..) | Fact::Created { .. } | Fact::Run(..) | Fact::Stopping { .. } => None,
        }
    }
}

//! Summaries of facts: kind, reason, author, subject, and what else the feed shows of a fact.
//!
//! What lives elsewhere: the facts (`fact`), and what they change (`engine`).

use std::borrow::Cow;

use crate::domain::{
    Actor, Cause, ChannelFact, Claim, DecisionKind, EngineFact, Fact, GuardFact, HostFact, MemoryChange,
    Next, Phase, Reason, RunFact, RunId, ScheduleFact, ScheduleId, SessionFact, SessionId, SlotRange,
    ToolName,
};

impl Fact {
    /// Returns the fact's kind, as the feed names it.
    pub fn kind(&self) -> DecisionKind {
        match self {
            Fact::Session(_, fact, _) => fact.kind(),
            Fact::Created { .. } => DecisionKind::ScheduleCreated,
            Fact::Schedule(_, fact) => fact.kind(),
            Fact::Run(_, fact, _) => fact.kind(),
            Fact::Host(_, HostFact::Attached, _) => DecisionKind::HostAttached,
            Fact::Host(_, HostFact::Lost, _) => DecisionKind::HostLost,
            Fact::Channel(_, ChannelFact::Opened(_)) => DecisionKind::ChannelOpened,
            Fact::Channel(_, ChannelFact::Disabled) => DecisionKind::ChannelDisabled,
            Fact::Channel(_, ChannelFact::Paused { .. }) => DecisionKind::ChannelPaused,
            Fact::Channel(_, ChannelFact::Resumed { .. }) => DecisionKind::ChannelResumed,
            Fact::Engine(fact) => fact.kind(),
        }
    }

    /// Returns why it happened; `None` for the normal course of a schedule.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            // Without a reason of its own, its host is gone.
            Fact::Session(_, SessionFact::HostDetached { why }, _) => Some(why.unwrap_or(Reason::HostLost)),
            Fact::Schedule(_, ScheduleFact::Cancelled { reason, .. }) => Some(*reason),
            Fact::Schedule(_, ScheduleFact::Skipped(skip)) => Some(skip.reason),
            Fact::Schedule(_, ScheduleFact::Paused { .. }) => Some(Reason::Paused),
            Fact::Run(
                _,
                RunFact::Queued { reason }
                | RunFact::Cancelled { reason }
                | RunFact::Postponed { reason, .. },
                _,
            ) => Some(*reason),
            Fact::Run(_, RunFact::Failed(failure) | RunFact::Retrying { failure, .. }, _) => {
                Some(failure.reason)
            }
            Fact::Run(_, RunFact::Guard(fact), _) => fact.reason(),
            Fact::Run(_, RunFact::Left, _) => Some(Reason::NobodyListens),
            Fact::Run(_, RunFact::Returned { outcome, .. }, _) => outcome.reason,
            Fact::Engine(fact) => fact.reason(),
            Fact::Session(..)
            | Fact::Created { .. }
            | Fact::Schedule(..)
            | Fact::Run(..)
            | Fact::Host(..)
            | Fact::Channel(..) => None,
        }
    }

    /// Returns the schedule that the fact is about.
    pub fn schedule(&self) -> Option<&ScheduleId> {
        match self {
            Fact::Session(_, fact, _) => fact.schedule(),
            Fact::Created { schedule, .. } => Some(&schedule.id),
            Fact::Schedule(id, _) => Some(id),
            Fact::Run(run, _, _) => Some(&run.schedule),
            Fact::Host(..) | Fact::Channel(..) | Fact::Engine(_) => None,
        }
    }

    /// Returns the run that the fact is about.
    pub fn run(&self) -> Option<&RunId> {
        if let Fact::Run(run, _, _) = self { Some(run) } else { None }
    }

    /// Returns who asked for it or reported it, if somebody did. Without an explicit creator, a schedule was
    /// created by its owner.
    pub fn by(&self) -> Option<&Actor> {
        match self {
            Fact::Engine(fact) => fact.by(),
            Fact::Channel(_, ChannelFact::Paused { by, .. } | ChannelFact::Resumed { by, .. }) => Some(by),
            Fact::Created { schedule, .. } => schedule.created_by(),
            Fact::Schedule(_, fact) => fact.by(),
            // The actor of a host's report stands beside the fact, and any other actor within it.
            Fact::Run(_, fact, by) => by.as_deref().or_else(|| fact.by()),
            Fact::Host(_, _, by) => by.as_deref(),
            Fact::Session(_, _, by) => by.as_deref(),
            Fact::Channel(..) => None,
        }
    }

    /// Returns the slots that the fact consumes or skips.
    pub fn slots(&self) -> Option<SlotRange> {
        if let Fact::Schedule(_, ScheduleFact::Skipped(skip)) = self {
            return Some(SlotRange { from: Some(skip.from), until: skip.until, count: skip.count });
        }
        let Fact::Run(run, RunFact::Claimed(claim), _) = self else { return None };
        // With slots folded in, only the decision before knows where the range begins.
        let from = (claim.folded == 0).then_some(run.slot);
        // The run's own slot counts as well.
        Some(SlotRange { from, until: run.slot, count: claim.folded + 1 })
    }

    /// Returns the next slot of the schedule, if the fact sets it.
    pub fn next(&self) -> Option<Next> {
        match self {
            Fact::Created { next, .. } => Some(*next),
            Fact::Schedule(_, ScheduleFact::Changed(change)) => change.retriggered,
            Fact::Schedule(_, ScheduleFact::Resumed { next, .. } | ScheduleFact::Armed { next, .. }) => {
                Some(*next)
            }
            Fact::Schedule(_, ScheduleFact::Skipped(skip)) => Some(skip.next),
            Fact::Run(_, RunFact::Claimed(claim), _) => claim.next,
            Fact::Schedule(_, ScheduleFact::Paused { .. } | ScheduleFact::Cancelled { .. })
            | Fact::Session(..)
            | Fact::Run(..)
            | Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Engine(_) => None,
        }
    }

    /// Returns the session whose schedule opened a session.
    pub fn origin(&self) -> Option<&SessionId> {
        let Fact::Session(_, SessionFact::Opened { provenance, .. }, _) = self else { return None };
        provenance.as_ref().map(|provenance| &provenance.origin)
    }

    /// Returns whether the fact ends an attempt without an answer of its host. Effects of that
    /// attempt may still be queued, and must not be performed any more.
    pub fn recalls(&self) -> bool {
        // Of a call that is out, and of a delivery that another one is in.
        if matches!(self, Fact::Run(_, RunFact::Cancelled { .. }, _)) {
            return true;
        }
        let Fact::Run(_, RunFact::Failed(failure) | RunFact::Retrying { failure, .. }, _) = self else {
            return false;
        };
        // In these cases the engine ended the attempt by itself. Every other failure is an answer
        // of the host, or comes before the hand-over.
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

    /// Returns what else the feed shows of the fact.
    pub fn detail(&self) -> Option<Cow<'static, str>> {
        match self {
            Fact::Host(host, _, _) | Fact::Session(_, SessionFact::HostAttached { host }, _) => {
                Some(host.to_string().into())
            }
            Fact::Session(_, SessionFact::Addressed { address }, _) => Some(address.to_string().into()),
            Fact::Channel(
                name,
                ChannelFact::Paused { direction, .. } | ChannelFact::Resumed { direction, .. },
            ) => Some(format!("{name} {}", direction.name()).into()),
            Fact::Channel(name, _) => Some(name.to_string().into()),
            Fact::Session(_, SessionFact::JobReady { job }, _) => Some(job.to_string().into()),
            Fact::Session(_, SessionFact::Pinged { name, .. }, _) => Some(name.to_string().into()),
            Fact::Session(_, SessionFact::ToolsCalled { tools }, _) => Some(listed(tools).into()),
            Fact::Session(_, SessionFact::Granted { grant }, _) => Some(grant.to_string().into()),
            Fact::Engine(fact) => fact.detail(),
            Fact::Run(_, RunFact::Guard(fact), _) => fact.detail(),
            Fact::Run(_, RunFact::Dispatched(to), _) => Some(to.phase.name().into()),
            Fact::Run(_, RunFact::Failed(failure), _) => {
                Some(format!("{}: {}", failure.phase.name(), failure.message).into())
            }
            Fact::Run(_, RunFact::Returned { outcome, .. }, _) => {
                outcome.error.as_deref().map(|error| format!("{}: {error}", Phase::Call.name()).into())
            }
            Fact::Run(_, RunFact::Joined { lead }, _) => Some(format!("with {lead}").into()),
            Fact::Run(_, RunFact::Postponed { at, .. }, _) => Some(format!("until {}", at.brief()).into()),
            Fact::Run(_, RunFact::Retrying { failure, at, .. }, _) => {
                Some(format!("{}: {}; again at {}", failure.phase.name(), failure.message, at.brief()).into())
            }
            Fact::Run(_, RunFact::Claimed(claim), _) => claim.detail(),
            Fact::Schedule(_, ScheduleFact::Skipped(skip)) => {
                Some(format!("{} from {} to {}", skip.count, skip.from, skip.until).into())
            }
            Fact::Schedule(_, ScheduleFact::Paused { reason, .. }) => {
                reason.as_deref().map(|reason| reason.to_owned().into())
            }
            Fact::Session(..) | Fact::Created { .. } | Fact::Schedule(..) | Fact::Run(..) => None,
        }
    }
}

impl SessionFact {
    fn kind(&self) -> DecisionKind {
        match self {
            SessionFact::Opened { .. } => DecisionKind::SessionOpened,
            SessionFact::Closed => DecisionKind::SessionClosed,
            SessionFact::HostAttached { .. } => DecisionKind::SessionHosted,
            SessionFact::HostDetached { .. } => DecisionKind::SessionUnhosted,
            SessionFact::Addressed { .. } => DecisionKind::SessionAddressed,
            SessionFact::Busy => DecisionKind::SessionBusy,
            SessionFact::Idle => DecisionKind::SessionIdle,
            SessionFact::UserMessage => DecisionKind::UserSpoke,
            SessionFact::TurnUnreported => DecisionKind::TurnUnreported,
            SessionFact::Granted { .. } => DecisionKind::SessionGranted,
            SessionFact::JobReady { .. } => DecisionKind::JobReady,
            SessionFact::Memory(change) => match &**change {
                MemoryChange::Remembered { .. } => DecisionKind::FactRemembered,
                MemoryChange::GoalSet { .. } => DecisionKind::GoalSet,
                MemoryChange::TaskCreated { .. } => DecisionKind::TaskNoted,
                MemoryChange::TaskUpdated { .. } => DecisionKind::TaskMoved,
            },
            SessionFact::Pinged { .. } => DecisionKind::SessionPinged,
            SessionFact::ToolsCalled { .. } => DecisionKind::ToolsCalled,
        }
    }
}

/// Names tools, each with how often it was called.
fn listed(tools: &[(ToolName, u32)]) -> String {
    let one = |(tool, times): &(ToolName, u32)| match times {
        1 => tool.to_string(),
        _ => format!("{tool} ×{times}"),
    };
    tools.iter().map(one).collect::<Vec<String>>().join(", ")
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
            RunFact::Guard(fact) => fact.kind(),
            RunFact::Dispatched(_) => DecisionKind::RunDispatched,
            RunFact::Accepted => DecisionKind::RunAccepted,
            RunFact::Delivered => DecisionKind::RunDelivered,
            // How a run with a call ends depends on the tool.
            RunFact::Returned { outcome, .. } if outcome.ok => DecisionKind::RunDelivered,
            RunFact::Returned { .. } => DecisionKind::RunFailed,
            RunFact::Folded(_) => DecisionKind::RunFolded,
            RunFact::Joined { .. } => DecisionKind::RunDispatched,
            RunFact::Postponed { .. } => DecisionKind::RunQueued,
            RunFact::Left => DecisionKind::RunLeft,
            RunFact::Taken { .. } => DecisionKind::RunTaken,
            RunFact::Retrying { .. } => DecisionKind::RunRetrying,
            RunFact::Failed(_) => DecisionKind::RunFailed,
            RunFact::Cancelled { .. } => DecisionKind::RunCancelled,
        }
    }
}

impl RunFact {
    /// Returns who asked for it, of a fact that hosts do not report.
    fn by(&self) -> Option<&Actor> {
        match self {
            RunFact::Guard(fact) => fact.by(),
            RunFact::Claimed(claim) => claim.by.as_deref(),
            RunFact::Taken { by } => by.as_deref(),
            RunFact::Queued { .. }
            | RunFact::Dispatched(_)
            | RunFact::Accepted
            | RunFact::Delivered
            | RunFact::Returned { .. }
            | RunFact::Folded(_)
            | RunFact::Joined { .. }
            | RunFact::Postponed { .. }
            | RunFact::Left
            | RunFact::Retrying { .. }
            | RunFact::Failed(_)
            | RunFact::Cancelled { .. } => None,
        }
    }
}

impl EngineFact {
    fn kind(&self) -> DecisionKind {
        match self {
            EngineFact::AllHeld { .. } => DecisionKind::EngineHeld,
            EngineFact::AllReleased { .. } => DecisionKind::EngineReleased,
            EngineFact::GuardPolicySet { .. } => DecisionKind::GuardPolicySet,
            EngineFact::Refused { .. } => DecisionKind::OperationRefused,
            EngineFact::Restarted { .. } => DecisionKind::EngineRestarted,
            EngineFact::Stopping { .. } => DecisionKind::EngineStopping,
        }
    }

    fn reason(&self) -> Option<Reason> {
        match self {
            EngineFact::AllHeld { .. } => Some(Reason::Held),
            EngineFact::Stopping { .. } => Some(Reason::Shutdown),
            EngineFact::AllReleased { .. }
            | EngineFact::GuardPolicySet { .. }
            | EngineFact::Refused { .. }
            | EngineFact::Restarted { .. } => None,
        }
    }

    fn by(&self) -> Option<&Actor> {
        match self {
            EngineFact::AllHeld { by, .. }
            | EngineFact::AllReleased { by }
            | EngineFact::GuardPolicySet { by, .. }
            | EngineFact::Refused { by, .. } => Some(by),
            EngineFact::Restarted { .. } | EngineFact::Stopping { .. } => None,
        }
    }

    fn detail(&self) -> Option<Cow<'static, str>> {
        match self {
            EngineFact::AllHeld { reason, .. } => reason.as_deref().map(|reason| reason.to_owned().into()),
            EngineFact::GuardPolicySet { policy, .. } => {
                let rules = policy.as_ref().map_or(0, |policy| policy.rules.len());
                Some(format!("{rules} rules").into())
            }
            EngineFact::Refused { op, .. } => Some(op.name().into()),
            EngineFact::Restarted { lost, .. } => {
                (*lost > 0).then(|| format!("volatile schedules lost: {lost}").into())
            }
            EngineFact::AllReleased { .. } | EngineFact::Stopping { .. } => None,
        }
    }
}

impl GuardFact {
    fn kind(&self) -> DecisionKind {
        match self {
            GuardFact::Asked { .. } => DecisionKind::RunAsked,
            GuardFact::Allowed { .. } => DecisionKind::RunAllowed,
            GuardFact::Held(_) => DecisionKind::RunHeld,
            GuardFact::Approved { .. } => DecisionKind::RunApproved,
            GuardFact::Denied { .. } => DecisionKind::RunDenied,
            GuardFact::Answered(_) => DecisionKind::QuestionAnswered,
        }
    }

    fn reason(&self) -> Option<Reason> {
        match self {
            GuardFact::Asked { .. } => Some(Reason::AwaitingGuard),
            GuardFact::Held(_) => Some(Reason::AwaitingApproval),
            GuardFact::Denied { .. } => Some(Reason::ApprovalDenied),
            GuardFact::Allowed { .. } | GuardFact::Approved { .. } | GuardFact::Answered(_) => None,
        }
    }

    fn by(&self) -> Option<&Actor> {
        match self {
            GuardFact::Approved { by, .. } | GuardFact::Denied { by, .. } => Some(by),
            GuardFact::Answered(decided) => Some(&decided.by),
            GuardFact::Asked { .. } | GuardFact::Allowed { .. } | GuardFact::Held(_) => None,
        }
    }

    fn detail(&self) -> Option<Cow<'static, str>> {
        match self {
            GuardFact::Held(hold) => Some(hold.detail().into()),
            GuardFact::Denied { why, .. } => why.as_deref().map(|why| why.to_owned().into()),
            GuardFact::Answered(decided) => {
                let answer = if decided.is_allowed { "allowed" } else { "denied" };
                let why = decided.why.as_deref().map_or_else(String::new, |why| format!(" ({why})"));
                Some(format!("{answer}{why}: {}", decided.what).into())
            }
            GuardFact::Asked { .. } | GuardFact::Allowed { .. } | GuardFact::Approved { .. } => None,
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

//! What a call asks of the engine: drafts become schedules, patches become changes.
//!
//! What lives elsewhere: reading calls (`call.rs`), the way back (`view.rs`). Invariant: a job is durable, everybody's, told
//! as a task event, run by the end of its turn, and never run twice for one slot. Source: SEED-004.

use super::call::{Draft, Patch};
use super::policy::{MissedRun, Overlap, Policy};
use super::target::Target;
use crate::domain::{
    Dialect, Durability, EndsWith, Envelope, Lifetime, Missed, Moment, Overlap as EngineOverlap, Payload,
    Policy as EnginePolicy, Recovery, Route, ScheduleId, SessionId, Span, Target as EngineTarget, Terms,
    When, WhenBusy,
};
use crate::engine::{NewSchedule, ScheduleChange};
use crate::limits;

impl Draft {
    /// The schedule asked for, under this id, for the session that owns it.
    pub fn into_new(self, id: ScheduleId, owner: SessionId, now: Moment) -> NewSchedule {
        let Draft { name, description, schedule, prompt, target, policy } = self;
        let terms = Terms {
            description,
            key: None,
            shared: true,
            target: target.to_engine(),
            envelope: Envelope::TaskEvent,
            policy: policy.to_engine(),
            lifetime: Lifetime { dies_with_session: false, ..Lifetime::PLAIN },
        };
        NewSchedule {
            made_by: None,
            id: Some(id),
            dialect: Dialect::Cron,
            durability: Durability::Durable,
            label: Some(name),
            owner,
            when: schedule.when(now),
            payload: Payload::Turn { text: prompt },
            terms: Some(Box::new(terms)),
            session_live_max: u32::try_from(limits::SESSION_SCHEDULES.value).unwrap_or(u32::MAX),
        }
    }
}

impl Patch {
    /// The change asked for, of a job that was created at that moment.
    pub fn into_change(self, created_at: Moment) -> ScheduleChange {
        let Patch { name, description, enabled, schedule, prompt, target, policy } = self;
        ScheduleChange {
            label: name.map(Some),
            description,
            when: schedule.map(|schedule| When::By(schedule.trigger(created_at))),
            text: prompt,
            target: target.map(|target| target.to_engine()),
            policy: policy.map(Policy::to_engine),
            lifetime: None,
            paused: enabled.map(|enabled| !enabled),
        }
    }
}

impl Target {
    fn to_engine(&self) -> EngineTarget {
        match self {
            Target::Session(session) => EngineTarget::Session(session.clone()),
            Target::Gateway { channel, conversation_id, thread_id } => EngineTarget::Route(Box::new(Route {
                channel: channel.clone(),
                conversation: conversation_id.clone(),
                thread: thread_id.clone(),
            })),
        }
    }

    /// The target of a schedule with this owner in the seed's words; `None` for a fresh session, which those cannot say.
    pub(super) fn of_engine(target: &EngineTarget, owner: &SessionId) -> Option<Target> {
        match target {
            EngineTarget::Owner => Some(Target::Session(owner.clone())),
            EngineTarget::Session(session) => Some(Target::Session(session.clone())),
            EngineTarget::Route(route) => Some(Target::Gateway {
                channel: route.channel.clone(),
                conversation_id: route.conversation.clone(),
                thread_id: route.thread.clone(),
            }),
            EngineTarget::Fresh => None,
        }
    }
}

impl Policy {
    /// A run that was with its host when that or the process ended is not repeated: it may have happened.
    fn to_engine(self) -> EnginePolicy {
        EnginePolicy {
            overlap: match self.overlap {
                Overlap::Skip => EngineOverlap::Skip,
                Overlap::Parallel => EngineOverlap::Parallel,
            },
            missed: match self.missed_run {
                MissedRun::RunOnce => Missed::RunOnce,
                MissedRun::Skip => Missed::Skip,
            },
            max_late: None,
            when_busy: WhenBusy::Queue,
            recovery: Recovery::Fail,
            ends_with: EndsWith::Turn,
            timeout: Some(Span::from_millis(self.timeout_seconds * 1_000)),
            backoff: Vec::new(),
        }
    }

    /// The nearest that the seed's words come to.
    pub(super) fn of_engine(policy: &EnginePolicy) -> Policy {
        let preset = Policy::default();
        Policy {
            overlap: match policy.overlap {
                EngineOverlap::Skip => Overlap::Skip,
                EngineOverlap::Parallel => Overlap::Parallel,
            },
            missed_run: match policy.missed {
                Missed::RunOnce | Missed::All => MissedRun::RunOnce,
                Missed::Skip => MissedRun::Skip,
            },
            timeout_seconds: policy
                .timeout
                .map_or(preset.timeout_seconds, |timeout| timeout.millis() / 1_000),
        }
    }
}

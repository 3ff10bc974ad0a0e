//! Converts drafts to schedules, and patches to changes of schedules.
//!
//! Calls are parsed in `call.rs`; the way back is in `view.rs`. Invariant: a job is durable and shared by all
//! sessions. It is delivered as a task event, its run ends with the agent's turn, and no slot runs twice. Source:
//! SEED-004.

use super::call::{JobDraft, Patch};
use super::policy::{JobPolicy, MissedRun, Overlap};
use super::target::JobTarget;
use crate::domain::{
    Dialect, Durability, EndsWith, Envelope, Lifetime, Missed, Moment, Overlap as EngineOverlap, Payload,
    Policy as EnginePolicy, Recovery, Route, ScheduleId, SessionId, Settings, Span, Target as EngineTarget,
    When, WhenBusy,
};
use crate::engine::{NewSchedule, ScheduleChange};
use crate::limits;

impl JobDraft {
    /// Builds the new schedule with this id, owned by `owner`.
    pub fn into_new(self, id: ScheduleId, owner: SessionId, now: Moment) -> NewSchedule {
        let JobDraft { name, description, schedule, prompt, target, policy } = self;
        let settings = Settings {
            description,
            // The seed identifies a job by its id alone, so a repeated creation makes a second job.
            key: None,
            // Every session may see a job, not only its owner, and change it with the grant `cron-others`.
            shared: true,
            target: target.to_engine(),
            envelope: Envelope::TaskEvent,
            policy: policy.to_engine(),
            // A job outlives the session that owns it.
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
            settings: Some(Box::new(settings)),
            session_live_max: u32::try_from(limits::SESSION_SCHEDULES.value).unwrap_or(u32::MAX),
        }
    }
}

impl Patch {
    /// Builds the change to a job that was created at `created_at`.
    pub fn into_change(self, created_at: Moment) -> ScheduleChange {
        let Patch { name, description, enabled, schedule, prompt, target, policy } = self;
        ScheduleChange {
            label: name.map(Some),
            description,
            when: schedule.map(|schedule| When::By(schedule.trigger(created_at))),
            text: prompt,
            target: target.map(|target| target.to_engine()),
            policy: policy.map(JobPolicy::to_engine),
            // The seed has no lifetimes, so one that another interface has set stays.
            lifetime: None,
            // The engine stores the opposite of the seed's flag.
            paused: enabled.map(|enabled| !enabled),
        }
    }
}

impl JobTarget {
    fn to_engine(&self) -> EngineTarget {
        match self {
            JobTarget::Session(session) => EngineTarget::Session(session.clone()),
            JobTarget::Gateway { channel, conversation_id, thread_id } => {
                EngineTarget::Route(Box::new(Route {
                    channel: channel.clone(),
                    conversation: conversation_id.clone(),
                    thread: thread_id.clone(),
                }))
            }
        }
    }

    /// The target of a schedule with this owner, in the seed's words; `None` for a fresh session, which the seed does
    /// not have.
    pub(super) fn of_engine(target: &EngineTarget, owner: &SessionId) -> Option<JobTarget> {
        match target {
            EngineTarget::Owner => Some(JobTarget::Session(owner.clone())),
            EngineTarget::Session(session) => Some(JobTarget::Session(session.clone())),
            EngineTarget::Route(route) => Some(JobTarget::Gateway {
                channel: route.channel.clone(),
                conversation_id: route.conversation.clone(),
                thread_id: route.thread.clone(),
            }),
            EngineTarget::Fresh => None,
        }
    }
}

impl JobPolicy {
    /// Converts to the engine's policy. A run that was in flight when its host or the process ended is not repeated,
    /// because it may have happened.
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
            // The seed has no bound on lateness: a missed slot runs however late.
            max_late: None,
            // The event waits as an input of its own. Source: SEED-004, "Service Runtime".
            when_busy: WhenBusy::Queue,
            // The seed's code closes a crashed run as failed after its timeout, and never executes it again.
            recovery: Recovery::Fail,
            ends_with: EndsWith::Turn,
            timeout: Some(Span::from_millis(self.timeout_seconds * 1_000)),
            // The seed retries nothing. A failed run only raises `consecutive_failures`.
            backoff: Vec::new(),
        }
    }

    /// The seed's policy that is nearest to the engine's.
    pub(super) fn of_engine(policy: &EnginePolicy) -> JobPolicy {
        let preset = JobPolicy::default();
        JobPolicy {
            overlap: match policy.overlap {
                EngineOverlap::Skip => Overlap::Skip,
                EngineOverlap::Parallel => Overlap::Parallel,
            },
            missed_run: match policy.missed {
                // The seed cannot run all missed slots, so `All` becomes one run.
                Missed::RunOnce | Missed::All => MissedRun::RunOnce,
                Missed::Skip => MissedRun::Skip,
            },
            // Another interface may have removed the timeout. The seed always shows one, so the default stands in.
            timeout_seconds: policy
                .timeout
                .map_or(preset.timeout_seconds, |timeout| timeout.millis() / 1_000),
        }
    }
}

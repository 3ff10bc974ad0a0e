//! A job and its state, as the tools and the log show them: plain values.
//!
//! The values come from the engine or from `jsonl`. Invariant: an absent field is left out of the printed map, never
//! null. Source: SEED-004's code, the types that it stores.

use super::policy::JobPolicy;
use super::schedule::JobSchedule;
use super::shape::{instant, integer};
use super::target::JobTarget;
use crate::domain::{Moment, ScheduleId, names};
use crate::edn::{Map, Value};

/// One scheduled task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The job's id.
    pub id: ScheduleId,
    /// How often the job was stored, from 1.
    pub revision: u64,
    /// The job's name, trimmed and not blank.
    pub name: Box<str>,
    /// The job's purpose.
    pub description: Option<Box<str>>,
    /// True if the job runs.
    pub enabled: bool,
    /// When the job was created.
    pub created_at: Moment,
    /// When the latest revision was stored.
    pub updated_at: Moment,
    /// When the job runs.
    pub schedule: JobSchedule,
    /// The prompt for the agent, trimmed and not blank.
    pub prompt: Box<str>,
    /// Where the prompt goes.
    pub target: JobTarget,
    /// How runs are executed.
    pub policy: JobPolicy,
}

/// The state of a job: never stored, always derived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobState {
    /// The next slot.
    pub next_run_at: Option<Moment>,
    /// The slot of the latest run or skip.
    pub last_scheduled_for: Option<Moment>,
    /// When a run last began.
    pub last_started_at: Option<Moment>,
    /// When a run last ended.
    pub last_finished_at: Option<Moment>,
    /// The outcome of the latest run.
    pub last_status: Option<RunStatus>,
    /// The error of the run that ended last, if it failed.
    pub last_error: Option<Box<str>>,
    /// The number of failed runs since the last one that succeeded.
    pub consecutive_failures: u64,
    /// The id of the active run; if several are active, of one of them.
    pub running_run_id: Option<Box<str>>,
}

names! {
    /// The outcome of a run.
    RunStatus {
        /// The turn ended without an error.
        Ok = "ok",
        /// Nobody listens in the session: the message waits in the inbox. The seed has no such word.
        Left = "left",
        /// The run failed, or did not end in time.
        Error = "error",
        /// The run did not take place.
        Skipped = "skipped",
    }
}

impl Job {
    /// Prints the job in the seed's shape.
    pub(crate) fn to_map(&self) -> Map {
        let map = Map::new()
            .with("id", self.id.to_string())
            .with("revision", integer(self.revision))
            .with("name", &*self.name);
        map.with_some("description", self.description.as_deref())
            .with("enabled", self.enabled)
            .with("created_at", instant(self.created_at))
            .with("updated_at", instant(self.updated_at))
            .with("schedule", self.schedule.to_map())
            .with("task", task(&self.prompt))
            .with("target", self.target.to_map())
            .with("policy", self.policy.to_map())
    }
}

impl JobState {
    /// Prints the state in the seed's shape.
    pub(crate) fn to_map(&self) -> Map {
        let map = Map::new().with_some("next_run_at", self.next_run_at.map(instant));
        let map = map.with_some("last_scheduled_for", self.last_scheduled_for.map(instant));
        let map = map.with_some("last_started_at", self.last_started_at.map(instant));
        let map = map.with_some("last_finished_at", self.last_finished_at.map(instant));
        let status = self.last_status.map(|status| Value::keyword(status.name()));
        let map = map.with_some("last_status", status);
        let map = map.with_some("last_error", self.last_error.as_deref());
        // Printed even if it is 0, unlike the optional fields around it.
        let map = map.with("consecutive_failures", integer(self.consecutive_failures));
        map.with_some("running_run_id", self.running_run_id.as_deref())
    }
}

/// Prints the task of a job; there is only one kind.
pub(super) fn task(prompt: &str) -> Map {
    Map::new().with("kind", Value::keyword(TASK_KIND)).with("prompt", prompt)
}

/// The only kind of task.
pub(super) const TASK_KIND: &str = "agent_prompt";

//! A job and its state, as the tools show them and the log keeps them: plain values, filled from outside.
//!
//! What lives elsewhere: where they come from (the engine, or `jsonl`). Invariant: what is absent is left out of the
//! printed map, never null. Source: SEED-004's code, the types that it stores.

use super::policy::Policy;
use super::schedule::Schedule;
use super::shape::{instant, integer, with_some};
use super::target::Target;
use crate::domain::{Moment, ScheduleId, names};
use crate::edn::{Map, Value};

/// One scheduled task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: ScheduleId,
    /// How often it was stored, from 1.
    pub revision: u64,
    /// Its name, trimmed and not blank.
    pub name: Box<str>,
    /// What it is for.
    pub description: Option<Box<str>>,
    /// Whether it runs.
    pub enabled: bool,
    /// When it was created.
    pub created_at: Moment,
    /// When its latest revision was stored.
    pub updated_at: Moment,
    /// When it runs.
    pub schedule: Schedule,
    /// What the agent is told then, trimmed and not blank.
    pub prompt: Box<str>,
    /// Where.
    pub target: Target,
    /// How.
    pub policy: Policy,
}

/// How a job stands: never stored, always derived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobState {
    /// When it runs next.
    pub next_run_at: Option<Moment>,
    /// The slot of its latest run or skip.
    pub last_scheduled_for: Option<Moment>,
    /// When a run last began.
    pub last_started_at: Option<Moment>,
    /// When a run last ended.
    pub last_finished_at: Option<Moment>,
    /// What became of the latest run.
    pub last_status: Option<RunStatus>,
    /// Why the run that ended last failed, if it did.
    pub last_error: Option<Box<str>>,
    /// Failed runs since the last one that did not.
    pub consecutive_failures: u64,
    /// The run under way; one of them, where several are.
    pub running_run_id: Option<Box<str>>,
}

names! {
    /// What became of a run.
    RunStatus {
        /// Its turn ended well.
        Ok = "ok",
        /// It failed, or did not end in time.
        Error = "error",
        /// It did not take place.
        Skipped = "skipped",
    }
}

impl Job {
    /// In the seed's shape.
    pub fn to_map(&self) -> Map {
        let map = Map::new()
            .with("id", self.id.to_string())
            .with("revision", integer(self.revision))
            .with("name", &*self.name);
        with_some(map, "description", self.description.as_deref())
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
    /// In the seed's shape.
    pub fn to_map(&self) -> Map {
        let map = with_some(Map::new(), "next_run_at", self.next_run_at.map(instant));
        let map = with_some(map, "last_scheduled_for", self.last_scheduled_for.map(instant));
        let map = with_some(map, "last_started_at", self.last_started_at.map(instant));
        let map = with_some(map, "last_finished_at", self.last_finished_at.map(instant));
        let status = self.last_status.map(|status| Value::keyword(status.name()));
        let map = with_some(map, "last_status", status);
        let map = with_some(map, "last_error", self.last_error.as_deref());
        let map = map.with("consecutive_failures", integer(self.consecutive_failures));
        with_some(map, "running_run_id", self.running_run_id.as_deref())
    }
}

/// What a job does: there is one kind of task.
pub(super) fn task(prompt: &str) -> Map {
    Map::new().with("kind", Value::keyword(TASK_KIND)).with("prompt", prompt)
}

/// The one kind of task.
pub(super) const TASK_KIND: &str = "agent_prompt";

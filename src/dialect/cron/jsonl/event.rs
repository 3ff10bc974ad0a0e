//! The events of the two files, and each as a line of JSON.
//!
//! What lives elsewhere: reading them (`read.rs`). Invariant: a line holds no line break, and ends in one.

use crate::dialect::cron::call::Patch;
use crate::dialect::cron::job::{Job, RunStatus, task};
use crate::dialect::cron::policy::Policy;
use crate::dialect::cron::schedule::Schedule;
use crate::dialect::cron::shape::{instant, integer, with_some};
use crate::dialect::cron::target::Target;
use crate::dialect::json;
use crate::domain::{Moment, ScheduleId, names};
use crate::edn::{Map, Value};

/// A line of `jobs.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLine {
    /// The event's id, see [`event_id`](crate::dialect::cron::event_id).
    pub event_id: Box<str>,
    /// When it happened.
    pub timestamp: Moment,
    /// What happened.
    pub event: JobEvent,
}

/// What can happen to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEvent {
    /// It was created, as this.
    Created(Box<Job>),
    /// It was changed; pausing and resuming are changes.
    Updated {
        /// The revision before.
        base_revision: u64,
        /// What was asked for.
        patch: Box<Patch>,
        /// The job after it, with its revision.
        job: Box<Job>,
    },
    /// It was deleted: the tombstone.
    Deleted {
        /// Which job.
        job_id: ScheduleId,
        /// The revision before.
        base_revision: u64,
        /// The revision of the tombstone.
        revision: u64,
    },
}

/// A line of `runs.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLine {
    /// The event's id, see [`event_id`](crate::dialect::cron::event_id).
    pub event_id: Box<str>,
    /// When it happened.
    pub timestamp: Moment,
    /// The run.
    pub run_id: Box<str>,
    /// Its job.
    pub job_id: ScheduleId,
    /// What happened.
    pub event: RunEvent,
}

/// What can happen to a run. The moment of each is its line's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEvent {
    /// It began.
    Started {
        /// Its slot.
        scheduled_for: Moment,
    },
    /// It ended.
    Finished {
        /// How.
        status: RunStatus,
        /// In which session it took place.
        session_id: Option<Box<str>>,
        /// Why it failed.
        error: Option<Box<str>>,
    },
    /// It did not take place.
    Skipped {
        /// Its slot.
        scheduled_for: Moment,
        /// Why.
        reason: Box<str>,
    },
}

impl JobLine {
    /// Appends the line to a text.
    pub fn print(&self, out: &mut String) {
        let head = |kind: &str| head(kind, &self.event_id).with("timestamp", instant(self.timestamp));
        let map = match &self.event {
            JobEvent::Created(job) => head(JobLineKind::Created.name()).with("job", job.to_map()),
            JobEvent::Updated { base_revision, patch, job } => {
                revised(head(JobLineKind::Updated.name()), &job.id, *base_revision, job.revision)
                    .with("patch", patch_map(patch))
                    .with("job", job.to_map())
            }
            JobEvent::Deleted { job_id, base_revision, revision } => {
                revised(head(JobLineKind::Deleted.name()), job_id, *base_revision, *revision)
            }
        };
        finish(map, out);
    }
}

impl RunLine {
    /// Appends the line to a text.
    pub fn print(&self, out: &mut String) {
        let head = |kind: &str| {
            head(kind, &self.event_id)
                .with("timestamp", instant(self.timestamp))
                .with("run_id", &*self.run_id)
                .with("job_id", self.job_id.to_string())
        };
        let at = instant(self.timestamp);
        let map = match &self.event {
            RunEvent::Started { scheduled_for } => head(RunLineKind::Started.name())
                .with("scheduled_for", instant(*scheduled_for))
                .with("started_at", at),
            RunEvent::Finished { status, session_id, error } => {
                let map =
                    head(RunLineKind::Finished.name()).with("status", status.name()).with("finished_at", at);
                let map = with_some(map, "session_id", session_id.as_deref());
                with_some(map, "error", error.as_deref())
            }
            RunEvent::Skipped { scheduled_for, reason } => head(RunLineKind::Skipped.name())
                .with("scheduled_for", instant(*scheduled_for))
                .with("skipped_at", at)
                .with("reason", &**reason),
        };
        finish(map, out);
    }
}

fn head(kind: &str, event_id: &str) -> Map {
    Map::new().with("type", kind).with("event_id", event_id)
}

fn revised(map: Map, job_id: &ScheduleId, base_revision: u64, revision: u64) -> Map {
    map.with("job_id", job_id.to_string())
        .with("base_revision", integer(base_revision))
        .with("revision", integer(revision))
}

/// Only what changes. A description that is taken away is an empty string, as in the call.
fn patch_map(patch: &Patch) -> Map {
    let map = with_some(Map::new(), "name", patch.name.as_deref());
    let description = patch.description.as_ref().map(|text| text.as_deref().unwrap_or_default());
    let map = with_some(map, "description", description);
    let map = with_some(map, "enabled", patch.enabled);
    let map = with_some(map, "schedule", patch.schedule.as_ref().map(Schedule::to_map));
    let map = with_some(map, "task", patch.prompt.as_deref().map(task));
    let map = with_some(map, "target", patch.target.as_ref().map(Target::to_map));
    with_some(map, "policy", patch.policy.map(Policy::to_map))
}

fn finish(map: Map, out: &mut String) {
    json::write(&Value::Map(map), out);
    out.push('\n');
}

names! {
    /// A type of line in `jobs.jsonl`.
    JobLineKind {
        /// A job was created.
        Created = "job_created",
        /// A job was changed.
        Updated = "job_updated",
        /// A job was deleted.
        Deleted = "job_deleted",
    }
}

names! {
    /// A type of line in `runs.jsonl`.
    RunLineKind {
        /// A run began.
        Started = "run_started",
        /// A run ended.
        Finished = "run_finished",
        /// A run did not take place.
        Skipped = "run_skipped",
    }
}

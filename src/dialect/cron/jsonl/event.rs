//! The events of the two files, and their lines of JSON.
//!
//! Reading is in `read.rs`. Invariant: a line contains no line break and ends with one.

use crate::dialect::cron::call::Patch;
use crate::dialect::cron::job::{Job, RunStatus, task};
use crate::dialect::cron::policy::JobPolicy;
use crate::dialect::cron::schedule::JobSchedule;
use crate::dialect::cron::shape::{instant, integer};
use crate::dialect::cron::target::JobTarget;
use crate::dialect::json;
use crate::domain::{Moment, ScheduleId, names};
use crate::edn::{Map, Value};

/// A line of `jobs.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLine {
    /// The id of the event, see [`event_id`](crate::dialect::cron::event_id).
    pub event_id: Box<str>,
    /// When the event happened.
    pub timestamp: Moment,
    /// The event.
    pub event: JobEvent,
    /// Since when the job's history is known, if what came before was pruned.
    pub history_since: Option<Moment>,
}

/// An event of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEvent {
    /// The job was created.
    Created(Box<Job>),
    /// The job was changed; pausing and resuming are changes.
    Updated {
        /// The previous revision.
        base_revision: u64,
        /// The requested changes.
        patch: Box<Patch>,
        /// The job after the change, with its revision.
        job: Box<Job>,
    },
    /// The job was deleted; the line is its tombstone.
    Deleted {
        /// The job's id.
        job_id: ScheduleId,
        /// The previous revision.
        base_revision: u64,
        /// The revision of the tombstone.
        revision: u64,
    },
}

/// A line of `runs.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLine {
    /// The id of the event, see [`event_id`](crate::dialect::cron::event_id).
    pub event_id: Box<str>,
    /// When the event happened.
    pub timestamp: Moment,
    /// The run's id.
    pub run_id: Box<str>,
    /// The job's id.
    pub job_id: ScheduleId,
    /// The event.
    pub event: RunEvent,
}

/// An event of a run. Its time is that of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEvent {
    /// The run began.
    Started {
        /// The slot of the run.
        scheduled_for: Moment,
    },
    /// The run ended.
    Finished {
        /// The outcome.
        status: RunStatus,
        /// The session in which the run took place.
        session_id: Option<Box<str>>,
        /// Why the run failed.
        error: Option<Box<str>>,
    },
    /// The run did not take place.
    Skipped {
        /// The skipped slot.
        scheduled_for: Moment,
        /// Why the slot was skipped.
        reason: Box<str>,
    },
}

impl JobLine {
    /// Appends the line to `out`.
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
        finish(map.with_some("history_since", self.history_since.map(instant)), out);
    }
}

impl RunLine {
    /// Appends the line to `out`.
    pub fn print(&self, out: &mut String) {
        let head = |kind: &str| {
            head(kind, &self.event_id)
                .with("timestamp", instant(self.timestamp))
                .with("run_id", &*self.run_id)
                .with("job_id", self.job_id.to_string())
        };
        // The seed's code writes the time under a name per type. Our lines have `timestamp` as well, like those of jobs.
        let at = instant(self.timestamp);
        let map = match &self.event {
            RunEvent::Started { scheduled_for } => head(RunLineKind::Started.name())
                .with("scheduled_for", instant(*scheduled_for))
                .with("started_at", at),
            RunEvent::Finished { status, session_id, error } => {
                let map =
                    head(RunLineKind::Finished.name()).with("status", status.name()).with("finished_at", at);
                let map = map.with_some("session_id", session_id.as_deref());
                map.with_some("error", error.as_deref())
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

/// Prints the changes only. A removed description is an empty string, as in the call.
fn patch_map(patch: &Patch) -> Map {
    let map = Map::new().with_some("name", patch.name.as_deref());
    let description = patch.description.as_ref().map(|text| text.as_deref().unwrap_or_default());
    let map = map.with_some("description", description);
    let map = map.with_some("enabled", patch.enabled);
    let map = map.with_some("schedule", patch.schedule.as_ref().map(JobSchedule::to_map));
    let map = map.with_some("task", patch.prompt.as_deref().map(task));
    let map = map.with_some("target", patch.target.as_ref().map(JobTarget::to_map));
    map.with_some("policy", patch.policy.map(JobPolicy::to_map))
}

fn finish(map: Map, out: &mut String) {
    // JSON escapes line breaks, so one event stays one line.
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

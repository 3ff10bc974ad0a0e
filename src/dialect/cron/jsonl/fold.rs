//! Folds the events into the existing jobs with their states, and the tombstones of deleted jobs.
//!
//! The table of decisions about odd events is in `mod.rs`, reading the files in `replay.rs`. Invariant: folding
//! cannot fail; an odd event is reported as a warning.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{JobEvent, JobLine, RunEvent, RunLine};
use super::warning::Oddity;
use crate::dialect::cron::job::{Job, JobState, RunStatus};
use crate::domain::{Moment, ScheduleId};

/// All jobs of a profile, folded from their events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The existing jobs.
    pub jobs: BTreeMap<ScheduleId, FoldedJob>,
    /// The deleted jobs, with the revisions of their tombstones.
    pub tombstones: BTreeMap<ScheduleId, u64>,
    /// The ids of all events so far, to detect repeated ones.
    seen: BTreeSet<Box<str>>,
}

/// A job, folded from its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedJob {
    /// The job, at its latest revision.
    pub job: Job,
    /// The job's state, without the next run, which the log does not have.
    pub state: JobState,
    /// Since when the job has this schedule. Earlier slots belonged to another schedule and do not count as missed.
    pub scheduled_since: Moment,
}

impl Profile {
    /// Adds an event of `jobs.jsonl`. Returns a warning if the event is odd.
    pub fn add_job_event(&mut self, line: &JobLine) -> Option<Oddity> {
        if let Some(oddity) = self.repeated(&line.event_id) {
            return Some(oddity);
        }
        match &line.event {
            JobEvent::Created(job) => self.create(job),
            JobEvent::Updated { job, .. } => self.update(job, line.timestamp),
            JobEvent::Deleted { job_id, revision, .. } => self.delete(job_id, *revision),
        }
    }

    /// Adds an event of `runs.jsonl`. Returns a warning if the event is odd.
    pub fn add_run_event(&mut self, line: &RunLine) -> Option<Oddity> {
        if let Some(oddity) = self.repeated(&line.event_id) {
            return Some(oddity);
        }
        let job_id = &line.job_id;
        match self.jobs.get_mut(job_id) {
            Some(kept) => {
                advance(&mut kept.state, line);
                None
            }
            // The log keeps the runs of deleted jobs, so this is no reason for a warning.
            None if self.tombstones.contains_key(job_id) => None,
            None => Some(Oddity::NoJob { job_id: job_id.clone() }),
        }
    }

    fn repeated(&mut self, event_id: &str) -> Option<Oddity> {
        let is_new = self.seen.insert(event_id.into());
        (!is_new).then(|| Oddity::Repeated { event_id: event_id.into() })
    }

    fn create(&mut self, job: &Job) -> Option<Oddity> {
        let job_id = job.id.clone();
        // Before the jobs are looked at, because a tombstone is final wherever it stands in the file.
        if self.tombstones.contains_key(&job_id) {
            return Some(Oddity::Deleted { job_id });
        }
        if self.jobs.contains_key(&job_id) {
            return Some(Oddity::Exists { job_id });
        }
        self.jobs.insert(job_id, FoldedJob::new(job, job.created_at));
        None
    }

    fn update(&mut self, job: &Job, at: Moment) -> Option<Oddity> {
        let job_id = job.id.clone();
        if self.tombstones.contains_key(&job_id) {
            return Some(Oddity::Deleted { job_id });
        }
        let Some(kept) = self.jobs.get_mut(&job_id) else {
            // The snapshot is complete, so the job can be restored without its creation.
            self.jobs.insert(job_id.clone(), FoldedJob::new(job, at));
            return Some(Oddity::Uncreated { job_id });
        };
        let (revision, current) = (job.revision, kept.job.revision);
        if revision <= current {
            return Some(Oddity::Stale { job_id, revision, current });
        }
        // A change of anything else does not restart the schedule.
        if kept.job.schedule != job.schedule {
            kept.scheduled_since = at;
        }
        kept.job = job.clone();
        gap(&job_id, revision, current)
    }

    fn delete(&mut self, job_id: &ScheduleId, revision: u64) -> Option<Oddity> {
        let job_id = job_id.clone();
        if self.tombstones.contains_key(&job_id) {
            return Some(Oddity::Deleted { job_id });
        }
        let current = self.jobs.get(&job_id).map(|kept| kept.job.revision);
        let oddity = match current {
            // At or below the current revision, the writer did not know the latest change.
            Some(current) if revision <= current => return Some(Oddity::Stale { job_id, revision, current }),
            Some(current) => gap(&job_id, revision, current),
            None => Some(Oddity::Uncreated { job_id: job_id.clone() }),
        };
        // A deletion counts even if the creation or some revisions are missing: the job must not come back.
        self.jobs.remove(&job_id);
        self.tombstones.insert(job_id, revision);
        oddity
    }
}

impl FoldedJob {
    fn new(job: &Job, scheduled_since: Moment) -> FoldedJob {
        FoldedJob { job: job.clone(), state: JobState::default(), scheduled_since }
    }
}

fn gap(job_id: &ScheduleId, revision: u64, current: u64) -> Option<Oddity> {
    let is_next = revision == current + 1;
    (!is_next).then(|| Oddity::Gap { job_id: job_id.clone(), revision, current })
}

/// Folds one event of a run into the state. Source: SEED-004's code, its replay rules.
fn advance(state: &mut JobState, line: &RunLine) {
    match &line.event {
        RunEvent::Started { scheduled_for } => {
            state.last_scheduled_for = Some(*scheduled_for);
            state.last_started_at = Some(line.timestamp);
            state.running_run_id = Some(line.run_id.clone());
        }
        RunEvent::Finished { status, error, .. } => {
            // The end of an older run leaves a newer one active.
            if state.running_run_id.as_ref() == Some(&line.run_id) {
                state.running_run_id = None;
            }
            state.last_finished_at = Some(line.timestamp);
            state.last_status = Some(*status);
            state.last_error.clone_from(error);
            state.consecutive_failures = match status {
                RunStatus::Error => state.consecutive_failures + 1,
                // A run that ends as skipped ends the series as well. Source: SEED-004's code.
                RunStatus::Ok | RunStatus::Left | RunStatus::Skipped => 0,
            };
        }
        // A skipped slot does not end the active run.
        RunEvent::Skipped { scheduled_for, .. } => {
            state.last_scheduled_for = Some(*scheduled_for);
            state.last_status = Some(RunStatus::Skipped);
        }
    }
}

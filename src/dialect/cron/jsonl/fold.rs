//! What the events add up to: the jobs there are, with their states, and the tombstones of those there were.
//!
//! What lives elsewhere: the table of decisions about odd events (`mod.rs`), reading them (`replay.rs`). Invariant: folding
//! cannot fail; what is odd about an event is said, not thrown.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{JobEvent, JobLine, RunEvent, RunLine};
use super::warning::Oddity;
use crate::dialect::cron::job::{Job, JobState, RunStatus};
use crate::domain::{Moment, ScheduleId};

/// All jobs of a profile, as their events tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The jobs there are.
    pub jobs: BTreeMap<ScheduleId, Kept>,
    /// The jobs that were deleted, each with the revision of its tombstone.
    pub tombstones: BTreeMap<ScheduleId, u64>,
    seen: BTreeSet<Box<str>>,
}

/// A job as its events tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The job, at its latest revision.
    pub job: Job,
    /// How it stands; when it runs next is not in the log.
    pub state: JobState,
    /// Since when it has this schedule. Slots before that were another schedule's, and are not missed.
    pub scheduled_since: Moment,
}

impl Profile {
    /// Adds an event of `jobs.jsonl`; says what is odd about it.
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

    /// Adds an event of `runs.jsonl`; says what is odd about it.
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
            // The runs of a deleted job stay in the log, and that is in order.
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
        if self.tombstones.contains_key(&job_id) {
            return Some(Oddity::Deleted { job_id });
        }
        if self.jobs.contains_key(&job_id) {
            return Some(Oddity::Exists { job_id });
        }
        self.jobs.insert(job_id, Kept::new(job, job.created_at));
        None
    }

    fn update(&mut self, job: &Job, at: Moment) -> Option<Oddity> {
        let job_id = job.id.clone();
        if self.tombstones.contains_key(&job_id) {
            return Some(Oddity::Deleted { job_id });
        }
        let Some(kept) = self.jobs.get_mut(&job_id) else {
            self.jobs.insert(job_id.clone(), Kept::new(job, at));
            return Some(Oddity::Uncreated { job_id });
        };
        let (revision, current) = (job.revision, kept.job.revision);
        if revision <= current {
            return Some(Oddity::Stale { job_id, revision, current });
        }
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
            Some(current) if revision <= current => return Some(Oddity::Stale { job_id, revision, current }),
            Some(current) => gap(&job_id, revision, current),
            None => Some(Oddity::Uncreated { job_id: job_id.clone() }),
        };
        self.jobs.remove(&job_id);
        self.tombstones.insert(job_id, revision);
        oddity
    }
}

impl Kept {
    fn new(job: &Job, scheduled_since: Moment) -> Kept {
        Kept { job: job.clone(), state: JobState::default(), scheduled_since }
    }
}

fn gap(job_id: &ScheduleId, revision: u64, current: u64) -> Option<Oddity> {
    let is_next = revision == current + 1;
    (!is_next).then(|| Oddity::Gap { job_id: job_id.clone(), revision, current })
}

/// A state after one more event of a run. Source: SEED-004's code, its replay rules.
fn advance(state: &mut JobState, line: &RunLine) {
    match &line.event {
        RunEvent::Started { scheduled_for } => {
            state.last_scheduled_for = Some(*scheduled_for);
            state.last_started_at = Some(line.timestamp);
            state.running_run_id = Some(line.run_id.clone());
        }
        RunEvent::Finished { status, error, .. } => {
            if state.running_run_id.as_ref() == Some(&line.run_id) {
                state.running_run_id = None;
            }
            state.last_finished_at = Some(line.timestamp);
            state.last_status = Some(*status);
            state.last_error.clone_from(error);
            state.consecutive_failures = match status {
                RunStatus::Error => state.consecutive_failures + 1,
                RunStatus::Ok | RunStatus::Skipped => 0,
            };
        }
        // A slot that was skipped says nothing about the run that was under way.
        RunEvent::Skipped { scheduled_for, .. } => {
            state.last_scheduled_for = Some(*scheduled_for);
            state.last_status = Some(RunStatus::Skipped);
        }
    }
}

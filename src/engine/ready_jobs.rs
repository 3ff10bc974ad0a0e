//! The jobs of a session that were recently reported as ready.
//!
//! A quick job may be done before its agent has asked to be woken by it. A schedule that is created
//! for a job that is listed here, or changed to wait for it, is therefore due at once, also after a
//! restart: the row of the session has the list.

use crate::domain::{JobId, Moment};
use crate::limits::{JOB_REMEMBERED_MS, JOBS_REMEMBERED};

/// Jobs with the time of their last report, oldest first; at most `limits::JOBS_REMEMBERED`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadyJobs(Vec<(JobId, Moment)>);

impl ReadyJobs {
    /// Records that a job is ready.
    pub(super) fn note(&mut self, job: JobId, now: Moment) {
        // Drops expired entries, and the job's earlier report, so that each job is listed once.
        self.0.retain(|(other, at)| *other != job && is_fresh(*at, now));
        if self.0.len() as u64 >= JOBS_REMEMBERED.value {
            self.0.remove(0);
        }
        self.0.push((job, now));
        let (count, max) = (self.0.len() as u64, JOBS_REMEMBERED.value);
        assert!(count <= max, "{count} jobs are remembered, and {max} may be");
    }

    /// Returns the list from the row of a session. Entries beyond the bound are left out, the oldest first.
    pub(super) fn of_row(mut jobs: Vec<(JobId, Moment)>) -> ReadyJobs {
        let most = usize::try_from(JOBS_REMEMBERED.value).unwrap_or(usize::MAX);
        jobs.drain(..jobs.len().saturating_sub(most));
        ReadyJobs(jobs)
    }

    /// Returns the jobs with the time of their last report, oldest first.
    pub(super) fn to_row(&self) -> Vec<(JobId, Moment)> {
        self.0.clone()
    }

    /// Returns whether a job was reported as ready within the last `limits::JOB_REMEMBERED_MS`.
    pub(super) fn has(&self, job: &JobId, now: Moment) -> bool {
        self.0.iter().any(|(other, at)| other == job && is_fresh(*at, now))
    }

    /// Returns whether a job was last reported as ready at this moment or later.
    pub(super) fn has_since(&self, job: &JobId, since: Moment) -> bool {
        self.0.iter().any(|(other, at)| other == job && *at >= since)
    }
}

fn is_fresh(at: Moment, now: Moment) -> bool {
    now.since(at).millis() < JOB_REMEMBERED_MS.value
}

#[cfg(test)]
mod tests {
    use super::ReadyJobs;
    use crate::domain::{JobId, Moment};
    use crate::limits::{JOB_REMEMBERED_MS, JOBS_REMEMBERED};

    #[test]
    fn a_job_is_remembered_for_a_while_and_the_oldest_makes_room() {
        let at = |seconds: u64| Moment::new(seconds.cast_signed(), 0).expect("within the calendar");
        let job = |number: u64| JobId::new(&format!("job-{number}")).expect("an id");
        let while_seconds = JOB_REMEMBERED_MS.value / 1_000;
        let mut jobs = ReadyJobs::default();
        for number in 0..=JOBS_REMEMBERED.value {
            jobs.note(job(number), at(number));
        }
        let last = JOBS_REMEMBERED.value;
        assert!(!jobs.has(&job(0), at(last)), "the oldest has made room");
        assert!(jobs.has(&job(1), at(while_seconds)) && !jobs.has(&job(1), at(while_seconds + 1)));
        jobs.note(job(1), at(last));
        assert!(jobs.has(&job(1), at(while_seconds + 1)), "ready again, and the last word counts");
        assert!(jobs.has(&job(2), at(0)), "a clock that is set back makes nobody forget");
    }
}

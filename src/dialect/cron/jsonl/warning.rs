//! Warnings about odd lines of the log.
//!
//! Invariant: a warning names the file and the line, and contains at most an echo of the line.

use crate::domain::{ScheduleId, names};
use crate::limits;

names! {
    /// One of the two files.
    File {
        /// The events of jobs.
        Jobs = "jobs.jsonl",
        /// The events of runs.
        Runs = "runs.jsonl",
    }
}

/// The warnings about a file, of which only the first `limits::PAGE_ROWS` are retained: in a file of another program every line
/// may be odd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundedWarnings<T> {
    /// The warnings, in the order of the lines.
    pub list: Vec<T>,
    /// The number of further warnings.
    pub(crate) left_off: u64,
}

impl<T> Default for BoundedWarnings<T> {
    fn default() -> Self {
        BoundedWarnings { list: Vec::new(), left_off: 0 }
    }
}

impl<T> BoundedWarnings<T> {
    pub(crate) fn add(&mut self, warning: T) {
        if (self.list.len() as u64) < limits::PAGE_ROWS.value {
            self.list.push(warning);
        } else {
            self.left_off += 1;
        }
    }
}

/// A line that was ignored, or applied with reservations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} line {line}: {oddity}", file.name())]
pub struct LineWarning {
    /// The file.
    pub(crate) file: File,
    /// The line number, from 1.
    pub line: u64,
    /// What is odd about the line.
    pub oddity: Oddity,
}

/// What can be odd about a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Oddity {
    /// The line is not an event.
    #[error("passed over, because it is no event: {fault}")]
    Malformed {
        /// Why it is not an event.
        fault: Box<str>,
    },
    /// The last line has no line break and is not an event: an append was cut off.
    #[error("passed over, because its end is missing: an append was cut off")]
    Torn,
    /// The type of the event is unknown.
    #[error("passed over, because no event is of the type {given}")]
    UnknownType {
        /// The type.
        given: Box<str>,
    },
    /// An earlier event has the same id.
    #[error("passed over, because the event {event_id} came before")]
    Repeated {
        /// The id.
        event_id: Box<str>,
    },
    /// It creates an existing job.
    #[error("passed over, because there is a job {job_id}")]
    Exists {
        /// The job's id.
        job_id: ScheduleId,
    },
    /// It concerns a deleted job.
    #[error("passed over, because the job {job_id} was deleted")]
    Deleted {
        /// The job's id.
        job_id: ScheduleId,
    },
    /// It changes a job to a revision that was already reached.
    #[error("passed over, because the job {job_id} was at revision {current}, and this is {revision}")]
    Stale {
        /// The job's id.
        job_id: ScheduleId,
        /// The revision of the line.
        revision: u64,
        /// The current revision.
        current: u64,
    },
    /// It skips revisions.
    #[error("taken, although revisions of the job {job_id} between {current} and {revision} are missing")]
    Gap {
        /// The job's id.
        job_id: ScheduleId,
        /// The revision of the line.
        revision: u64,
        /// The current revision.
        current: u64,
    },
    /// It changes a job whose creation is missing.
    #[error("taken, although the creation of the job {job_id} is missing")]
    Uncreated {
        /// The job's id.
        job_id: ScheduleId,
    },
    /// It is a run of an unknown job.
    #[error("passed over, because there is no job {job_id}")]
    NoJob {
        /// The job's id.
        job_id: ScheduleId,
    },
}

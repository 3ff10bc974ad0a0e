//! What is odd about a line of the log.
//!
//! Invariant: a warning names file and line, and holds no more of a line than an echo.

use crate::domain::{ScheduleId, names};

names! {
    /// One of the two files.
    File {
        /// The events of jobs.
        Jobs = "jobs.jsonl",
        /// The events of runs.
        Runs = "runs.jsonl",
    }
}

/// One line that was passed over, or taken with reservations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} line {line}: {oddity}", file.name())]
pub struct LineWarning {
    /// In which file.
    pub file: File,
    /// Which line, from 1.
    pub line: u64,
    /// What is odd about it.
    pub oddity: Oddity,
}

/// What can be odd about a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Oddity {
    /// It is no event.
    #[error("passed over, because it is no event: {fault}")]
    Malformed {
        /// What is wrong with it.
        fault: Box<str>,
    },
    /// It is the last one, without its end, and no event: an append was cut off.
    #[error("passed over, because its end is missing: an append was cut off")]
    Torn,
    /// Its type is none that is known.
    #[error("passed over, because no event is of the type {given}")]
    UnknownType {
        /// Its type.
        given: Box<str>,
    },
    /// An event of the same id came before.
    #[error("passed over, because the event {event_id} came before")]
    Repeated {
        /// The id.
        event_id: Box<str>,
    },
    /// It creates a job that is there.
    #[error("passed over, because there is a job {job_id}")]
    Exists {
        /// Which job.
        job_id: ScheduleId,
    },
    /// It is about a job that was deleted.
    #[error("passed over, because the job {job_id} was deleted")]
    Deleted {
        /// Which job.
        job_id: ScheduleId,
    },
    /// It changes a job to a revision that was reached before.
    #[error("passed over, because the job {job_id} was at revision {current}, and this is {revision}")]
    Stale {
        /// Which job.
        job_id: ScheduleId,
        /// The revision of the line.
        revision: u64,
        /// The revision reached.
        current: u64,
    },
    /// It leaves out revisions.
    #[error("taken, although revisions of the job {job_id} between {current} and {revision} are missing")]
    Gap {
        /// Which job.
        job_id: ScheduleId,
        /// The revision of the line.
        revision: u64,
        /// The revision reached.
        current: u64,
    },
    /// It changes a job whose creation is missing.
    #[error("taken, although the creation of the job {job_id} is missing")]
    Uncreated {
        /// Which job.
        job_id: ScheduleId,
    },
    /// It is a run of a job that is not there.
    #[error("passed over, because there is no job {job_id}")]
    NoJob {
        /// Which job.
        job_id: ScheduleId,
    },
}

//! The engine's jobs as the two files: what another program of the same kind can read.
//!
//! Does not live here: writing files (`app`). Invariant: what is written here replays to the same jobs. A job's history is
//! not kept by the engine: each has one line with its present revision, and the runs that are in memory.

use super::event::{JobEvent, JobLine, RunEvent, RunLine};
use crate::dialect::cron::id::event_id;
use crate::dialect::cron::job::RunStatus;
use crate::dialect::cron::view::{View, error};
use crate::domain::{Dialect, Entropy, Moment, RunState};
use crate::engine::{ScheduleRecord, State};

/// The texts of the two files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// `jobs.jsonl`.
    pub jobs: String,
    /// `runs.jsonl`.
    pub runs: String,
    /// What the files have no words for, one line each.
    pub left_out: Vec<String>,
}

/// All jobs that are kept, deleted ones with their tombstones, and their runs. `draw` is used up by the ids of events.
pub fn export(state: &State, now: Moment, mut draw: impl FnMut() -> Entropy) -> Files {
    let records = state.schedules().into_iter().filter(|record| record.schedule().dialect == Dialect::Cron);
    let (mut files, mut runs) = (Files::default(), Vec::new());
    for record in records {
        let Some(View { job, .. }) = View::of(state, record) else {
            let id = &record.schedule().id;
            files.left_out.push(format!("{id}: these files have no words for when it runs or where it goes"));
            continue;
        };
        let (job_id, revision, created_at) = (job.id.clone(), job.revision, job.created_at);
        let mut line = |timestamp: Moment, event: JobEvent| {
            let event_id = event_id(timestamp, draw()).into();
            JobLine { event_id, timestamp, event }.print(&mut files.jobs);
        };
        line(created_at, JobEvent::Created(Box::new(job)));
        if record.is_called_off() {
            line(now, JobEvent::Deleted { job_id, base_revision: revision, revision: revision + 1 });
        }
        runs.extend(events_of(state, record));
    }
    // Stable, so that a run that began and ended at one moment began first.
    runs.sort_by_key(|(timestamp, ..)| *timestamp);
    for (timestamp, run_id, job_id, event) in runs {
        let event_id = event_id(timestamp, draw()).into();
        RunLine { event_id, timestamp, run_id, job_id, event }.print(&mut files.runs);
    }
    files
}

type Event = (Moment, Box<str>, crate::domain::ScheduleId, RunEvent);

/// What happened to the runs of a job, oldest first.
fn events_of(state: &State, record: &ScheduleRecord) -> Vec<Event> {
    let job_id = &record.schedule().id;
    let event = |at: Moment, run: String, event| (at, Box::<str>::from(run), job_id.clone(), event);
    let mut runs: Vec<_> = state.runs_of(record).map(|(_, run)| run).collect();
    runs.reverse();
    let mut events = Vec::new();
    for (run, id) in runs.into_iter().filter_map(|run| Some((run.run(), state.run_id(run)?))) {
        events.push(event(run.claimed_at, id.to_string(), RunEvent::Started { scheduled_for: run.slot }));
        if let Some(ended_at) = run.ended_at {
            let is_ok = run.state == RunState::Delivered;
            let status = if is_ok { RunStatus::Ok } else { RunStatus::Error };
            let session_id = run.session.as_ref().map(|session| session.as_str().into());
            let finished = RunEvent::Finished { status, session_id, error: error(run) };
            events.push(event(ended_at, id.to_string(), finished));
        }
    }
    // When a slot was skipped is not kept; it was not before it came.
    if let Some((slot, reason)) = record.course().last_skip {
        let skipped = RunEvent::Skipped { scheduled_for: slot, reason: reason.doc().into() };
        events.push(event(slot, record.run_id(slot).to_string(), skipped));
    }
    events
}

//! Prints the engine's jobs as the two files, for other programs that read this format.
//!
//! Writing the files is up to `app`. Invariant: the text replays to equal jobs. The engine does not retain the
//! history of a job, so each job has one creation line with its present revision, and the runs that are in memory.

use super::event::{JobEvent, JobLine, RunEvent, RunLine};
use crate::dialect::cron::id::event_id;
use crate::dialect::cron::job::RunStatus;
use crate::dialect::cron::view::{JobView, error};
use crate::domain::{Dialect, Entropy, Moment, RunState};
use crate::engine::{ScheduleRecord, State};

/// The texts of the two files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// `jobs.jsonl`.
    pub jobs: String,
    /// `runs.jsonl`.
    pub runs: String,
    /// What the files cannot express, one line each.
    pub left_out: Vec<String>,
}

/// Prints all retained jobs and their runs; deleted jobs get a tombstone. `draw` provides the randomness for the ids
/// of events.
pub fn export(state: &State, now: Moment, mut draw: impl FnMut() -> Entropy) -> Files {
    let records = state.schedules().into_iter().filter(|record| record.schedule().dialect == Dialect::Cron);
    let (mut files, mut runs) = (Files::default(), Vec::new());
    for record in records {
        let Some(JobView { job, .. }) = JobView::of(state, record) else {
            let id = &record.schedule().id;
            files.left_out.push(format!("{id}: these files have no words for when it runs or where it goes"));
            continue;
        };
        let (job_id, revision, created_at) = (job.id.clone(), job.revision, job.created_at);
        let mut line = |timestamp: Moment, event: JobEvent| {
            let event_id = event_id(timestamp, draw()).into();
            JobLine { event_id, timestamp, event }.print(&mut files.jobs);
        };
        // One creation line holds the present definition: the earlier revisions are not retained.
        line(created_at, JobEvent::Created(Box::new(job)));
        // A deleted job is exported with its tombstone, so that a reader with older files does not revive it.
        if record.is_cancelled() {
            // In the seed's code a deletion is a revision as well.
            line(now, JobEvent::Deleted { job_id, base_revision: revision, revision: revision + 1 });
        }
        runs.extend(events_of(state, record));
    }
    // The sort is stable, so a run that began and ended at one instant still begins first.
    runs.sort_by_key(|(timestamp, ..)| *timestamp);
    for (timestamp, run_id, job_id, event) in runs {
        let event_id = event_id(timestamp, draw()).into();
        RunLine { event_id, timestamp, run_id, job_id, event }.print(&mut files.runs);
    }
    files
}

type Event = (Moment, Box<str>, crate::domain::ScheduleId, RunEvent);

/// The events of a job's runs, oldest first.
fn events_of(state: &State, record: &ScheduleRecord) -> Vec<Event> {
    let job_id = &record.schedule().id;
    let event = |at: Moment, run: String, event| (at, Box::<str>::from(run), job_id.clone(), event);
    let mut runs: Vec<_> = state.runs_of(record).map(|(_, run)| run).collect();
    // The engine lists the newest run first.
    runs.reverse();
    let mut events = Vec::new();
    for (run, id) in runs.into_iter().filter_map(|run| Some((run.run(), state.run_id(run)?))) {
        events.push(event(run.claimed_at, id.to_string(), RunEvent::Started { scheduled_for: run.slot }));
        if let Some(ended_at) = run.ended_at {
            // The seed has no word for a cancelled run, so that is an error too.
            let is_ok = run.state == RunState::Delivered;
            let status = if is_ok { RunStatus::Ok } else { RunStatus::Error };
            let session_id = run.session.as_ref().map(|session| session.as_str().into());
            let finished = RunEvent::Finished { status, session_id, error: error(run) };
            events.push(event(ended_at, id.to_string(), finished));
        }
    }
    // The engine does not record when it skipped a slot. The slot itself is the earliest possible time.
    if let Some((slot, reason)) = record.progress().last_skip {
        let skipped = RunEvent::Skipped { scheduled_for: slot, reason: reason.doc().into() };
        events.push(event(slot, record.run_id(slot).to_string(), skipped));
    }
    events
}

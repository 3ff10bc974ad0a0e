//! Prints the answers to calls that succeeded, in the seed's shape.
//!
//! Errors are in `error.rs`, the shape of a job in `job.rs`. Invariant: every key of the seed's shape is printed; the
//! added keys come last. Instants are told to the second; the files of `jsonl` have them exactly.

use super::job::{Job, JobState};
use super::next_runs::{self, NextRuns};
use super::policy::{MissedRun, Overlap};
use super::view::JobView;
use crate::calendar::Zones;
use crate::dialect::{Answer, PageRequest, brief};
use crate::domain::{Moment, RunId, ScheduleId};
use crate::edn::{Map, Value};

/// The answer to a successful `cron_create`.
pub fn created(job: &Job, next_runs: &NextRuns) -> Answer {
    changed("created", job, next_runs)
}

/// The answer to a successful `cron_update`.
pub fn updated(job: &Job, next_runs: &NextRuns) -> Answer {
    changed("updated", job, next_runs)
}

/// The answer to a successful `cron_pause`.
pub fn paused(job: &Job) -> Answer {
    changed("paused", job, &NextRuns::default())
}

/// The answer to a successful `cron_resume`.
pub fn resumed(job: &Job, next_runs: &NextRuns) -> Answer {
    changed("resumed", job, next_runs)
}

/// The answer to a successful `cron_delete`.
pub fn deleted(job_id: &ScheduleId) -> Answer {
    Answer::done(Map::new().with("status", Value::keyword("deleted")).with("job_id", job_id.to_string()))
}

/// The answer to a `cron_get` for an existing job: the whole of it.
pub fn got(view: &JobView, zones: &Zones) -> Answer {
    // The seed's answer has no warnings, so the key appears only with one.
    let warning = next_runs::warning(&view.job.schedule, zones);
    let map = Map::new()
        .with("job", brief_job(&view.job).to_map())
        .with("state", brief_state(&view.state).to_map());
    Answer::whole(map.with_some("warnings", warning.map(|warning| vec![warning.to_string().into()])))
}

/// The answer to a `cron_list`. Jobs without a next run come first, the others in the order of their next run; ties
/// are ordered by name and id. To the given warnings it adds one for each job whose zone is read as local time. The present
/// time is said twice, as in the seed's CURRENT TIME block: a model reckons with the user's clock.
pub fn listed(
    mut views: Vec<JobView>,
    (include_disabled, page): (bool, &PageRequest),
    (zones, now): (&Zones, Moment),
    mut warnings: Vec<String>,
) -> Answer {
    // Before the warnings are collected: hidden jobs cause none.
    views.retain(|view| include_disabled || view.job.enabled);
    views.sort_by(|a, b| {
        // `None` sorts before every instant.
        let key = |view: &JobView| view.state.next_run_at;
        let by_name = || (&a.job.name, &a.job.id).cmp(&(&b.job.name, &b.job.id));
        key(a).cmp(&key(b)).then_with(by_name)
    });
    for view in &views {
        let warning = next_runs::warning(&view.job.schedule, zones);
        warnings.extend(warning.map(|warning| format!("{}: {warning}", view.job.id)));
    }
    let id = |view: &JobView| view.job.id.to_string();
    match page.put(Map::new(), "jobs", &views, (id, row)) {
        Ok(map) => {
            let warnings: Vec<Value> = warnings.into_iter().map(Value::from).collect();
            let map = map.with("warnings", warnings).with("utc_now", brief::instant(now));
            Answer::done(map.with("local_now", &*zones.dated(zones.usual(None), now)))
        }
        Err(answer) => answer,
    }
}

/// A job of a list: its texts by their beginnings.
fn row(view: &JobView) -> Value {
    let short = |text: Box<str>| brief::text(&text).into();
    let job = brief_job(&view.job);
    let job = Job {
        name: short(job.name),
        description: job.description.map(short),
        prompt: short(job.prompt),
        ..job
    };
    let state = brief_state(&view.state);
    let state = JobState { last_error: state.last_error.map(short), ..state };
    Map::new().with("job", job.to_map()).with("state", state.to_map()).into()
}

fn brief_job(job: &Job) -> Job {
    let (created_at, updated_at) = (job.created_at.brief(), job.updated_at.brief());
    Job { schedule: job.schedule.clone().brief(), created_at, updated_at, ..job.clone() }
}

fn brief_state(state: &JobState) -> JobState {
    let brief = |moment: Option<Moment>| moment.map(Moment::brief);
    JobState {
        next_run_at: brief(state.next_run_at),
        last_scheduled_for: brief(state.last_scheduled_for),
        last_started_at: brief(state.last_started_at),
        last_finished_at: brief(state.last_finished_at),
        running_run_id: state.running_run_id.as_deref().map(|id| RunId::brief_of(id).into()),
        ..state.clone()
    }
}

fn changed(status: &str, job: &Job, next_runs: &NextRuns) -> Answer {
    let note = next_runs.overdue.map(|slot| {
        let slot = slot.brief();
        let done = match (job.policy.missed_run, job.policy.overlap) {
            (MissedRun::Skip, _) => "is skipped",
            (MissedRun::RunOnce, Overlap::Skip) if next_runs.is_running => {
                "is skipped: an earlier run has not ended"
            }
            (MissedRun::RunOnce, _) => "is made up for now",
        };
        format!("The run of {slot} has been missed, and {done}.")
    });
    let map = Map::new().with("status", Value::keyword(status)).with("job", brief_job(job).to_map());
    let runs: Vec<Value> = next_runs.next_runs.iter().copied().map(brief::instant).collect();
    let map = map.with_some("next_runs", (!runs.is_empty()).then_some(runs));
    let map = map.with_some("zone", next_runs.zone.as_ref().map(ToString::to_string));
    let map = map.with_some("note", note);
    Answer::done(map.with_some("warnings", next_runs.warnings()))
}

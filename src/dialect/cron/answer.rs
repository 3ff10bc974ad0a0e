//! Prints the answers to calls that succeeded, in the seed's shape.
//!
//! Errors are in `error.rs`, the shape of a job in `job.rs`. Invariant: every key of the seed's shape is printed; the
//! added keys `next_runs`, `zone` and `warnings` come last.

use super::job::Job;
use super::next_runs::{self, NextRuns};
use super::shape::{instant, with_some};
use super::view::JobView;
use crate::calendar::Zones;
use crate::dialect::Answer;
use crate::domain::ScheduleId;
use crate::edn::{Map, Value};

/// The answer to a successful `cron_create`.
pub fn created(job: &Job, outlook: &NextRuns) -> Answer {
    changed("created", job, outlook)
}

/// The answer to a successful `cron_update`.
pub fn updated(job: &Job, outlook: &NextRuns) -> Answer {
    changed("updated", job, outlook)
}

/// The answer to a successful `cron_pause`.
pub fn paused(job: &Job) -> Answer {
    changed("paused", job, &NextRuns::default())
}

/// The answer to a successful `cron_resume`.
pub fn resumed(job: &Job, outlook: &NextRuns) -> Answer {
    changed("resumed", job, outlook)
}

/// The answer to a successful `cron_delete`.
pub fn deleted(job_id: &ScheduleId) -> Answer {
    Answer::done(Map::new().with("status", Value::keyword("deleted")).with("job_id", job_id.to_string()))
}

/// The answer to a `cron_get` for an existing job.
pub fn got(view: &JobView, zones: &Zones) -> Answer {
    // The seed's answer has no warnings, so the key appears only with one.
    let warning = next_runs::warning(&view.job.schedule, zones);
    Answer::done(with_some(
        of_view(view),
        "warnings",
        warning.map(|warning| vec![warning.to_string().into()]),
    ))
}

/// The answer to a `cron_list`. Jobs without a next run come first, the others in the order of their next run; ties
/// are ordered by name and id. To the given warnings it adds one for each job whose zone is read as local time.
pub fn listed(
    mut views: Vec<JobView>,
    include_disabled: bool,
    zones: &Zones,
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
    let jobs: Vec<Value> = views.iter().map(|view| of_view(view).into()).collect();
    let warnings: Vec<Value> = warnings.into_iter().map(Value::from).collect();
    Answer::done(Map::new().with("jobs", jobs).with("warnings", warnings))
}

fn of_view(view: &JobView) -> Map {
    Map::new().with("job", view.job.to_map()).with("state", view.state.to_map())
}

fn changed(status: &str, job: &Job, outlook: &NextRuns) -> Answer {
    let map = Map::new().with("status", Value::keyword(status)).with("job", job.to_map());
    let runs: Vec<Value> = outlook.next_runs.iter().copied().map(instant).collect();
    let map = with_some(map, "next_runs", (!runs.is_empty()).then_some(runs));
    let map = with_some(map, "zone", outlook.zone.as_ref().map(ToString::to_string));
    Answer::done(with_some(map, "warnings", outlook.warnings()))
}

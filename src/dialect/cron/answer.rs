//! The answers to calls that were carried out, in the seed's shape.
//!
//! What lives elsewhere: errors (`error.rs`), the shape of a job (`job.rs`). Invariant: nothing of the seed's shape is
//! left out; what is added, `next_runs` and `warnings`, stands behind it.

use super::job::Job;
use super::outlook::{self, Outlook};
use super::shape::{instant, with_some};
use super::view::View;
use crate::calendar::Zones;
use crate::dialect::Answer;
use crate::domain::ScheduleId;
use crate::edn::{Map, Value};

/// The answer to a `cron_create` that was carried out.
pub fn created(job: &Job, outlook: &Outlook) -> Answer {
    changed("created", job, outlook)
}

/// The answer to a `cron_update` that was carried out.
pub fn updated(job: &Job, outlook: &Outlook) -> Answer {
    changed("updated", job, outlook)
}

/// The answer to a `cron_pause` that was carried out.
pub fn paused(job: &Job) -> Answer {
    changed("paused", job, &Outlook::default())
}

/// The answer to a `cron_resume` that was carried out.
pub fn resumed(job: &Job, outlook: &Outlook) -> Answer {
    changed("resumed", job, outlook)
}

/// The answer to a `cron_delete` that was carried out.
pub fn deleted(job_id: &ScheduleId) -> Answer {
    Answer::done(Map::new().with("status", Value::keyword("deleted")).with("job_id", job_id.to_string()))
}

/// The answer to a `cron_get` of a job that is there.
pub fn got(view: &View, zones: &Zones) -> Answer {
    let warning = outlook::warning(&view.job.schedule, zones);
    Answer::done(with_some(
        of_view(view),
        "warnings",
        warning.map(|warning| vec![warning.to_string().into()]),
    ))
}

/// The answer to a `cron_list`: first the jobs that do not run again, then by the next run; then by name and id. Beside
/// the warnings given, there is one for each job whose zone is read as local time.
pub fn listed(
    mut views: Vec<View>,
    include_disabled: bool,
    zones: &Zones,
    mut warnings: Vec<String>,
) -> Answer {
    views.retain(|view| include_disabled || view.job.enabled);
    views.sort_by(|a, b| {
        let key = |view: &View| view.state.next_run_at;
        let by_name = || (&a.job.name, &a.job.id).cmp(&(&b.job.name, &b.job.id));
        key(a).cmp(&key(b)).then_with(by_name)
    });
    for view in &views {
        let warning = outlook::warning(&view.job.schedule, zones);
        warnings.extend(warning.map(|warning| format!("{}: {warning}", view.job.id)));
    }
    let jobs: Vec<Value> = views.iter().map(|view| of_view(view).into()).collect();
    let warnings: Vec<Value> = warnings.into_iter().map(Value::from).collect();
    Answer::done(Map::new().with("jobs", jobs).with("warnings", warnings))
}

fn of_view(view: &View) -> Map {
    Map::new().with("job", view.job.to_map()).with("state", view.state.to_map())
}

fn changed(status: &str, job: &Job, outlook: &Outlook) -> Answer {
    let map = Map::new().with("status", Value::keyword(status)).with("job", job.to_map());
    let runs: Vec<Value> = outlook.next_runs.iter().copied().map(instant).collect();
    let map = with_some(map, "next_runs", (!runs.is_empty()).then_some(runs));
    let warnings = outlook.warning.as_ref().map(|warning| vec![Value::from(warning.to_string())]);
    Answer::done(with_some(map, "warnings", warnings))
}

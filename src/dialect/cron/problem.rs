//! The answers to calls that were refused: what is wrong, where, with which value, and a call that would be right.
//!
//! What lives elsewhere: the faults of single fields (`fault.rs`). Invariant: an error is data first; its message is made
//! of it, and each error has a hint. A job that is not there is no error where somebody only looks or deletes.

use super::example::example;
use super::fault::{Fault, Problem};
use super::fields::{instant, integer};
use super::schedule::Schedule;
use super::tool::Tool;
use crate::dialect::{Answer, echo};
use crate::domain::{Code, Entropy, Moment, Refusal, ScheduleId};
use crate::edn::{Map, Value};

/// The answer to a call with a fault; `job_id` is what the call names, if that could be a job.
pub(super) fn answer(tool: Tool, problem: &Problem, job_id: Option<&ScheduleId>) -> Answer {
    let code = if matches!(problem.fault, Fault::TooLong { .. }) { Code::Limit } else { Code::Validation };
    let mut error = head(problem.kind(), code, &problem.message());
    if !problem.field.is_empty() {
        error = error.with("field", &*problem.field);
    }
    if let Some(value) = &problem.value {
        error = error.with("value", value.clone());
    }
    let mut example = example(tool, &problem.field);
    if let Some(job_id) = job_id {
        example = example.with("job_id", job_id.to_string());
    }
    finish(error.with("hint", problem.hint()).with("example", example), code)
}

/// The answer to a change that was made for another revision than the current one.
pub fn conflict(tool: Tool, job_id: &ScheduleId, current: u64, base: u64) -> Answer {
    let message = format!("{job_id} is at revision {current}, and the change was made for revision {base}");
    let hint = format!(
        "somebody else changed the job: look at it with cron_get, then call again with base_revision {current}"
    );
    let example =
        example(tool, "").with("job_id", job_id.to_string()).with("base_revision", integer(current));
    let error = head("revision_conflict", Code::Conflict, &message)
        .with("job_id", job_id.to_string())
        .with("current_revision", integer(current))
        .with("base_revision", integer(base))
        .with("hint", hint)
        .with("example", example);
    finish(error, Code::Conflict)
}

/// The answer to a call about a job that is not there: an ordinary one where somebody looks or deletes, because then
/// nothing is left to be done; else an error.
pub fn not_found(tool: Tool, job_id: &ScheduleId) -> Answer {
    missing(tool, &job_id.to_string())
}

pub(super) fn missing(tool: Tool, job_id: &str) -> Answer {
    let job_id = echo(&job_id.into());
    match tool {
        Tool::Get | Tool::Delete => {
            let value = Map::new().with("status", Value::keyword("not_found")).with("job_id", job_id);
            Answer::done(value)
        }
        Tool::Create | Tool::List | Tool::Update | Tool::Pause | Tool::Resume => {
            let text = job_id.as_str().unwrap_or_default();
            let error = head("job_not_found", Code::NotFound, &format!("there is no job {text}"))
                .with("field", "job_id")
                .with("value", job_id.clone())
                .with("hint", "list the jobs with cron_list to see the ids that exist");
            finish(error, Code::NotFound)
        }
    }
}

/// The answer to an update with a schedule that a job created at that moment would never follow.
pub fn never_due(tool: Tool, schedule: &Schedule, created_at: Moment) -> Answer {
    let path = if tool == Tool::Update { "patch.schedule" } else { "schedule" };
    answer(tool, &never_due_at(path, schedule, created_at), None)
}

pub(super) fn never_due_at(path: &str, schedule: &Schedule, not_before: Moment) -> Problem {
    let problem = |field: &str| Problem::new(field, Fault::NeverDue { not_before });
    match schedule {
        Schedule::Once { at } => problem(&format!("{path}.at")).with(&instant(*at)),
        Schedule::Interval { .. } | Schedule::Daily { .. } | Schedule::Weekly { .. } => problem(path),
    }
}

/// The answer to a call that the engine refused.
pub fn refused(refusal: &Refusal) -> Answer {
    let code = refusal.code();
    let error =
        head(&refusal.name().replace('-', "_"), code, &refusal.to_string()).with("hint", refusal.hint());
    finish(error, code)
}

fn head(kind: &str, code: Code, message: &str) -> Map {
    Map::new().with("kind", Value::keyword(kind)).with("class", code.name()).with("message", message)
}

fn finish(error: Map, code: Code) -> Answer {
    Answer::refused(Map::new().with("status", Value::keyword("error")).with("error", error), code)
}

/// Every error of the tools themselves, with its name, its class and an example, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let entry = |(name, answer): (&'static str, Answer)| {
        let error = answer.value.as_map().and_then(|map| map.keyword("error")).cloned();
        (name, answer.code.unwrap_or(Code::Validation), error.unwrap_or(Value::Nil))
    };
    let faults = Problem::samples().into_iter().map(|problem| {
        let tool = if problem.field.starts_with("patch") { Tool::Update } else { Tool::Create };
        (problem.kind(), answer(tool, &problem, None))
    });
    let job_id = ScheduleId::random(Entropy([0; 16]));
    let of_jobs = [
        ("revision_conflict", conflict(Tool::Pause, &job_id, 3, 2)),
        ("job_not_found", not_found(Tool::Pause, &job_id)),
    ];
    faults.chain(of_jobs).map(entry).collect()
}

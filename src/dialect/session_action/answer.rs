//! Prints the answers to calls that succeeded. What is said in the sentence is not said again as data.
//!
//! Errors are in `error.rs`, the shape of an action in `action.rs`.

use super::action::Action;
use crate::dialect::{Answer, PageRequest};
use crate::domain::{JobId, ScheduleId};
use crate::edn::{Map, Value};
use crate::engine::length;

/// The answer to a `create`. `supported` is true if the session can be reached right now, and `warning` says what becomes of
/// the action if nobody can be; `replaced` is the action that had the same key.
pub fn created(
    action: &Action,
    (supported, warning): (bool, Option<String>),
    replaced: Option<&ScheduleId>,
) -> Answer {
    let late = action.late.map(|late| format!(", which was {} ago: it runs at once", length(late)));
    let late = late.unwrap_or_default();
    let map = head("created", &format!("Delayed action scheduled for {}{late}", action.due()));
    let map = map.with("actionId", action.id.to_string());
    let map = map.with_some("replaced", replaced.map(ToString::to_string));
    // Only a session that cannot be reached is worth a word.
    let answer = Answer::done(if supported { map } else { map.with("proactiveDeliverySupportedNow", false) });
    answer.warned("warnings", warning)
}

/// The answer to a `list`: one page.
pub fn listed(actions: &[Action], page: &PageRequest) -> Answer {
    let message = format!("Found {} delayed actions", actions.len());
    let id = |action: &Action| action.id.to_string();
    let row = |action: &Action| action.to_map().into();
    page.put(head("ok", &message), "actions", actions, (id, row)).map_or_else(|answer| answer, Answer::done)
}

/// The answer to a `cancel`.
pub fn cancelled(action_id: &ScheduleId) -> Answer {
    of_one("cancelled", "Delayed action cancelled", action_id)
}

/// The answer to a `run_now`.
pub fn started(action_id: &ScheduleId) -> Answer {
    of_one("scheduled", "Delayed action runs now", action_id)
}

/// The answer to a `report_job_ready`.
pub fn ready(job: &JobId, is_awaited: bool) -> Answer {
    // A misspelt id must not look like a success.
    let rest = if is_awaited { "" } else { "; nothing waits for it yet" };
    Answer::done(head("ok", &format!("The job {job} is ready{rest}")).with("jobId", job.as_str()))
}

fn of_one(status: &str, message: &str, action_id: &ScheduleId) -> Answer {
    Answer::done(head(status, message).with("actionId", action_id.to_string()))
}

fn head(status: &str, message: &str) -> Map {
    Map::new().with("status", Value::keyword(status)).with("message", message)
}

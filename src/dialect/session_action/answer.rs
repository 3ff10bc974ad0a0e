//! Prints the answers to calls that succeeded: a sentence, and its content as data under the seed's names.
//!
//! Errors are in `error.rs`, the shape of an action in `action.rs`.

use super::action::Action;
use crate::dialect::Answer;
use crate::domain::{JobId, ScheduleId};
use crate::edn::{Map, Value};
use crate::engine::length;

/// The answer to a `create`. `supported` is true if the session can be reached right now.
pub fn created(action: &Action, supported: bool) -> Answer {
    let late = action.late.map(|late| format!(", which was {} ago: it runs at once", length(late)));
    let message =
        format!("Delayed action scheduled for {}{}", action.next_check_label, late.unwrap_or_default());
    let map = head("created", &message);
    // The action's own `status` would replace that of the answer, so that is set again at the end.
    let map = map.into_iter().chain(action.to_map("actionId")).filter(|(key, _)| !is_of_lists(key));
    let run_at = action.run_at.map(|run_at| Value::string(run_at.to_string()));
    let map: Map = map.collect();
    let map = match run_at {
        Some(run_at) => map.with("resolvedRunAt", run_at),
        None => map,
    };
    Answer::done(
        map.with("proactiveDeliverySupportedNow", supported).with("status", Value::keyword("created")),
    )
}

/// The answer to a `list`.
pub fn listed(actions: &[Action]) -> Answer {
    let items: Vec<Value> = actions.iter().map(|action| action.to_map("id").into()).collect();
    let message = format!("Found {} delayed actions", actions.len());
    Answer::done(head("ok", &message).with("actions", items))
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
pub fn ready(job: &JobId) -> Answer {
    Answer::done(head("ok", &format!("The job {job} is ready")).with("jobId", job.as_str()))
}

fn of_one(status: &str, message: &str, action_id: &ScheduleId) -> Answer {
    Answer::done(head(status, message).with("actionId", action_id.to_string()))
}

fn head(status: &str, message: &str) -> Map {
    Map::new().with("status", Value::keyword(status)).with("message", message)
}

/// True for the keys that only a list shows: a creation names the time `resolvedRunAt`, and has no attempts yet.
fn is_of_lists(key: &Value) -> bool {
    key.as_keyword().is_some_and(|key| ["runAt", "attempts"].contains(&key.as_str()))
}

//! Prints the answers to calls that succeeded.
//!
//! Attributes of the graph get bare names in snake case, and nil is left out, because a model pays for every word.
//! Errors are in `error.rs`.

use crate::dialect::Answer;
use crate::domain::{Durability, Moment, Status};
use crate::edn::{Keyword, Map, Value};

/// The answer to a `create`: the result of the mutation, and the schedule as it is now.
pub fn created(made: &Map, schedule: &Map) -> Answer {
    // False if a schedule with the same key existed already; then the call changed nothing.
    let is_new = made.keyword("psi.scheduler/created?").and_then(Value::as_bool).unwrap_or(true);
    let mut answer = Map::new().with("created", is_new);
    if !is_new {
        answer = answer.with("note", "This was asked for already under the same key; nothing was added.");
    }
    Answer::done(told(answer, made, schedule))
}

/// The answer to an `update`: the result of the mutation, and the schedule as it is now.
pub fn updated(made: &Map, schedule: &Map) -> Answer {
    Answer::done(told(Map::new().with("updated", true), made, schedule))
}

/// The answer to a `cancel`.
pub fn cancelled(schedule: &str) -> Answer {
    Answer::done(Map::new().with("cancelled", true).with("schedule_id", schedule))
}

/// The answer to a `list`: one page of schedules.
pub fn listed(page: &Map) -> Answer {
    let part = |name: &str| page.keyword(&format!("reveille.schedule-page/{name}"));
    let rows = part("schedules").and_then(Value::as_items).unwrap_or_default();
    let rows: Vec<Value> = rows.iter().map(bare).collect();
    let mut answer = Map::new()
        .with("schedules", rows)
        .with("total", part("total-count").cloned().unwrap_or(Value::Int(0)));
    // No cursor on the last page, so that a model does not ask for an empty one.
    if part("has-next?").and_then(Value::as_bool) == Some(true) {
        answer = answer.with("after", part("end-cursor").cloned().unwrap_or(Value::Nil));
    }
    Answer::done(answer)
}

/// The answer to an `explain`.
pub fn explained(explanation: &Value) -> Answer {
    Answer::done(bare(explanation))
}

/// Adds the schedule to an answer, with the interpretation of its phrase and its next slots.
fn told(answer: Map, made: &Map, schedule: &Map) -> Map {
    let understood = made.keyword("psi.scheduler/understood").and_then(Value::as_map);
    let said = |name: &str| understood.and_then(|map| map.keyword(name)).filter(|it| !it.is_nil());
    let shown = bare(&Value::Map(schedule.clone()));
    let mut answer = answer;
    for (key, value) in shown.as_map().into_iter().flatten() {
        answer.insert(key.clone(), value.clone());
    }
    if let Some(words) = said("words") {
        answer = answer.with("understood", words.clone());
    }
    // The zone in which a phrase was read is shown even if the resulting trigger does not depend on a zone.
    if let Some(zone) = said("zone") {
        answer = answer.with("zone", zone.clone());
    }
    let mut warnings = said("warnings").and_then(Value::as_items).unwrap_or_default().to_vec();
    // The graph lists the slots of a paused schedule too, but none of them will run.
    if is(schedule, "psi.scheduler/status", Status::Paused.name()) {
        answer = answer.with("next", Vec::<Value>::new());
        warnings.push(PAUSED.into());
    }
    if is(schedule, "psi.scheduler/durability", Durability::Volatile.name()) {
        warnings.push(LOST.into());
    }
    if warnings.is_empty() { answer } else { answer.with("warnings", warnings) }
}

fn is(schedule: &Map, attribute: &str, name: &str) -> bool {
    schedule.keyword(attribute).and_then(Value::as_keyword).is_some_and(|keyword| keyword.as_str() == name)
}

/// Converts a value of the graph to bare names: `:psi.scheduler/next-fire-at` becomes `next_fire_at`.
fn bare(value: &Value) -> Value {
    if let Some(map) = value.as_map() {
        let entries = map.iter().filter(|(_, value)| !value.is_nil());
        let named = entries.map(|(key, value)| match key.as_keyword().map(Keyword::name) {
            // The tools' descriptions call the upcoming slots `next`.
            Some("upcoming") => (Value::keyword("next"), bare(value)),
            Some(name) => (Value::keyword(&name.trim_end_matches('?').replace('-', "_")), bare(value)),
            None => (key.clone(), bare(value)),
        });
        return Value::Map(named.collect());
    }
    if let Some(items) = value.as_items() {
        return Value::vector(items.iter().map(bare).collect::<Vec<_>>());
    }
    // Digits below the millisecond are useless to a model, and cost tokens.
    let instant =
        value.as_inst().and_then(|inst| Moment::new(inst.seconds(), inst.nanos() / 1_000_000 * 1_000_000));
    instant.map_or_else(|| value.clone(), |instant| Value::string(instant.to_string()))
}

const PAUSED: &str = "It is paused: none of its slots gets a run until it is resumed.";
const LOST: &str = "It is kept in memory only, and lost when this server stops.";

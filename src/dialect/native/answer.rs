//! Prints the answers to calls that succeeded.
//!
//! Attributes of the graph get bare names in snake case, and nil is left out, because a model pays for every word.
//! Errors are in `error.rs`.

use crate::dialect::{Answer, brief, page};
use crate::domain::{Durability, Moment, RunId, Status};
use crate::edn::{Keyword, Map, Value};
use crate::limits;

/// The answer to a `create`: the result of the mutation, and the schedule as it is now.
pub fn created(made: &Map, schedule: &Map) -> Answer {
    // False if a schedule with the same key existed already; then the call changed nothing.
    let is_new = made.keyword("psi.scheduler/created?").and_then(Value::as_bool).unwrap_or(true);
    let mut answer = Map::new().with("created", is_new);
    if !is_new {
        let status = schedule.keyword("psi.scheduler/status").and_then(Value::as_keyword);
        let ended = status.and_then(|it| Status::parse(it.as_str())).filter(|status| status.is_terminal());
        let note = ended.map_or_else(
            || "This was asked for already under the same key; nothing was added.".to_owned(),
            |status| {
                let status = status.name();
                format!("This was asked for already under the same key: its status is {status}. Another key asks for it anew.")
            },
        );
        answer = answer.with("note", note);
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

/// The answer to a `list`: one page of schedules, the beginning of each one's message by its id, the number of messages in the
/// inbox, and the present instant, from which a model can reckon.
pub fn listed(page: &Map, message: impl Fn(&str) -> Option<String>, inbox: usize, now: Moment) -> Answer {
    let part = |name: &str| page.keyword(&format!("reveille.schedule-page/{name}"));
    let rows = part("schedules").and_then(Value::as_items).unwrap_or_default();
    let kept = page::fitting(rows.iter().map(|schedule| row(schedule, &message)), page::ROOM);
    let last = kept.last().and_then(Value::as_map).and_then(|row| row.keyword("schedule_id")).cloned();
    // The cursor of a page that was cut is its last schedule. No cursor on the last page, so that a model does not ask for an
    // empty one.
    let after = if kept.len() < rows.len() {
        last
    } else {
        part("end-cursor").filter(|_| part("has-next?").and_then(Value::as_bool) == Some(true)).cloned()
    };
    let answer = Map::new()
        .with("schedules", kept)
        .with("total", part("total-count").cloned().unwrap_or(Value::Int(0)))
        .with("now", brief::instant(now));
    let answer = match inbox {
        0 => answer,
        // They are past, so no row tells of them.
        count => answer.with("inbox", i64::try_from(count).unwrap_or(i64::MAX)),
    };
    Answer::done(answer.with_some("after", after))
}

/// A schedule of a list: its texts by their beginnings.
fn row(schedule: &Value, message: impl Fn(&str) -> Option<String>) -> Value {
    let row = bare(schedule).as_map().cloned().unwrap_or_default();
    let text = row.keyword("schedule_id").and_then(Value::as_str).and_then(message);
    let short = |row: Map, name: &str| {
        let text = row.keyword(name).and_then(Value::as_str).map(brief::text);
        row.with_some(name, text)
    };
    let row = ["label", "when"].into_iter().fold(row, short);
    let (next, rest): (Map, Map) =
        row.into_iter().partition(|(key, _)| *key == Value::keyword("next_fire_at"));
    let rest = text.into_iter().fold(rest, |row, text| row.with("message", text));
    rest.into_iter().chain(next).collect::<Map>().into()
}

/// The answer to an `explain`: the explanation, and the schedule with its whole message.
pub fn explained(explanation: &Value, schedule: &Map) -> Answer {
    let mut answer = Map::new();
    for (key, value) in bare(explanation).as_map().into_iter().flatten() {
        match key.as_keyword().map(Keyword::as_str) {
            Some("obstacles") => answer = with_obstacles(answer, value.as_items().unwrap_or_default()),
            Some("run_id") => answer = answer.with("run_id", value.as_str().map(RunId::brief_of)),
            Some(_) | None => drop(answer.insert(key.clone(), value.clone())),
        }
    }
    for (key, value) in bare(&Value::Map(schedule.clone())).as_map().into_iter().flatten() {
        answer.insert(key.clone(), value.clone());
    }
    Answer::whole(answer)
}

/// Adds the newest obstacles, which say what stands in the way now, and the number of those before.
fn with_obstacles(answer: Map, obstacles: &[Value]) -> Map {
    let most = usize::try_from(limits::TOOL_PAGE.value).unwrap_or(usize::MAX);
    let (before, newest) = obstacles.split_at(obstacles.len().saturating_sub(most));
    if newest.is_empty() {
        return answer;
    }
    let answer = answer.with("obstacles", newest.to_vec());
    match before.len() {
        0 => answer,
        count => answer.with("obstacles_before", i64::try_from(count).unwrap_or(i64::MAX)),
    }
}

/// The answer to an `inbox`: the messages that were taken, whole, and how many are left. `waits` says that the caller asks to
/// wait for one, which is not done here.
pub fn taken(made: &Map, waits: bool) -> Answer {
    let part = |name: &str| made.keyword(&format!("psi.agent-session/{name}"));
    let message = |message: &Value| {
        let mut message = bare(message).as_map().cloned().unwrap_or_default();
        if let Some(run) = message.keyword("run_id").and_then(Value::as_str).map(RunId::brief_of) {
            message = message.with("run_id", run);
        }
        Value::Map(message)
    };
    let messages: Vec<Value> =
        part("taken").and_then(Value::as_items).unwrap_or_default().iter().map(message).collect();
    let more = part("inbox-count").cloned().unwrap_or(Value::Int(0));
    let warnings = (waits && messages.is_empty()).then(|| vec![Value::from(NOT_WAITED)]);
    let answer = Map::new().with("messages", messages).with("more", more);
    Answer::whole(match warnings {
        Some(warnings) => answer.with("warnings", warnings),
        None => answer,
    })
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
            // Words, with instants in them.
            Some("when") => {
                let words = value.as_str().map(|text| Value::from(brief::words(text)));
                (Value::keyword("when"), words.unwrap_or_else(|| value.clone()))
            }
            Some(name) => (Value::keyword(&name.trim_end_matches('?').replace('-', "_")), bare(value)),
            None => (key.clone(), bare(value)),
        });
        return Value::Map(named.collect());
    }
    if let Some(items) = value.as_items() {
        return Value::vector(items.iter().map(bare).collect::<Vec<_>>());
    }
    let instant = value.as_inst().and_then(|inst| Moment::new(inst.seconds(), inst.nanos()));
    instant.map_or_else(|| value.clone(), brief::instant)
}

const PAUSED: &str = "It is paused: none of its slots gets a run until it is resumed.";
const NOT_WAITED: &str =
    "wait_seconds was not waited: only `reveille mcp` beside a daemon waits. Call again later.";
const LOST: &str = "It is kept in memory only, and lost when this server stops.";

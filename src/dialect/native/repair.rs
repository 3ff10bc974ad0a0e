//! The call that was meant: what was given, with what is wrong in it made right.
//!
//! Invariant: what comes out reads without a fault, and has of what was given all that was right.

use super::call::{names, read};
use super::example::example;
use super::tool::Tool;
use crate::dialect::{Notation, echo};
use crate::edn::{Keyword, Map, Value};

/// The call with its faults repaired; an example where nothing of it can stay.
pub(super) fn repaired(tool: Tool, args: &Value, notation: Notation) -> Map {
    let mut call = known(tool, args, notation);
    for _ in 0..=names(tool).len() {
        // The names are spelled as in JSON by now.
        match read(tool, &Value::Map(call.clone()), Notation::Json) {
            Ok(_) => return call,
            Err(error) => call = with_example(tool, &call, error.path()),
        }
    }
    example(tool)
}

/// The call with another value in one field.
pub(super) fn with_field(tool: Tool, args: &Value, notation: Notation, field: &str, value: &str) -> Map {
    known(tool, args, notation).with(field, value)
}

/// The fields that the tool knows, each once, and then those that are another word for one which is not there; long texts are
/// cut, because whoever sent them has them.
fn known(tool: Tool, args: &Value, notation: Notation) -> Map {
    let mut call = Map::new();
    for is_meant in [spelled as fn(&str) -> &str, meant] {
        for (key, value) in args.as_map().into_iter().flatten() {
            let name = key.as_str().or_else(|| key.as_keyword().map(Keyword::as_str)).unwrap_or_default();
            let name = match notation {
                Notation::Edn => name.replace('-', "_"),
                Notation::Json => name.to_owned(),
            };
            let name = is_meant(&name);
            if names(tool).contains(&name) && call.keyword(name).is_none() && !value.is_nil() {
                call = call.with(name, echo(value));
            }
        }
    }
    call
}

fn spelled(name: &str) -> &str {
    name
}

/// The field that models mean by a word of other tools. To leave such a field out would change what the call says: a time on
/// somebody's clock would become one in UTC.
fn meant(name: &str) -> &str {
    match name {
        "timezone" | "time_zone" | "timeZone" | "tz" => "zone",
        "prompt" | "text" | "task" | "instruction" | "instructions" => "message",
        "at" | "time" | "schedule" | "cron" | "run_at" => "when",
        "name" | "title" => "label",
        "idempotency_key" | "dedupe_key" => "key",
        "session" => "session_id",
        "id" | "scheduleId" => "schedule_id",
        other => other,
    }
}

/// One field as in the example, or left out where that has none.
fn with_example(tool: Tool, call: &Map, field: &str) -> Map {
    let mut fixed: Map = Map::new();
    for (key, value) in call {
        if key.as_keyword().is_some_and(|key| key.as_str() != field) {
            fixed.insert(key.clone(), value.clone());
        }
    }
    match example(tool).keyword(field) {
        Some(value) => fixed.with(field, value.clone()),
        None => fixed,
    }
}

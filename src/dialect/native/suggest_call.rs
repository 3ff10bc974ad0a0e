//! Corrects a faulty call: the given arguments, with the faulty ones replaced.
//!
//! Invariant: the result is a valid call, and contains every given argument that was valid.

use super::call::read;
use super::example::example;
use super::field::names;
use super::tool::Tool;
use crate::dialect::{Notation, echo};
use crate::edn::{Keyword, Map, Value};

/// The corrected call; an example if none of the arguments can be used.
pub(super) fn repaired(tool: Tool, args: &Value, notation: Notation) -> Map {
    let mut call = known(tool, args, notation);
    // Each round replaces or drops one field, so the number of fields bounds the rounds.
    for _ in 0..=names(tool).len() {
        // `known` has already normalized the names to those of JSON.
        match read(tool, &Value::Map(call.clone()), Notation::Json) {
            Ok(_) => return call,
            Err(error) => call = with_example(tool, &call, error.path()),
        }
    }
    example(tool)
}

/// The call with the value of one field replaced.
pub(super) fn with_field(tool: Tool, args: &Value, notation: Notation, field: &str, value: &str) -> Map {
    known(tool, args, notation).with(field, value)
}

/// The fields that the tool knows, each once. Synonyms fill fields that are not given by their own name. Long texts
/// are shortened, because the caller has them.
fn known(tool: Tool, args: &Value, notation: Notation) -> Map {
    let mut call = Map::new();
    // Exact names first, so that a synonym never overrides them.
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

/// The field for which models use another tool's name. Dropping such a field would change the meaning: a time in some
/// zone would become one in UTC.
fn meant(name: &str) -> &str {
    match name {
        "timezone" | "time_zone" | "timeZone" | "tz" => "zone",
        "prompt" | "text" | "task" | "instruction" | "instructions" => "message",
        "at" | "time" | "schedule" | "cron" | "run_at" => "when",
        "name" | "title" => "label",
        "idempotency_key" | "dedupe_key" => "key",
        "session" => "session_id",
        "id" | "scheduleId" => "schedule_id",
        // Unknown names are not guessed any further: a wrong guess would turn a fault into another call.
        other => other,
    }
}

/// Replaces one field with that of the example, or drops it if the example lacks it.
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

//! Prints the answers to refused calls, as data: kind, class, message, hint, and a corrected call.
//!
//! Errors of single arguments are in `args`.

use super::call::{NOT_A_QUERY, NOT_ALONE};
use super::example::example;
use super::suggest_call::{repaired, with_field};
use super::tool::Tool;
use crate::dialect::args::{ArgError, ArgErrorKind, TOOL_WORDS};
use crate::dialect::{Answer, Notation, tool_error};
use crate::domain::Code;
use crate::edn::{Keyword, Map, Value};
use crate::graph::registry::ResolverError;

/// The answer to a call that the engine or the graph refused.
pub fn refused(tool: Tool, args: &Value, notation: Notation, error: &ResolverError) -> Answer {
    let code = error.code.unwrap_or(Code::Conflict);
    let part = |name: &str| error.data.as_map().and_then(|data| data.keyword(name));
    // The reason is more specific than the class, but not every error has one.
    let kind = part("reason").and_then(Value::as_keyword).map_or(code.name(), Keyword::name);
    let kind = kind.to_lowercase().replace('-', "_");
    // The owner is missing: the caller is not a session.
    let wants_session = tool == Tool::Create
        && part("parameter").and_then(Value::as_keyword).is_some_and(|name| name.as_str() == OWNER);
    let (hint, example) = match part("fix").and_then(Value::as_str) {
        _ if wants_session => (NO_SESSION.to_owned(), with_field(tool, args, notation, "session_id", "main")),
        // A time in the past or in a misspelt zone has an obvious correction, which becomes the example.
        Some(fix) => {
            let hint = part("hint").and_then(Value::as_str).map_or_else(|| hint(code), str::to_owned);
            (hint, with_field(tool, args, notation, "when", fix))
        }
        None => {
            let hint = part("hint").and_then(Value::as_str).map_or_else(|| hint(code), str::to_owned);
            let meant = part("zone").and_then(Value::as_str);
            let example = match meant {
                Some(zone) => with_field(tool, args, notation, "zone", zone),
                None => likely(tool, args, notation, &kind),
            };
            (hint, example)
        }
    };
    let mut shown = tool_error::error(&kind, code, &error.message).with("hint", hint);
    for name in ["limit", "max", "wait-ms", "status"] {
        if let Some(value) = part(name).filter(|value| !value.is_nil()) {
            shown = shown.with(&name.replace('-', "_"), value.clone());
        }
    }
    tool_error::finish(shown.with("example", example), code)
}

/// The call with another time or zone if the given one is at fault, otherwise unchanged: it may be valid at another
/// time, or for another caller.
fn likely(tool: Tool, args: &Value, notation: Notation, kind: &str) -> Map {
    let says_when = matches!(tool, Tool::Create | Tool::Update);
    if says_when && ["phrase", "cron"].iter().any(|word| kind.starts_with(word)) {
        return with_field(tool, args, notation, "when", PHRASE);
    }
    if says_when && kind.starts_with("zone") {
        return with_field(tool, args, notation, "zone", ZONE);
    }
    repaired(tool, args, notation)
}

fn hint(code: Code) -> String {
    let hint = match code {
        Code::Validation => "write it as in the example",
        Code::NotFound => "call list to see what there is in this session",
        Code::Conflict => "call explain to see how it stands",
        Code::Limit => "cancel what is no longer needed, or wait and try again",
        Code::Forbidden => "ask somebody whose token may do this",
        Code::Unavailable => "make the same call again in a few seconds",
    };
    hint.to_owned()
}

/// All errors of these tools, with name, class and example, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let text = |text: &str| Value::from(text);
    let errors = [
        (
            Tool::Create,
            ArgError::new("", ArgErrorKind::NotAMap { found: "string" }).with(&text("in an hour")),
        ),
        (Tool::Create, ArgError::new("when", ArgErrorKind::Missing)),
        (Tool::Update, ArgError::own("paused", NOT_ALONE, "")),
        (Tool::Query, ArgError::own("query", NOT_A_QUERY, "REASON")),
    ];
    let entry = |(tool, error): &(Tool, ArgError)| {
        tool_error::entry(error.name(&TOOL_WORDS), &error.answer(&TOOL_WORDS, example(*tool)))
    };
    errors.iter().map(entry).collect()
}

/// The mutation's parameter for the owning session.
const OWNER: &str = "origin-session-id";
const NO_SESSION: &str = "you speak for no session: name one in session_id, or connect for one";
const PHRASE: &str = "tomorrow at 9";
const ZONE: &str = "Europe/Berlin";

//! Prints the answers to refused calls, as data: kind, class, message, hint, and the call put right if that is certain.
//!
//! Errors of single arguments are in `args`.

use super::call::{NO_CHANGE, NOT_A_QUERY, NOT_ALONE};
use super::field::{AFTER, KEY, MAX_RUNS, REVISION, SCHEDULE_ID, SESSION_ID, WHEN, ZONE};
use super::repair::RefusedCall;
use super::tool::Tool;
use crate::calendar::PhraseContext;
use crate::dialect::args::{ArgError, ArgErrorKind, TOOL_WORDS};
use crate::dialect::{Answer, Notation, echo, page, tool_error};
use crate::domain::{Code, Span};
use crate::edn::{Keyword, Value};
use crate::graph::registry::ResolverError;

/// The answer to a call that the engine or the graph refused. Phrases were read as `asked` says.
pub fn refused(
    tool: Tool,
    args: &Value,
    notation: Notation,
    error: &ResolverError,
    asked: &PhraseContext<'_>,
) -> Answer {
    let code = error.code.unwrap_or(Code::Conflict);
    let part = |name: &str| error.data.as_map().and_then(|data| data.keyword(name));
    // The reason is more specific than the class, but not every error has one.
    let kind = part("reason").and_then(Value::as_keyword).map_or(code.name(), Keyword::name);
    let kind = kind.to_lowercase().replace('-', "_");
    // The owner is missing: the caller is not a session.
    let wants_session = tool == Tool::Create
        && part("parameter").and_then(Value::as_keyword).is_some_and(|name| name.as_str() == OWNER);
    let call = RefusedCall::new(tool, args, notation);
    let field = field_of(tool, &kind, error, &call);
    if let Some(after) = field.filter(|field| *field == AFTER.name).and_then(|field| call.given(field)) {
        // The graph's words for a cursor are of a list that goes both ways.
        return page::no_such_cursor(after.as_str().unwrap_or_default());
    }
    // The kinds of these errors begin with the part of a time that is wrong.
    let is_of_time = ["phrase", "cron", "zone"].iter().any(|word| kind.starts_with(word));
    let (hint, example) = match (part("fix").and_then(Value::as_str), part("revision")) {
        _ if wants_session => (NO_SESSION.to_owned(), None),
        // Another day is another wish, so it is for the caller to say.
        (Some(fix), _) if kind.ends_with("past") => {
            (format!("it is {} now: say a time that lies ahead, such as {fix}", asked.now.brief()), None)
        }
        (_, revision) => {
            let hint = part("hint").and_then(Value::as_str).map_or_else(|| hint(code), str::to_owned);
            let time = || call.rephrased(&kind, asked).filter(|_| is_of_time);
            (hint, revision.map_or_else(time, |revision| call.rebased(revision)))
        }
    };
    let mut shown = tool_error::error(&kind, code, &error.message);
    if let Some((field, value)) = field.and_then(|field| Some((field, call.given(field)?))) {
        shown = shown.with("field", field).with("value", echo(value));
    }
    shown = shown.with("hint", hint);
    for name in ["limit", "max", "wait-ms", "status", "base-revision", "revision"] {
        if let Some(value) = part(name).filter(|value| !value.is_nil()) {
            shown = shown.with(&name.replace('-', "_"), value.clone());
        }
    }
    let wait = part("wait-ms").and_then(Value::as_int).and_then(|wait| u64::try_from(wait).ok());
    tool_error::finish(shown, code).with_example(example).after(wait.map(Span::from_millis))
}

/// The field that an error is about: that of the parameter which the graph names, or else one by the kind of error. Of several,
/// the first one that was given counts.
fn field_of(tool: Tool, kind: &str, error: &ResolverError, call: &RefusedCall<'_>) -> Option<&'static str> {
    let part = |name: &str| error.data.as_map().and_then(|data| data.keyword(name));
    let parameter = part("parameter").and_then(Value::as_keyword).map(Keyword::name);
    let of_parameter = PARAMETERS.iter().find(|(name, _)| Some(*name) == parameter);
    // Of a `create`, only a key that is taken is about another schedule.
    let is_of_schedule = (kind == "not_found" && tool != Tool::Create)
        || (kind == "conflict" && part("schedule-id").is_some());
    let about = if part("revision").is_some() {
        "revision"
    } else if part("session-id").is_some() {
        "session"
    } else if is_of_schedule {
        "schedule"
    } else {
        kind
    };
    let of_kind = || KINDS.iter().find(|(begin, _)| about.starts_with(begin)).map(|(_, fields)| *fields);
    let fields = match of_parameter {
        Some((_, field)) => std::slice::from_ref(field),
        None => of_kind().unwrap_or_default(),
    };
    fields.iter().copied().find(|field| call.given(field).is_some())
}

fn hint(code: Code) -> String {
    let hint = match code {
        Code::Validation => "change what the message names",
        Code::NotFound => "call list to see what there is in this session",
        Code::Conflict => "call explain to see how it stands",
        Code::Limit => "cancel what is no longer needed, or wait and try again",
        Code::Forbidden => "ask somebody whose token may do this",
        Code::Unavailable => "make the same call again in a few seconds",
    };
    hint.to_owned()
}

/// All errors of these tools, with name, class and a sample, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let text = |text: &str| Value::from(text);
    let errors = [
        ArgError::new("", ArgErrorKind::NotAMap { found: "string" }).with(&text("in an hour")),
        ArgError::new("when", ArgErrorKind::Missing),
        ArgError::own("paused", NOT_ALONE, ""),
        ArgError::own("", NO_CHANGE, ""),
        ArgError::own("query", NOT_A_QUERY, "REASON"),
    ];
    let entry =
        |error: &ArgError| tool_error::entry(error.name(&TOOL_WORDS), &error.answer(&TOOL_WORDS, None));
    let cursor = tool_error::entry("unknown_cursor", &page::no_such_cursor("sch-1"));
    errors.iter().map(entry).chain([cursor]).collect()
}

/// The fields for parameters of the graph.
const PARAMETERS: &[(&str, &str)] = &[
    ("after", AFTER.name),
    ("key", KEY.name),
    ("max-runs", MAX_RUNS.name),
    ("origin-session-id", SESSION_ID.name),
    ("when", WHEN.name),
];
/// The fields for what errors are about, by its beginning. A zone may be named in the words of a time as well.
const KINDS: &[(&str, &[&str])] = &[
    ("revision", &[REVISION.name]),
    ("session", &[SESSION_ID.name]),
    ("schedule", &[SCHEDULE_ID.name, KEY.name]),
    ("zone", &[ZONE.name, WHEN.name]),
    ("phrase", &[WHEN.name]),
    ("cron", &[WHEN.name]),
    ("past", &[WHEN.name]),
];

/// The mutation's parameter for the owning session.
const OWNER: &str = "origin-session-id";
const NO_SESSION: &str = "you speak for no session: name an open one in session_id, or connect as one, as reveille \
                          mcp --session NAME does";

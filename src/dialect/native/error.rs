//! Prints the answers to refused calls, as data: kind, class, message, hint, and the call put right if that is certain.
//!
//! Errors of single arguments are in `args`.

use super::call::{NO_CHANGE, NOT_A_QUERY, NOT_ALONE};
use super::repair::RefusedCall;
use super::tool::Tool;
use crate::calendar::PhraseContext;
use crate::dialect::args::{ArgError, ArgErrorKind, TOOL_WORDS};
use crate::dialect::{Answer, Notation, tool_error};
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
    let mut shown = tool_error::error(&kind, code, &error.message).with("hint", hint);
    for name in ["limit", "max", "wait-ms", "status", "base-revision", "revision"] {
        if let Some(value) = part(name).filter(|value| !value.is_nil()) {
            shown = shown.with(&name.replace('-', "_"), value.clone());
        }
    }
    let wait = part("wait-ms").and_then(Value::as_int).and_then(|wait| u64::try_from(wait).ok());
    tool_error::finish(shown, code).with_example(example).after(wait.map(Span::from_millis))
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
    errors.iter().map(entry).collect()
}

/// The mutation's parameter for the owning session.
const OWNER: &str = "origin-session-id";
const NO_SESSION: &str = "you speak for no session: name an open one in session_id, or connect as one, as reveille \
                          mcp --session NAME does";

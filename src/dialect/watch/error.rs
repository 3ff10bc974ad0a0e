//! Prints the answers to refused calls: a kind, a message generated from it, a hint.
//!
//! Errors of single arguments are in `args`. Source of the words in quotes: SEED-001.

use super::tool;
use crate::dialect::args::{ArgError, ArgErrorKind, ArgWords, NO_SESSION, TOOL_WORDS, arg_words, wordings};
use crate::dialect::{Answer, called, echo, page, tool_error};
use crate::domain::{Code, Refusal, ToolName};
use crate::edn::Value;
use crate::limits;

/// The answer to a caller that is not a session.
pub fn no_session() -> Answer {
    ArgError::own("", NO_SESSION, "").answer(&WATCH_WORDS, None)
}

/// The answer to a call that names no watch of this session.
pub fn not_found(watcher: &str) -> Answer {
    let message = format!("Watcher {} not found", echo(&Value::from(watcher)));
    let error = tool_error::error("no_such_watcher", Code::NotFound, &message)
        .with("field", "watcher_id")
        .with("value", echo(&Value::from(watcher)))
        .with("hint", "watch_list has the ids of this session's watches");
    tool_error::finish(error, Code::NotFound)
}

/// The answer to a pause of a watch that does not run, or a resume of one that is not paused.
pub fn wrong_status(watcher: &str, status: &str, (verb, wanted): (&str, &str)) -> Answer {
    let message =
        format!("Watcher {} is '{status}', can only {verb} a {wanted} watcher", echo(&watcher.into()));
    let error = tool_error::error("wrong_status", Code::Conflict, &message)
        .with("field", "watcher_id")
        .with("value", echo(&Value::from(watcher)))
        .with("hint", "watch_status shows what the watch is doing");
    tool_error::finish(error, Code::Conflict)
}

/// The answer to a `watch_start` in a session that has as many watches as it can have.
pub fn full(max: u32) -> Answer {
    let message = format!("this session has {max} watches, as many as it can have");
    let error = tool_error::error("too_many_watchers", Code::Limit, &message)
        .with("hint", "stop one with watch_stop, then start this one again");
    tool_error::finish(error, Code::Limit)
}

/// The answer to a watch of a tool of which an operator approves each call: nobody is to be asked every 30 seconds. `field` names
/// the tool in the call.
pub(crate) fn needs_approval(field: &'static str, tool: &ToolName) -> Answer {
    let message = format!("Tool '{tool}' requires user approval, so it cannot be watched.");
    let error = tool_error::error("needs_approval", Code::Forbidden, &message)
        .with("field", field)
        .with("value", echo(&tool.as_str().into()))
        .with("hint", "watch a tool that only reads, or call this one yourself");
    tool_error::finish(error, Code::Forbidden)
}

/// The answer to a call that the engine refused.
pub fn refused(refusal: &Refusal) -> Answer {
    tool_error::refused(refusal)
}

/// All errors of these tools, with name, class and a sample, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let given = |text: &str| Value::from(text);
    let (min, max) = (limits::WATCH_SECONDS_MIN.value, limits::WATCH_SECONDS_MAX.value);
    let error = ArgError::new;
    let own = |path: &str, words, detail: &str| ArgError::own(path, words, detail);
    let errors = [
        error("", ArgErrorKind::NotAMap { found: "string" }).with(&given("http.get")),
        error("name", ArgErrorKind::Missing),
        error("interval", ArgErrorKind::OutOfRange { min, max }).with(&Value::Int(1)),
        error("notify_when", ArgErrorKind::NotOneOf { known: tool::STRATEGIES }).with(&given("sometimes")),
        own("name", called::NOT_A_TOOL, "REASON").with(&given("get")),
        own("params", called::NOT_A_KEY, "1"),
        own("notify_config.for", called::NOT_A_SPAN, "").with(&given("a while")),
        own("interval", NOT_SECONDS, "").with(&given("30s")),
        own("notify_when", ONE_CHECK, "").with(&given("on_change")),
        own("notify_config.expression", NO_EXPRESSION, ""),
        own("notify_config.expression", NOT_A_CONDITION, "REASON").with(&given("result.ok")),
        own("notify_config.only[0]", NOT_A_PATH, "REASON").with(&given("1")),
        own("notify_config.jitter", NOT_A_SHARE, "").with(&Value::Int(2)),
        own("name", NOT_A_PING, "REASON").with(&given("a\u{7}b")),
        own("", NO_SESSION, ""),
    ];
    let errors = errors.into_iter().map(|error| (error.name(&WATCH_WORDS), error.answer(&WATCH_WORDS, None)));
    let others = [
        ("unknown_tool", called::unknown_tool("name", &sample(), &[])),
        ("tool_blocked", called::blocked_tool("name", &sample())),
        ("needs_approval", needs_approval("name", &sample())),
        ("no_such_watcher", not_found("a1b2c3d4e5f6")),
        ("unknown_cursor", page::no_such_cursor("a1b2c3d4e5f6")),
        ("wrong_status", wrong_status("a1b2c3d4e5f6", "paused", ("pause", "running"))),
        ("too_many_watchers", full(u32::try_from(limits::SESSION_WATCHES.value).unwrap_or(u32::MAX))),
    ];
    errors.chain(others).map(|(name, answer)| tool_error::entry(name, &answer)).collect()
}

fn sample() -> ToolName {
    ToolName::new("http.get").expect("a module and an action")
}

/// The texts of the tools that have other tools called.
pub(super) const WATCH_WORDS: ArgWords = arg_words! {
    ..TOOL_WORDS;
    not_one_of "unknown_word" "Invalid {field}: it must be one of {known}" "choose one of these words";
};

wordings! {
    NOT_SECONDS "not_seconds" "{field} must be a number of seconds, of whole milliseconds" "write digits, such as 30 or 7.5";
    ONE_CHECK "nothing_to_compare" "{field} on_change tells nothing of one check: it is only what later ones are compared with"
        "with max_checks = 1, use always, on_error or on_threshold";
    NO_EXPRESSION "no_expression" "notify_when on_threshold requires {field}"
        "say when to tell you, such as {\"expression\": \"result.status_code != 200\"}";
    NOT_A_CONDITION "invalid_expression" "{field} is no condition: {detail}"
        "compare a path with a value: == != >= <= > < contains in, joined by and, or, not";
    NOT_A_PATH "invalid_path" "{field} is no path: {detail}" "name keys and places, such as headers.date or items[0].id";
    NOT_A_PING "invalid_ping_name" "{field} is no name of a ping: {detail}"
        "write the name under which the job pings, such as backup";
    NOT_A_SHARE "invalid_share" "{field} must be from 0 to 1, in thousandths" "write a number such as 0.1";
}

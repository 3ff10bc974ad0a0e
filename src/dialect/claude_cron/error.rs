//! Prints the answers to refused calls: a kind, a message generated from it, a hint.
//!
//! Errors of single arguments are in `args`.

use super::instead::ProgramCall;
use crate::dialect::args::{
    ArgError, ArgErrorKind, Choices, Keys, NO_SESSION, Repair, Style, TOOL_WORDS, wordings,
};
use crate::dialect::{Answer, Notation, called, echo, page, tool_error, watch};
use crate::domain::{Code, Moment, Refusal, ToolName};
use crate::edn::{Map, Value};
use crate::limits;

/// The answer to a caller that is not a session.
pub fn no_session() -> Answer {
    ArgError::own("", NO_SESSION, "").answer(&TOOL_WORDS, None)
}

/// The answer to a `Monitor` of a program. `example` is the same call with a tool in its place; `tools` are names of tools that
/// look at something outside and that the caller may watch, if there are any.
pub fn no_program(call: &ProgramCall, example: Option<Value>, tools: &[&ToolName]) -> Answer {
    let field = call.field;
    let hint = if tools.is_empty() { NO_TOOLS.to_owned() } else { instead_of(field) };
    let error = tool_error::error("no_program", Code::Validation, &starts_none(field))
        .with("field", field)
        .with("value", echo(&call.value));
    let names: Vec<Value> = tools.iter().take(NAMED).map(|name| name.as_str().into()).collect();
    let error = if names.is_empty() { error } else { error.with("tools", names) };
    tool_error::finish(error.with("hint", hint), Code::Validation).with_example(example)
}

fn starts_none(field: &str) -> String {
    format!("{field} cannot be watched: Reveille starts no shell command and opens no WebSocket for a model")
}

fn instead_of(field: &str) -> String {
    format!("leave {field} out, and give a tool with its arguments: it is called again and again")
}

/// The answer to a `Monitor` of a tool of which an operator approves each call.
pub fn unwatchable(tool: &ToolName) -> Answer {
    watch::needs_approval("tool", tool)
}

/// The answer to a `Monitor` in a session that has as many watches as it can have.
pub fn full(max: u32) -> Answer {
    let message = format!("this conversation has {max} monitors and watches, as many as it can have");
    let error = tool_error::error("too_many_monitors", Code::Limit, &message)
        .with("hint", "end one with CronDelete, then start this one again");
    tool_error::finish(error, Code::Limit)
}

/// The answer to a `CronDelete` of what is not a job of this session, or has ended.
pub fn not_found(id: &str) -> Answer {
    let error = tool_error::error("no_such_job", Code::NotFound, "this conversation has no such job")
        .with("field", "id")
        .with("value", echo(&Value::from(id)))
        .with("hint", "CronList has the ids of the jobs that are still to run");
    tool_error::finish(error, Code::NotFound)
}

/// The answer to a `CronCreate` of a recurring job whose expression matches `first` when the job has ended by its age.
pub fn matches_too_late(args: &Value, notation: Notation, first: Moment) -> Answer {
    let repair = Repair::new(args, style(notation));
    let given = repair.field("cron").cloned().unwrap_or(Value::Nil);
    // Asked for once, the job has no such end.
    too_late(first).with(&given).answer(&TOOL_WORDS, repair.with_field("recurring", false.into()))
}

fn too_late(first: Moment) -> ArgError {
    let limit = limits::CRON_JOB_MS;
    let days = limit.value / 86_400_000;
    ArgError::own(
        "cron",
        TOO_LATE,
        format!("{}: a recurring job ends after {days} days ({})", first.brief(), limit.name),
    )
}

/// The answer to a call that the engine refused.
pub fn refused(refusal: &Refusal) -> Answer {
    tool_error::refused(refusal)
}

/// All errors of these tools, with name, class and a sample, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let error = ArgError::new;
    let (min, max) = (limits::MONITOR_MS_MIN.value, limits::MONITOR_MS_MAX.value);
    let errors = [
        error("", ArgErrorKind::NotAMap { found: "string" }).with(&Value::from("in an hour")),
        error("cron", ArgErrorKind::Missing),
        ArgError::own("cron", NOT_CRON, "REASON"),
        too_late(Moment::EPOCH).with(&Value::from("30 14 25 3 *")),
        ArgError::own("prompt", SENTINEL, ""),
        error("timeout_ms", ArgErrorKind::OutOfRange { min, max }).with(&Value::Int(1)),
        ArgError::own("timeout_ms", TOO_SHORT, "the first check, which comes at 30000")
            .with(&Value::Int(5_000)),
        ArgError::own("expression", NEEDLESS, "on_change"),
        ArgError::own("expression", watch::NO_EXPRESSION, ""),
        ArgError::own("expression", watch::NOT_A_CONDITION, "REASON").with(&Value::from("result.ok")),
        ArgError::own("interval", watch::NOT_SECONDS, "").with(&Value::from("30s")),
        ArgError::own("tool", called::NOT_A_TOOL, "REASON").with(&Value::from("get")),
        ArgError::own("arguments", called::NOT_A_KEY, "1"),
        ArgError::own("", NO_SESSION, ""),
    ];
    let errors = errors.into_iter().map(|error| (error.name(&TOOL_WORDS), error.answer(&TOOL_WORDS, None)));
    let others = [
        ("no_such_job", not_found("d20be8a8")),
        ("unknown_cursor", page::no_such_cursor("sch-1")),
        ("no_program", no_program(&sample_program(), None, &[&sample()])),
        ("unknown_tool", called::unknown_tool("tool", &sample(), &[])),
        ("tool_blocked", called::blocked_tool("tool", &sample())),
        ("needs_approval", unwatchable(&sample())),
        ("too_many_monitors", full(u32::try_from(limits::SESSION_WATCHES.value).unwrap_or(u32::MAX))),
    ];
    errors.chain(others).map(|(name, answer)| tool_error::entry(name, &answer)).collect()
}

fn sample() -> ToolName {
    ToolName::new("http.get").expect("a module and an action")
}

fn sample_program() -> ProgramCall {
    ProgramCall { field: "command", value: "tail -F build.log".into(), rest: Map::new() }
}

/// Tools that an error names.
const NAMED: usize = 5;
const NO_TOOLS: &str = "no tool here looks at anything outside: an operator opens some ([tools.builtin], [tools.NAME] or \
                        [mcp.NAME] in the daemon's configuration), or the host of this conversation offers its own";

wordings! {
    NOT_CRON "invalid_cron" "{field} is invalid: {detail}"
        "write minute hour day-of-month month day-of-week, such as 57 8 * * 1-5";
    TOO_LATE "matches_too_late" "{field} matches first at {detail}"
        "set recurring to false for that one time, or write an expression that matches earlier";
    SENTINEL "unresolved_sentinel" "{field} is a mark that only Claude Code's own tool puts words in the place of"
        "write out in words what the next iteration is to do";
    TOO_SHORT "too_short" "{field} is over before {detail} ms"
        "give a longer timeout_ms, a shorter interval, or persistent: true";
    NEEDLESS "needless_expression" "{field} is for notify_when on_threshold only, not for {detail}"
        "leave out notify_when, or the expression";
}

/// How these tools are called.
pub(super) const fn style(notation: Notation) -> Style {
    Style { notation, keys: Keys::Plain, choices: Choices::AnyCase, short_times: true }
}

//! Prints the answers to refused calls: a kind, a message generated from it, a hint.
//!
//! Errors of single arguments are in `args`. Source of the words: SEED-001.

use crate::dialect::args::{ArgError, ArgErrorKind, ArgWords, NO_SESSION, TOOL_WORDS, wordings};
use crate::dialect::{Answer, called, echo, tool_error};
use crate::domain::{Code, Refusal, ToolName};
use crate::edn::Value;
use crate::limits;

/// The texts of these tools.
pub(super) const SCHEDULER_WORDS: ArgWords = TOOL_WORDS;

/// The answer to a caller that is not a session.
pub fn no_session() -> Answer {
    ArgError::own("", NO_SESSION, "").answer(&SCHEDULER_WORDS, None)
}

/// The answer to a call that names no job.
pub fn not_found(job: &str) -> Answer {
    let message = format!("Job {} not found", echo(&Value::from(job)));
    let error = tool_error::error("no_such_job", Code::NotFound, &message)
        .with("field", "job_id")
        .with("value", echo(&Value::from(job)))
        .with(
            "hint",
            "the answer to schedule or remind has the job_id; a job that has ended cannot be cancelled",
        );
    tool_error::finish(error, Code::NotFound)
}

/// The answer to a job whose name another session's job has, which the caller may not change, or which is being called.
pub fn taken(job: &str) -> Answer {
    let message =
        format!("the name of {} is taken by a job that you cannot replace now", echo(&Value::from(job)));
    let error = tool_error::error("name_taken", Code::Conflict, &message).with("field", "name").with(
        "hint",
        "choose another name; a job of another session can be replaced only with a grant for that",
    );
    tool_error::finish(error, Code::Conflict)
}

/// The answer to a job whose channel does not exist, or is not open to sessions; these are.
pub fn no_channel(channel: &str, open: &[&str]) -> Answer {
    let message = format!("there is no channel {} that you may use", echo(&Value::from(channel)));
    let open: Vec<Value> = open.iter().map(|channel| Value::from(*channel)).collect();
    let error = tool_error::error("no_such_channel", Code::NotFound, &message)
        .with("field", "output_channel")
        .with("value", echo(&Value::from(channel)))
        .with("channels", open)
        .with("hint", "name one of these channels, or leave output_channel out to be told yourself");
    tool_error::finish(error, Code::NotFound)
}

/// The answer to a call that the engine refused.
pub fn refused(refusal: &Refusal) -> Answer {
    tool_error::refused(refusal)
}

/// All errors of these tools, with name, class and a sample, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let given = |text: &str| Value::from(text);
    let error = ArgError::new;
    let own = |path: &str, words, detail: &str| ArgError::own(path, words, detail);
    let errors = [
        error("", ArgErrorKind::NotAMap { found: "string" }).with(&given("in 5m")),
        error("when", ArgErrorKind::Missing),
        error("message", ArgErrorKind::TooLong { limit: limits::REMIND_CHARS }),
        own("when", BAD_WHEN, "REASON").with(&given("soon")),
        own("zone", BAD_ZONE, "REASON").with(&given("UTC+2")),
        own("name", BAD_NAME, "").with(&given("a/b")),
        own("action", called::NOT_A_TOOL, "REASON").with(&given("get")),
        own("args", called::NOT_A_KEY, "1"),
        own("", NO_SESSION, ""),
    ];
    let errors = errors.into_iter();
    let errors = errors.map(|error| (error.name(&SCHEDULER_WORDS), error.answer(&SCHEDULER_WORDS, None)));
    let others = [
        ("unknown_tool", called::unknown_tool("action", &sample(), &[])),
        ("tool_blocked", called::blocked_tool("action", &sample())),
        ("no_such_job", not_found("cron_default_daily")),
        ("name_taken", taken("cron_default_daily")),
        ("no_such_channel", no_channel("ops", &["email_reports"])),
    ];
    errors.chain(others).map(|(name, answer)| tool_error::entry(name, &answer)).collect()
}

fn sample() -> ToolName {
    ToolName::new("http.get").expect("a module and an action")
}

wordings! {
    BAD_WHEN "invalid_when" "{field} cannot be understood: {detail}"
        "write a delay such as in 5m, an ISO timestamp such as 2026-04-15T09:00:00Z, or a cron expression of exactly 5 fields";
    OUT_OF_BOUNDS "invalid_when" "{field} is outside the bounds: {detail}"
        "write a delay such as in 5m, or an instant at most 10 years ahead";
    BAD_ZONE "invalid_zone" "{field} is no time zone: {detail}"
        "use a name such as Europe/Berlin, an offset such as +08:00, or UTC";
    BAD_NAME "invalid_name" "{field} cannot be a name: it has a slash or a control character"
        "use letters, digits, blanks and hyphens";
}

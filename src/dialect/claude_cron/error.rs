//! Prints the answers to refused calls: a kind, a message generated from it, a hint.
//!
//! Errors of single arguments are in `args`.

use crate::dialect::args::{ArgError, ArgErrorKind, NO_SESSION, TOOL_WORDS, wordings};
use crate::dialect::{Answer, echo, page, tool_error};
use crate::domain::{Code, Refusal};
use crate::edn::Value;

/// The answer to a caller that is not a session.
pub fn no_session() -> Answer {
    ArgError::own("", NO_SESSION, "").answer(&TOOL_WORDS, None)
}

/// The answer to a `CronDelete` of what is not a job of this session, or has ended.
pub fn not_found(id: &str) -> Answer {
    let error = tool_error::error("no_such_job", Code::NotFound, "this conversation has no such job")
        .with("field", "id")
        .with("value", echo(&Value::from(id)))
        .with("hint", "CronList has the ids of the jobs that are still to run");
    tool_error::finish(error, Code::NotFound)
}

/// The answer to a call that the engine refused.
pub fn refused(refusal: &Refusal) -> Answer {
    tool_error::refused(refusal)
}

/// All errors of these tools, with name, class and a sample, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let error = ArgError::new;
    let errors = [
        error("", ArgErrorKind::NotAMap { found: "string" }).with(&Value::from("in an hour")),
        error("cron", ArgErrorKind::Missing),
        ArgError::own("cron", NOT_CRON, "REASON"),
        ArgError::own("prompt", SENTINEL, ""),
        ArgError::own("", NO_SESSION, ""),
    ];
    let errors = errors.into_iter().map(|error| (error.name(&TOOL_WORDS), error.answer(&TOOL_WORDS, None)));
    let others = [("no_such_job", not_found("d20be8a8")), ("unknown_cursor", page::no_such_cursor("sch-1"))];
    errors.chain(others).map(|(name, answer)| tool_error::entry(name, &answer)).collect()
}

wordings! {
    NOT_CRON "invalid_cron" "{field} is invalid: {detail}"
        "write minute hour day-of-month month day-of-week, such as 57 8 * * 1-5";
    SENTINEL "unresolved_sentinel" "{field} is a mark that only Claude Code's own tool puts words in the place of"
        "write out in words what the next iteration is to do";
}

//! Prints the answers to refused calls: a kind, a message generated from it, a hint.
//!
//! Errors of single arguments are in `args`.

use crate::dialect::args::{ArgError, ArgErrorKind, NO_SESSION, TOOL_WORDS, wordings};
use crate::dialect::{Answer, tool_error};
use crate::domain::{Code, Refusal};
use crate::edn::Value;
use crate::limits;

use super::tool::STATUSES;

/// The answer to a caller that is not a session.
pub fn no_session() -> Answer {
    ArgError::own("", NO_SESSION, "").answer(&TOOL_WORDS, None)
}

/// The answer to a call that the engine refused.
pub fn refused(refusal: &Refusal) -> Answer {
    tool_error::refused(refusal)
}

/// All errors of these tools, with name, class and a sample, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let error = ArgError::new;
    let errors = [
        error("", ArgErrorKind::NotAMap { found: "string" }).with(&Value::from("note this")),
        error("content", ArgErrorKind::Missing),
        error("content", ArgErrorKind::Blank).with(&Value::from(" ")),
        error("content", ArgErrorKind::TooLong { limit: limits::MEMORY_TEXT }),
        error("status", ArgErrorKind::NotOneOf { known: STATUSES }).with(&Value::from("open")),
        ArgError::own("taskId", NO_TASK_ID, ""),
        ArgError::own("", NO_SESSION, ""),
    ];
    let errors = errors.into_iter().map(|error| (error.name(&TOOL_WORDS), error.answer(&TOOL_WORDS, None)));
    let unknown = ("unknown_task", refused(&Refusal::UnknownTask { task: 3, count: 2 }));
    errors.chain([unknown]).map(|(name, answer)| tool_error::entry(name, &answer)).collect()
}

wordings! {
    NO_TASK_ID "invalid_task_id" "{field} is no id of a task" "write it as task_create answered it, such as t1";
}

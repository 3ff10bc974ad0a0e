//! The error answers of the tools whose fields are in snake case, as data: a kind, a class, a message, a hint.
//!
//! What lives elsewhere: errors of single arguments (`args`), the errors that only one dialect has (each `error.rs`).

use super::Answer;
use crate::domain::{Code, Refusal};
use crate::edn::{Map, Value};

/// The answer to a call that the engine refused.
pub(super) fn refused(refusal: &Refusal) -> Answer {
    let code = refusal.code();
    let error = error(&refusal.name().replace('-', "_"), code, &refusal.to_string());
    finish(error.with("hint", refusal.hint()), code)
}

/// The beginning of an error.
pub(super) fn error(kind: &str, code: Code, message: &str) -> Map {
    Map::new().with("kind", Value::keyword(kind)).with("class", code.name()).with("message", message)
}

/// The answer that has this error.
pub(super) fn finish(error: Map, code: Code) -> Answer {
    Answer::refused(Map::new().with("status", Value::keyword("error")).with("error", error), code)
}

/// An error for the index of errors: its name, its class, and itself.
pub(super) fn entry(name: &'static str, answer: &Answer) -> (&'static str, Code, Value) {
    let error = answer.value.as_map().and_then(|map| map.keyword("error")).cloned();
    (name, answer.code.unwrap_or(Code::Validation), error.unwrap_or(Value::Nil))
}

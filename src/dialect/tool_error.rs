//! Builds the error answers of the tools that spell fields in snake case: kind, class, message and hint, as data.
//!
//! Errors of single arguments are in `args`, errors of one dialect in its `error.rs`.

use super::{Answer, echo};
use crate::domain::{Code, Refusal};
use crate::edn::{Map, Value};

/// Builds the answer to a call that the engine refused.
pub(super) fn refused(refusal: &Refusal) -> Answer {
    let code = refusal.code();
    let error = error(&refusal.name().replace('-', "_"), code, &refusal.to_string());
    finish(error.with("hint", refusal.hint()), code)
}

/// Builds the answer to a call that the engine refused for the value of one of its fields.
pub(super) fn refused_for(refusal: &Refusal, (field, value): (&str, &str)) -> Answer {
    let code = refusal.code();
    let error = error(&refusal.name().replace('-', "_"), code, &refusal.to_string());
    let error = error.with("field", field).with("value", echo(&value.into()));
    finish(error.with("hint", refusal.hint()), code)
}

/// Builds the first fields of an error: kind, class and message.
pub(super) fn error(kind: &str, code: Code, message: &str) -> Map {
    Map::new().with("kind", Value::keyword(kind)).with("class", code.name()).with("message", message)
}

/// Wraps a complete error into the answer.
pub(super) fn finish(error: Map, code: Code) -> Answer {
    Answer::refused(Map::new().with("status", Value::keyword("error")).with("error", error), code)
}

/// One entry of the index of errors: name, class, and the error as an example.
pub(super) fn entry(name: &'static str, answer: &Answer) -> (&'static str, Code, Value) {
    let error = answer.value.as_map().and_then(|map| map.keyword("error")).cloned();
    (name, answer.code.unwrap_or(Code::Validation), error.unwrap_or(Value::Nil))
}

//! What is wrong with one field of a tool's arguments: the fault, where it is, and the value that has it.
//!
//! What lives elsewhere: finding it (`args.rs`), calls that would have been right (each dialect's `example.rs`).
//! Invariant: texts are made of data here and nowhere else, so that each fault has one message and one hint.

use super::{Answer, echo};
use crate::domain::{Code, Refusal};
use crate::edn::{Map, Value};
use crate::limits::Limit;

/// One fault of a call, in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slip {
    /// The field; empty for the arguments as a whole.
    field: &'static str,
    /// An echo of what was given, if something was.
    value: Option<Value>,
    fault: SlipFault,
}

/// What can be wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SlipFault {
    NotAMap { found: &'static str },
    UnknownField { known: &'static [&'static str] },
    GivenTwice,
    Missing,
    Blank,
    NotText { found: &'static str },
    NotWhole,
    OutOfRange { min: u64, max: u64 },
    TooLong { limit: Limit },
    UnknownWord { known: &'static [&'static str] },
    NoSession,
}

impl Slip {
    pub(super) fn new(field: &'static str, fault: SlipFault) -> Slip {
        Slip { field, value: None, fault }
    }

    /// The same, with the value that has the fault.
    pub(super) fn with(self, value: &Value) -> Slip {
        Slip { value: Some(echo(value)), ..self }
    }

    /// The finished answer, with a call that would have been right.
    pub(super) fn answer(&self, example: Map) -> Answer {
        let code = self.code();
        let mut error = error(self.kind(), code, &self.message());
        if !self.field.is_empty() {
            error = error.with("field", self.field);
        }
        if let Some(value) = &self.value {
            error = error.with("value", value.clone());
        }
        finish(error.with("hint", self.hint()).with("example", example), code)
    }

    /// A name for the kind of fault.
    pub(super) fn kind(&self) -> &'static str {
        match self.fault {
            SlipFault::NotAMap { .. } => "not_an_object",
            SlipFault::UnknownField { .. } => "unknown_field",
            SlipFault::GivenTwice => "given_twice",
            SlipFault::Missing => "missing",
            SlipFault::Blank => "blank",
            SlipFault::NotText { .. } => "not_a_string",
            SlipFault::NotWhole => "not_a_whole_number",
            SlipFault::OutOfRange { .. } => "out_of_range",
            SlipFault::TooLong { .. } => "too_long",
            SlipFault::UnknownWord { .. } => "unknown_word",
            SlipFault::NoSession => "no_session",
        }
    }

    fn code(&self) -> Code {
        if matches!(self.fault, SlipFault::TooLong { .. }) { Code::Limit } else { Code::Validation }
    }

    fn message(&self) -> String {
        let field = if self.field.is_empty() { "the arguments" } else { self.field };
        match &self.fault {
            SlipFault::NotAMap { found } => format!("{field} must be an object, not {found}"),
            SlipFault::UnknownField { known: [] } => "this tool takes no arguments".to_owned(),
            SlipFault::UnknownField { known } => {
                format!("there is no such field: the arguments may have {}", known.join(", "))
            }
            SlipFault::GivenTwice => format!("{field} is given twice, in two spellings"),
            SlipFault::Missing => format!("{field} is required"),
            SlipFault::Blank => format!("{field} must not be blank"),
            SlipFault::NotText { found } => format!("{field} must be a string, not {found}"),
            SlipFault::NotWhole => format!("{field} must be a whole number"),
            SlipFault::OutOfRange { min, max } => format!("{field} must be from {min} to {max}"),
            SlipFault::TooLong { limit } => {
                format!("{field} is too long: {} is {} {}", limit.name, limit.value, limit.unit)
            }
            SlipFault::UnknownWord { known } => format!("{field} must be one of {}", known.join(", ")),
            SlipFault::NoSession => "there is no current session, because the caller is none".to_owned(),
        }
    }

    fn hint(&self) -> String {
        match &self.fault {
            SlipFault::NotAMap { .. } => "give an object, as in the example".to_owned(),
            SlipFault::UnknownField { .. } => "leave the field out, or spell it as in the list".to_owned(),
            SlipFault::GivenTwice => "give each field once, in snake case".to_owned(),
            SlipFault::Missing => "add the field, as in the example".to_owned(),
            SlipFault::Blank => "say something in it, as in the example".to_owned(),
            SlipFault::NotText { .. } => "write a string, as in the example".to_owned(),
            SlipFault::NotWhole => "write digits only, without quotes, unit or fraction".to_owned(),
            SlipFault::OutOfRange { min, max } => format!("choose a number from {min} to {max}"),
            SlipFault::TooLong { limit } => format!("shorten it to {} {}", limit.value, limit.unit),
            SlipFault::UnknownWord { .. } => "choose one of these words".to_owned(),
            SlipFault::NoSession => "call in the name of a session: it owns what it asks for".to_owned(),
        }
    }
}

/// The answer to a call that the engine refused.
pub(super) fn refused(refusal: &Refusal) -> Answer {
    let code = refusal.code();
    let error = error(&refusal.name().replace('-', "_"), code, &refusal.to_string());
    finish(error.with("hint", refusal.hint()), code)
}

/// The beginning of an error, as data.
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

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
    NotABoolean,
    NotWhole,
    OutOfRange { min: u64, max: u64 },
    TooLong { limit: Limit },
    UnknownWord { known: &'static [&'static str] },
    NoOffset,
    NotAnInstant,
    TwoTimes,
    NoTime,
    TooFar { limit: Limit },
    NothingTold,
    NotAnId,
    NoSession,
    NotAlone,
    NotAQuery { error: Box<str> },
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

    /// The field at fault; empty for the arguments as a whole.
    pub(super) fn field(&self) -> &'static str {
        self.field
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
            SlipFault::NotABoolean => "not_a_boolean",
            SlipFault::NotWhole => "not_a_whole_number",
            SlipFault::OutOfRange { .. } => "out_of_range",
            SlipFault::TooLong { .. } => "too_long",
            SlipFault::UnknownWord { .. } => "unknown_word",
            SlipFault::NoOffset => "no_offset",
            SlipFault::NotAnInstant => "not_a_timestamp",
            SlipFault::TwoTimes => "two_times",
            SlipFault::NoTime => "no_time",
            SlipFault::TooFar { .. } => "too_far_ahead",
            SlipFault::NothingTold => "nothing_told",
            SlipFault::NotAnId => "not_an_id",
            SlipFault::NoSession => "no_session",
            SlipFault::NotAlone => "not_alone",
            SlipFault::NotAQuery { .. } => "not_a_query",
        }
    }

    fn code(&self) -> Code {
        match self.fault {
            SlipFault::TooLong { .. } | SlipFault::TooFar { .. } => Code::Limit,
            SlipFault::NotAMap { .. }
            | SlipFault::UnknownField { .. }
            | SlipFault::GivenTwice
            | SlipFault::Missing
            | SlipFault::Blank
            | SlipFault::NotText { .. }
            | SlipFault::NotABoolean
            | SlipFault::NotWhole
            | SlipFault::OutOfRange { .. }
            | SlipFault::UnknownWord { .. }
            | SlipFault::NoOffset
            | SlipFault::NotAnInstant
            | SlipFault::TwoTimes
            | SlipFault::NoTime
            | SlipFault::NothingTold
            | SlipFault::NotAnId
            | SlipFault::NoSession
            | SlipFault::NotAlone
            | SlipFault::NotAQuery { .. } => Code::Validation,
        }
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
            SlipFault::NotABoolean => format!("{field} must be true or false"),
            SlipFault::NotWhole => format!("{field} must be a whole number"),
            SlipFault::OutOfRange { min, max } => format!("{field} must be from {min} to {max}"),
            SlipFault::TooLong { limit } => {
                format!("{field} is too long: {} is {} {}", limit.name, limit.value, limit.unit)
            }
            SlipFault::UnknownWord { known } => format!("{field} must be one of {}", known.join(", ")),
            SlipFault::NoOffset => {
                format!("{field} has no offset from UTC, so it could be any of many instants")
            }
            SlipFault::NotAnInstant => format!("{field} is no ISO-8601 instant"),
            SlipFault::TwoTimes => "delay_seconds and run_at are given, and only one can be meant".to_owned(),
            SlipFault::NoTime => "provide either delay_seconds or run_at".to_owned(),
            SlipFault::TooFar { limit } => format!(
                "Failed to schedule delayed action: {field} exceeds the maximum delay: {} is {} {}",
                limit.name, limit.value, limit.unit
            ),
            SlipFault::NothingTold => "message or artifact_path is required".to_owned(),
            SlipFault::NotAnId => format!("{field} cannot be an id: it has control characters"),
            SlipFault::NoSession => "there is no current session, because the caller is none".to_owned(),
            SlipFault::NotAlone => format!("{field} cannot be given together with the other fields"),
            SlipFault::NotAQuery { error } => format!("{field} is no EQL: {error}"),
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
            SlipFault::NotABoolean => "write true or false without quotes".to_owned(),
            SlipFault::NotWhole => "write digits only, without quotes, unit or fraction".to_owned(),
            SlipFault::OutOfRange { min, max } => format!("choose a number from {min} to {max}"),
            SlipFault::TooLong { limit } => format!("shorten it to {} {}", limit.value, limit.unit),
            SlipFault::UnknownWord { .. } => "choose one of these words".to_owned(),
            SlipFault::NoOffset => "add the offset at the end, such as +08:00, or Z for UTC".to_owned(),
            SlipFault::NotAnInstant => {
                "write date, T, time, and offset, such as 2026-04-11T09:00:00Z".to_owned()
            }
            SlipFault::TwoTimes => "leave one of them out".to_owned(),
            SlipFault::NoTime => {
                "say how long from now, or when; only notify_job_ready may wait for a job_id instead"
                    .to_owned()
            }
            SlipFault::TooFar { .. } => "choose a time that is nearer".to_owned(),
            SlipFault::NothingTold => "say something in message, or name a file".to_owned(),
            SlipFault::NotAnId => "leave out line breaks and other control characters".to_owned(),
            SlipFault::NoSession => "call in the name of a session: it owns what it asks for".to_owned(),
            SlipFault::NotAlone => "leave it out, or make two calls".to_owned(),
            SlipFault::NotAQuery { .. } => {
                "write a vector of attributes in EDN, as in the example".to_owned()
            }
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

//! What is wrong with one field of a call: the fault, where it is, and the value that has it.
//!
//! What lives elsewhere: the answer that says so (`problem.rs`), the call that would have been right (`example.rs`).
//! Invariant: texts are made of data here and nowhere else, so that each fault has one message and one hint.

use crate::dialect::echo;
use crate::domain::{Moment, Zone, ZoneError};
use crate::edn::Value;
use crate::limits::{self, Limit};

/// One fault of a call, in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// The path to the field, such as `schedule.at`; empty for the arguments as a whole.
    pub(super) field: Box<str>,
    /// An echo of what was given, if something was.
    pub(super) value: Option<Value>,
    /// What is wrong.
    pub(super) fault: Fault,
}

/// What can be wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    NotAMap {
        found: &'static str,
    },
    UnknownField {
        place: Box<str>,
        known: &'static [&'static str],
    },
    GivenTwice,
    Missing,
    Blank,
    NotText {
        found: &'static str,
    },
    NotABoolean,
    NotWhole,
    OutOfRange {
        min: u64,
        max: u64,
    },
    TooLong {
        limit: Limit,
    },
    UnknownWord {
        known: &'static [&'static str],
    },
    NoOffset,
    NotAnInstant,
    NotATime,
    Zone(ZoneError),
    NoWeekdays,
    NotAnId,
    NoSession,
    NoOwner,
    EmptyPatch,
    NeverDue {
        not_before: Moment,
    },
    #[cfg_attr(not(feature = "json"), expect(dead_code, reason = "only a log can contradict itself"))]
    Contradicts,
}

impl Problem {
    pub(super) fn new(field: &str, fault: Fault) -> Problem {
        Problem { field: field.into(), value: None, fault }
    }

    /// The same, with the value that has the fault.
    pub(super) fn with(self, value: &Value) -> Problem {
        Problem { value: Some(echo(value)), ..self }
    }

    /// One sentence that says what is wrong, and where.
    pub(super) fn message(&self) -> String {
        let field = if self.field.is_empty() { "the arguments" } else { &self.field };
        match &self.fault {
            Fault::NotAMap { found } => format!("{field} must be an object, not {found}"),
            Fault::UnknownField { place, known } => {
                format!("unknown field {field}: {place} may have {}", known.join(", "))
            }
            Fault::GivenTwice => format!("{field} is given twice, in two spellings"),
            Fault::Missing => format!("{field} is required"),
            Fault::Blank => format!("{field} must not be blank"),
            Fault::NotText { found } => format!("{field} must be a string, not {found}"),
            Fault::NotABoolean => format!("{field} must be true or false"),
            Fault::NotWhole => format!("{field} must be a whole number"),
            Fault::OutOfRange { min, max } => format!("{field} must be from {min} to {max}"),
            Fault::TooLong { limit } => {
                format!("{field} is too long: {} is {} {}", limit.name, limit.value, limit.unit)
            }
            Fault::UnknownWord { known } => format!("{field} must be one of {}", known.join(", ")),
            Fault::NoOffset => format!("{field} has no offset from UTC, so it could be any of many instants"),
            Fault::NotAnInstant => format!("{field} is no RFC 3339 timestamp"),
            Fault::NotATime => format!("{field} is no time of day"),
            Fault::Zone(error) => format!("{field}: {error}"),
            Fault::NoWeekdays => format!("{field} must be a list of at least one day"),
            Fault::NotAnId => format!("{field} cannot be an id: it has control characters"),
            Fault::NoSession => format!("{field}: there is no current session, because the caller is none"),
            Fault::NoOwner => {
                format!("{field}: the job would belong to no session, because the caller is none")
            }
            Fault::EmptyPatch => format!("{field} changes nothing"),
            Fault::Contradicts => format!("{field} is not that of the job beside it"),
            Fault::NeverDue { not_before } => {
                format!("{field} lies in the past, before {not_before}: the job would never run")
            }
        }
    }

    /// What to do about it, in words.
    pub(super) fn hint(&self) -> String {
        match &self.fault {
            Fault::NotAMap { .. } => "give an object, as in the example".to_owned(),
            Fault::UnknownField { .. } => "leave the field out, or spell it as in the list".to_owned(),
            Fault::GivenTwice => "give each field once, in snake case".to_owned(),
            Fault::Missing => "add the field, as in the example".to_owned(),
            Fault::Blank => "say something in it, as in the example".to_owned(),
            Fault::NotText { .. } => "write a string, as in the example".to_owned(),
            Fault::NotABoolean => "write true or false without quotes".to_owned(),
            Fault::NotWhole => "write digits only, without quotes, unit or fraction".to_owned(),
            Fault::OutOfRange { min, max } => format!("choose a number from {min} to {max}"),
            Fault::TooLong { limit } => format!("shorten it to {} {}", limit.value, limit.unit),
            Fault::UnknownWord { .. } => "choose one of these words, in lower case".to_owned(),
            Fault::NoOffset => "add the offset at the end, such as +08:00, or Z for UTC".to_owned(),
            Fault::NotAnInstant => {
                "write date, T, time with seconds, and offset, such as 2026-06-01T08:05:00+08:00".to_owned()
            }
            Fault::NotATime => "write HH:MM or HH:MM:SS by the 24-hour clock, such as 08:00".to_owned(),
            Fault::Zone(error) => error.hint().to_owned(),
            Fault::NoWeekdays => "list days as mon, tue, wed, thu, fri, sat, sun".to_owned(),
            Fault::NotAnId => "leave out line breaks and other control characters".to_owned(),
            Fault::NoSession => "name a session: {\"kind\": \"session\", \"session_id\": \"…\"}".to_owned(),
            Fault::NoOwner => "call in the name of a session: it owns what it creates".to_owned(),
            Fault::EmptyPatch => "name at least one field to change; null leaves a field as it is".to_owned(),
            Fault::Contradicts => "write the same into both".to_owned(),
            Fault::NeverDue { .. } => "choose an instant that is still to come".to_owned(),
        }
    }

    /// A name for the kind of fault, in the seed's spelling.
    pub(super) fn kind(&self) -> &'static str {
        match &self.fault {
            Fault::NotAMap { .. } => "not_an_object",
            Fault::UnknownField { .. } => "unknown_field",
            Fault::GivenTwice => "given_twice",
            Fault::Missing => "missing",
            Fault::Blank => "blank",
            Fault::NotText { .. } => "not_a_string",
            Fault::NotABoolean => "not_a_boolean",
            Fault::NotWhole => "not_a_whole_number",
            Fault::OutOfRange { .. } => "out_of_range",
            Fault::TooLong { .. } => "too_long",
            Fault::UnknownWord { .. } => "unknown_word",
            Fault::NoOffset => "no_offset",
            Fault::NotAnInstant => "not_a_timestamp",
            Fault::NotATime => "not_a_time",
            Fault::Zone(ZoneError::Offset { .. }) => "zone_offset_malformed",
            Fault::Zone(ZoneError::Name { .. }) => "zone_name_malformed",
            Fault::NoWeekdays => "no_weekdays",
            Fault::NotAnId => "not_an_id",
            Fault::NoSession => "no_session",
            Fault::NoOwner => "no_owner",
            Fault::EmptyPatch => "empty_patch",
            Fault::Contradicts => "contradiction",
            Fault::NeverDue { .. } => "never_due",
        }
    }

    /// One of each that a call can have, for the index of errors; what they are about is made up.
    pub(super) fn samples() -> Vec<Problem> {
        let zone = |text: &str| Zone::parse(text).map_or_else(Fault::Zone, |_| Fault::NotATime);
        let samples = [
            ("schedule", Fault::NotAMap { found: "string" }, Some("every day")),
            ("schedule.cron", Fault::UnknownField { place: "schedule".into(), known: &["kind", "at"] }, None),
            ("schedule.every_seconds", Fault::GivenTwice, None),
            ("name", Fault::Missing, None),
            ("prompt", Fault::Blank, None),
            ("name", Fault::NotText { found: "integer" }, None),
            ("patch.enabled", Fault::NotABoolean, Some("yes")),
            ("schedule.every_seconds", Fault::NotWhole, Some("300")),
            ("policy.timeout_seconds", Fault::OutOfRange { min: 1, max: 315_360_000 }, None),
            ("prompt", Fault::TooLong { limit: limits::TEXT_BYTES }, Some("…")),
            ("policy.overlap", Fault::UnknownWord { known: &["skip", "parallel"] }, Some("queue")),
            ("schedule.at", Fault::NoOffset, Some("2026-06-01T08:05:00")),
            ("schedule.at", Fault::NotAnInstant, Some("in five minutes")),
            ("schedule.time", Fault::NotATime, Some("24:00")),
            ("schedule.timezone", zone("+24:00"), Some("+24:00")),
            ("schedule.timezone", zone(""), Some("")),
            ("schedule.weekdays", Fault::NoWeekdays, None),
            ("target.session_id", Fault::NotAnId, Some("a\nb")),
            ("target", Fault::NoSession, None),
            ("target", Fault::NoOwner, None),
            ("patch", Fault::EmptyPatch, None),
            ("schedule.at", Fault::NeverDue { not_before: Moment::EPOCH }, Some("1969-12-31T00:00:00Z")),
        ];
        let problem = |(field, fault, value): (&str, Fault, Option<&str>)| Problem {
            value: value.map(Value::from),
            ..Problem::new(field, fault)
        };
        samples.into_iter().map(problem).collect()
    }
}

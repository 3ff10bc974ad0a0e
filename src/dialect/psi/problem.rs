//! Everything that psi's tool refuses, and the error answer that says so.
//!
//! One variant per row of psi's table of errors; the phase of an error is its data's own, else `:scheduler`, as in
//! psi. Invariant: the literal fragments that psi's tests match stand in the messages.

use super::args::word;
use super::call::Op;
use super::data::{self, integer};
use super::session_config::ConfigError;
use crate::dialect::Answer;
use crate::domain::{Code, Refusal};
use crate::edn::{Keyword, Map, Value};
use crate::graph::shown::ERROR_CLASS;
use crate::limits::{self, Limit};

/// A call that is refused. Values are echoes of what was given.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Problem {
    #[error("the arguments must be a map, not {found}")]
    NotAMap { found: &'static str },
    #[error("{name} is given twice, as a keyword and as a string")]
    GivenTwice { name: &'static str },
    #[error("unknown action: {given}; supported are \"query\" and \"scheduler\"")]
    UnknownAction { given: Value },
    #[error("unknown scheduler op: {given}; use \"create\", \"list\" or \"cancel\"")]
    UnknownOp { given: Value },
    #[error("scheduler operations need an invoking session, and this caller has none")]
    NoSession,
    #[error("message is required and must not be blank")]
    NoMessage,
    #[error("{field} must be a string, not {value}")]
    NotText { field: &'static str, value: Value },
    #[error("{field} is too long: {} is {} {}", limit.name, limit.value, limit.unit)]
    TooLong { field: &'static str, limit: Limit },
    #[error("kind is invalid: {given}; use \"message\" or \"session\"")]
    UnknownKind { given: Value },
    #[error("session-config is not allowed for kind \"message\"; leave it out, or use kind \"session\"")]
    ConfigForbidden,
    #[error("session-config is required for kind \"session\"; an empty map will do")]
    ConfigRequired,
    #[error(transparent)]
    Config(ConfigError),
    #[error("both delay-ms and at are given; give exactly one of them")]
    TwoDelays,
    #[error("neither delay-ms nor at is given; give exactly one of them")]
    NoDelay,
    #[error("delay-ms is not an integer: {value}; give whole milliseconds")]
    DelayNotInteger { value: Value },
    #[error("delay-ms is below the minimum bound: {delay_ms} < {} ms", limits::DELAY_MS_MIN.value)]
    DelayTooShort { delay_ms: i64 },
    #[error("delay-ms exceeds the maximum bound: {delay_ms} > {} ms (24 h)", limits::DELAY_MS_MAX.value)]
    DelayTooLong { delay_ms: i64 },
    #[error(
        "at is not an instant: {value}; give an ISO 8601 string with seconds, such as \"2026-04-22T13:00:00Z\""
    )]
    NotAnInstant { value: Value },
    #[error("schedule-id is required and must be a string")]
    NoScheduleId,
    #[error("schedule not found: {given}; list the schedules to see the ids that exist")]
    NoSuchSchedule { given: Value },
    #[error("{0}; {hint}", hint = .0.hint())]
    Refused(Refusal),
}

impl Problem {
    /// The finished answer to a call of `op`, as far as that is known.
    pub(super) fn answer(&self, op: Option<Op>, duration_ms: u64) -> Answer {
        let data = data::of(self, op);
        let phase = data.as_map().and_then(|data| data.keyword("phase")).cloned();
        let error = Map::new()
            .with("message", self.to_string())
            .with("class", ERROR_CLASS)
            .with("phase", phase.unwrap_or_else(|| Value::keyword("scheduler")))
            .with("data", data);
        let value = Map::new()
            .with("psi-tool/action", Value::keyword("scheduler"))
            .with("psi-tool/scheduler-op", self.op(op))
            .with("psi-tool/duration-ms", integer(duration_ms))
            .with("psi-tool/overall-status", Value::keyword("error"))
            .with("psi-tool/error", error);
        Answer::refused(value, self.code())
    }

    /// The class, the same in every notation.
    fn code(&self) -> Code {
        match self {
            Problem::Refused(refusal) => refusal.code(),
            Problem::NoSuchSchedule { .. } => Code::NotFound,
            Problem::TooLong { .. } => Code::Limit,
            Problem::NotAMap { .. } | Problem::GivenTwice { .. } | Problem::UnknownAction { .. } => {
                Code::Validation
            }
            Problem::UnknownOp { .. } | Problem::NoSession | Problem::NoMessage => Code::Validation,
            Problem::NotText { .. } | Problem::UnknownKind { .. } | Problem::ConfigForbidden => {
                Code::Validation
            }
            Problem::ConfigRequired | Problem::Config(_) | Problem::TwoDelays => Code::Validation,
            Problem::NoDelay | Problem::DelayNotInteger { .. } | Problem::DelayTooShort { .. } => {
                Code::Validation
            }
            Problem::DelayTooLong { .. } | Problem::NotAnInstant { .. } | Problem::NoScheduleId => {
                Code::Validation
            }
        }
    }

    /// The operation as a keyword, an unknown one included, or nil.
    fn op(&self, op: Option<Op>) -> Value {
        let given = if let Problem::UnknownOp { given } = self { word(given) } else { op.map(Op::name) };
        given.and_then(|name| Keyword::new(name).ok()).into()
    }
}

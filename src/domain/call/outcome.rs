//! What a call came to.

use std::sync::Arc;

use crate::domain::{Failure, Phase, Reason, Span};
use crate::edn::Value;
use crate::limits;

/// What a call came to: a value, or an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the tool did what was asked.
    pub ok: bool,
    /// What it answered, if that was kept. An error can have one too, such as the output before it failed.
    pub value: Option<Arc<Value>>,
    /// Why it failed; `None` if it did not.
    pub error: Option<Box<str>>,
    /// The closed code of the error; `None` if it did not fail.
    pub reason: Option<Reason>,
    /// The size of the answer as the executor gave it, in bytes of JSON.
    pub bytes: u64,
    /// Whether the value here is cut.
    pub cut: bool,
    /// How long the call took.
    pub took: Span,
    /// The code of a program or an endpoint.
    pub code: Option<i32>,
}

impl Outcome {
    /// Makes the outcome of a call that answered.
    pub fn of_value(value: Value, bytes: u64, took: Span) -> Outcome {
        // Nothing is nothing: the store does not tell the two apart.
        let value = (!value.is_nil()).then(|| Arc::new(value));
        Outcome { ok: true, value, error: None, reason: None, bytes, cut: false, took, code: None }
    }

    /// Makes the outcome of a call that failed: the tool answered with an error.
    pub fn of_error(error: impl Into<Box<str>>, took: Span) -> Outcome {
        Outcome::of_failure(Reason::ToolFailed, error, took)
    }

    /// Makes the outcome of a call that failed for this reason.
    pub fn of_failure(reason: Reason, error: impl Into<Box<str>>, took: Span) -> Outcome {
        let (error, reason) = (Some(error.into()), Some(reason));
        Outcome { ok: false, value: None, error, reason, bytes: 0, cut: false, took, code: None }
    }

    /// Returns how many bytes of JSON are kept of its value.
    pub(crate) fn kept_bytes(&self) -> u64 {
        // At least 1, because 0 says that no value is kept.
        self.value.as_ref().map_or(0, |_| self.bytes.clamp(1, limits::OUTCOME_KEPT_BYTES.value))
    }

    /// Returns what is left of it when its value is dropped to make room.
    #[must_use]
    pub fn dropped(&self) -> Outcome {
        Outcome { value: None, cut: true, ..self.clone() }
    }

    /// Returns whether its value was dropped to make room.
    pub(crate) fn is_dropped(&self) -> bool {
        self.cut && self.value.is_none()
    }

    /// Returns the failure of a run whose call came to this; `None` if the tool did what was asked.
    pub fn failure(&self) -> Option<Failure> {
        if self.ok {
            return None;
        }
        let reason = self.reason.unwrap_or(Reason::ToolFailed);
        let text = self.error.clone().unwrap_or_else(|| reason.doc().into());
        Some(Failure { code: self.code, ..Failure::new(Phase::Call, reason, text) })
    }
}

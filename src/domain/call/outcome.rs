//! What a call came to.

use std::sync::Arc;

use crate::domain::Span;
use crate::edn::Value;

/// What a call came to: a value, or an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the tool did what was asked.
    pub ok: bool,
    /// What it answered, if that was kept. An error can have one too, such as the output before it failed.
    pub value: Option<Arc<Value>>,
    /// Why it failed; `None` if it did not.
    pub error: Option<Box<str>>,
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
        Outcome { ok: true, value: Some(Arc::new(value)), error: None, bytes, cut: false, took, code: None }
    }

    /// Makes the outcome of a call that failed.
    pub fn of_error(error: impl Into<Box<str>>, took: Span) -> Outcome {
        Outcome { ok: false, value: None, error: Some(error.into()), bytes: 0, cut: false, took, code: None }
    }
}

//! The error of a reader or mutation.

use crate::domain::Code;
use crate::edn::Value;

/// The error of a reader or mutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolverError {
    /// The message, for people.
    pub message: String,
    /// The data, for programs: a map, or nil.
    pub data: Value,
    /// The class of a refusal; `None` for an error that is not the caller's fault.
    pub(crate) code: Option<Code>,
}

impl ResolverError {
    /// Creates an error with a message and data, and no code.
    pub fn new(message: impl Into<String>, data: impl Into<Value>) -> Self {
        Self { message: message.into(), data: data.into(), code: None }
    }

    /// Sets the class of the refusal.
    #[must_use]
    pub(crate) fn coded(self, code: Code) -> Self {
        Self { code: Some(code), ..self }
    }
}

//! The answer type that every dialect returns, and the notation of a call's arguments.
//!
//! Turning an answer into bytes is up to the surfaces. Invariant: an answer is complete; a surface prints it and adds
//! nothing.

use crate::domain::Code;
use crate::edn::Value;

/// The result of one tool call, successful or refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The content of the answer, usually an EDN map.
    pub value: Value,
    /// True if the call was refused.
    pub is_error: bool,
    /// The class of the refusal; `None` if the call succeeded.
    pub code: Option<Code>,
}

impl Answer {
    /// Creates the answer to a call that succeeded.
    pub fn done(value: impl Into<Value>) -> Answer {
        Answer { value: value.into(), is_error: false, code: None }
    }

    /// Creates the answer to a refused call.
    pub fn refused(value: impl Into<Value>, code: Code) -> Answer {
        Answer { value: value.into(), is_error: true, code: Some(code) }
    }
}

/// The notation in which a tool's arguments were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// EDN: names are keywords.
    Edn,
    /// JSON: objects arrive as maps with string keys, arrays as vectors, names as strings.
    Json,
}

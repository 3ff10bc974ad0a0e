//! What every dialect hands back, and the notation in which it was asked.
//!
//! What lives elsewhere: turning an answer into bytes (`surface`). Invariant: an answer is finished; a surface
//! prints it and adds nothing.

use crate::domain::Code;
use crate::edn::Value;

/// A tool's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What the tool says, as an EDN map.
    pub value: Value,
    /// Whether it is a refusal.
    pub is_error: bool,
    /// The class of the refusal.
    pub code: Option<Code>,
}

impl Answer {
    /// The answer to a call that was carried out.
    pub fn done(value: impl Into<Value>) -> Answer {
        Answer { value: value.into(), is_error: false, code: None }
    }

    /// The answer to a call that was refused.
    pub fn refused(value: impl Into<Value>, code: Code) -> Answer {
        Answer { value: value.into(), is_error: true, code: Some(code) }
    }
}

/// The notation in which a tool's arguments came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// EDN: names are keywords.
    Edn,
    /// JSON: objects arrive as maps with string keys, arrays as vectors, names as strings.
    Json,
}

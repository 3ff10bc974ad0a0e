//! Failures: why a run ended in an error, and how far its delivery had come.

use crate::domain::{Reason, Span, names};
use crate::limits;

names! {
    /// How far a delivery had come.
    Phase {
        /// The fresh session was being created and configured.
        CreateSession = "create-session",
        /// The prompt was being handed to its session.
        PromptSubmit = "prompt-submit",
        /// The delivery was being sent to a channel.
        Outside = "outside",
        /// The tool was being called.
        Call = "call",
    }
}

/// The error of a run, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// How far the delivery had come.
    pub phase: Phase,
    /// The closed code of the error.
    pub reason: Reason,
    /// The host's error text, or ours if the host gave none.
    pub message: Box<str>,
    /// Whether the fresh session exists although the run failed.
    pub session_exists: bool,
    /// The code that a channel or a tool answered with: an endpoint's status, a program's exit code.
    pub code: Option<i32>,
    /// How long the receiver asks to wait before the next attempt.
    pub again_after: Option<Span>,
}

impl Failure {
    /// Makes a failure without a fresh session. A message over `limits::ERROR_BYTES` is cut there,
    /// and ends in `…`.
    pub fn new(phase: Phase, reason: Reason, message: impl Into<Box<str>>) -> Failure {
        Failure {
            phase,
            reason,
            message: short(message.into()),
            session_exists: false,
            code: None,
            again_after: None,
        }
    }

    /// Returns this failure with the code that a channel answered with.
    #[must_use]
    pub fn with_code(mut self, code: i32) -> Failure {
        self.code = Some(code);
        self
    }

    /// Returns this failure with the wait that the receiver asked for.
    #[must_use]
    pub fn with_wait(mut self, again_after: Option<Span>) -> Failure {
        self.again_after = again_after;
        self
    }

    /// Returns this failure for a fresh session that exists all the same.
    #[must_use]
    pub(crate) fn with_session(mut self) -> Failure {
        self.session_exists = true;
        self
    }
}

/// Cuts an error text: hosts choose its length, and thousands of records and feed entries hold it.
fn short(message: Box<str>) -> Box<str> {
    let max = usize::try_from(limits::ERROR_BYTES.value).unwrap_or(usize::MAX);
    if message.len() <= max {
        return message;
    }
    // Cut at a character boundary: a slice inside a character would panic.
    format!("{}…", &message[..message.floor_char_boundary(max)]).into()
}

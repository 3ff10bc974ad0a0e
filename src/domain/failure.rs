//! Why a run ended in an error, and how far it had come.

use super::{Reason, Span, names};
use crate::limits;

names! {
    /// How far a delivery had come.
    Phase {
        /// The fresh session was being created and configured.
        CreateSession = "create-session",
        /// The prompt was being handed to its session.
        PromptSubmit = "prompt-submit",
        /// It was being handed to a channel.
        Outside = "outside",
    }
}

/// A run's error, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// How far the delivery had come.
    pub phase: Phase,
    /// The closed code.
    pub reason: Reason,
    /// What the host said, or what we say in its place.
    pub message: Box<str>,
    /// Whether the fresh session exists although the run failed.
    pub session_exists: bool,
    /// What a channel answered with: an endpoint's status, a program's exit code.
    pub code: Option<i32>,
    /// How long a channel asks to be left alone.
    pub again_after: Option<Span>,
}

impl Failure {
    /// A failure before any session was made. A message over `limits::ERROR_BYTES` is cut there, and ends in `…`.
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

    /// The same failure, with what a channel answered with.
    #[must_use]
    pub fn with_code(mut self, code: i32) -> Failure {
        self.code = Some(code);
        self
    }

    /// The same failure, with how long a channel asks to be left alone.
    #[must_use]
    pub fn with_wait(mut self, again_after: Option<Span>) -> Failure {
        self.again_after = again_after;
        self
    }

    /// The same failure, with the fresh session already in place.
    #[must_use]
    pub fn with_session(mut self) -> Failure {
        self.session_exists = true;
        self
    }
}

/// Hosts say what they like; a record and a feed of thousands must not hold it all.
fn short(message: Box<str>) -> Box<str> {
    let max = usize::try_from(limits::ERROR_BYTES.value).unwrap_or(usize::MAX);
    if message.len() <= max {
        return message;
    }
    format!("{}…", &message[..message.floor_char_boundary(max)]).into()
}

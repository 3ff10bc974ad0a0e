//! Why a run ended in an error, and how far it had come.

use super::{Reason, names};
use crate::limits;

names! {
    /// How far a delivery had come.
    Phase {
        /// The fresh session was being created and configured.
        CreateSession = "create-session",
        /// The prompt was being handed to its session.
        PromptSubmit = "prompt-submit",
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
}

impl Failure {
    /// A failure before any session was made. A message over `limits::ERROR_BYTES` is cut there, and ends in `…`.
    pub fn new(phase: Phase, reason: Reason, message: impl Into<Box<str>>) -> Failure {
        Failure { phase, reason, message: short(message.into()), session_exists: false }
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

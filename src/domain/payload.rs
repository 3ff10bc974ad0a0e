//! What a schedule brings about.

use std::sync::Arc;

use super::{SessionConfig, names};

names! {
    /// The kind of a payload, by name.
    Kind {
        /// A prompt into an existing session.
        Message = "message",
        /// A fresh session with a prompt.
        Session = "session",
    }
}

/// What happens when the slot comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// The model runs in the target session, on this text.
    Turn {
        /// The prompt.
        text: Box<str>,
    },
    /// A fresh top-level session is opened, and the model runs there on this text.
    NewSession {
        /// The prompt.
        text: Box<str>,
        /// What the creator asked the fresh session to be; silent fields are inherited from the origin.
        config: Arc<SessionConfig>,
    },
}

impl Payload {
    /// The payload's kind.
    pub fn kind(&self) -> Kind {
        match self {
            Payload::Turn { .. } => Kind::Message,
            Payload::NewSession { .. } => Kind::Session,
        }
    }

    /// The prompt.
    pub fn text(&self) -> &str {
        match self {
            Payload::Turn { text } | Payload::NewSession { text, .. } => text,
        }
    }

    /// The configuration asked for, if a session is to be opened.
    pub fn config(&self) -> Option<&Arc<SessionConfig>> {
        match self {
            Payload::Turn { .. } => None,
            Payload::NewSession { config, .. } => Some(config),
        }
    }
}

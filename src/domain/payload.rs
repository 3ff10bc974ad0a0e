//! What a schedule brings about.

use std::sync::Arc;

use super::{Attachment, Notice, SessionConfig, names};

names! {
    /// The kind of a payload, by name.
    Kind {
        /// A prompt into an existing session.
        Message = "message",
        /// A fresh session with a prompt.
        Session = "session",
        /// A message that begins no turn.
        Notice = "notice",
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
    /// A fresh top-level session is opened, and the model runs there.
    NewSession(Box<NewSession>),
    /// People are told something in the target session, and the model does not run.
    Say(Box<Notice>),
}

/// A fresh session that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// The prompt.
    pub text: Box<str>,
    /// What its creator asked it to be; silent fields are inherited from the origin.
    pub config: Arc<SessionConfig>,
}

impl Payload {
    /// A fresh session with this prompt.
    pub fn new_session(text: impl Into<Box<str>>, config: Arc<SessionConfig>) -> Payload {
        Payload::NewSession(Box::new(NewSession { text: text.into(), config }))
    }

    /// The payload's kind.
    pub fn kind(&self) -> Kind {
        match self {
            Payload::Turn { .. } => Kind::Message,
            Payload::NewSession(_) => Kind::Session,
            Payload::Say(_) => Kind::Notice,
        }
    }

    /// The prompt, or what people are told.
    pub fn text(&self) -> &str {
        match self {
            Payload::Turn { text } => text,
            Payload::NewSession(session) => &session.text,
            Payload::Say(notice) => &notice.text,
        }
    }

    /// Whether the model runs on it.
    pub fn begins_turn(&self) -> bool {
        match self {
            Payload::Turn { .. } | Payload::NewSession(_) => true,
            Payload::Say(_) => false,
        }
    }

    /// The file that goes with it, if one does.
    pub fn file(&self) -> Option<&Attachment> {
        match self {
            Payload::Turn { .. } | Payload::NewSession(_) => None,
            Payload::Say(notice) => notice.file.as_ref(),
        }
    }

    /// The configuration asked for, if a session is to be opened.
    pub fn config(&self) -> Option<&Arc<SessionConfig>> {
        match self {
            Payload::Turn { .. } | Payload::Say(_) => None,
            Payload::NewSession(session) => Some(&session.config),
        }
    }
}

//! Payloads: what a schedule does when its slot is due.

use std::sync::Arc;

use crate::domain::{Attachment, Call, Notice, Phase, SessionConfig, names};

names! {
    /// The kind of a payload, by name.
    PayloadKind {
        /// A prompt into an existing session.
        Message = "message",
        /// A fresh session with a prompt.
        Session = "session",
        /// A message that begins no turn.
        Notice = "notice",
        /// A call of a tool.
        Call = "call",
    }
}

/// What happens when a slot is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// The model runs in the target session on this text.
    Turn {
        /// The prompt.
        text: Box<str>,
    },
    /// A fresh top-level session is opened, and the model runs there.
    NewSession(Box<NewSession>),
    /// People are notified in the target session, and the model does not run.
    Notice(Box<Notice>),
    /// A tool is called, and the model does not run.
    Call(Box<Call>),
}

/// A request for a fresh session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// The first prompt of the session.
    pub text: Box<str>,
    /// The requested configuration; fields that are `None` are inherited from the origin.
    pub config: Arc<SessionConfig>,
}

impl Payload {
    /// Makes a request for a fresh session with this prompt.
    pub fn new_session(text: impl Into<Box<str>>, config: Arc<SessionConfig>) -> Payload {
        Payload::NewSession(Box::new(NewSession { text: text.into(), config }))
    }

    /// Returns the payload's kind.
    pub fn kind(&self) -> PayloadKind {
        match self {
            Payload::Turn { .. } => PayloadKind::Message,
            Payload::NewSession(_) => PayloadKind::Session,
            Payload::Notice(_) => PayloadKind::Notice,
            Payload::Call(_) => PayloadKind::Call,
        }
    }

    /// Returns the prompt, the text of the notice, or the name of the tool.
    pub fn text(&self) -> &str {
        match self {
            Payload::Turn { text } => text,
            Payload::NewSession(session) => &session.text,
            Payload::Notice(notice) => &notice.text,
            Payload::Call(call) => call.tool.as_str(),
        }
    }

    /// Returns whether the model runs on the payload.
    pub fn begins_turn(&self) -> bool {
        match self {
            Payload::Turn { .. } | Payload::NewSession(_) => true,
            Payload::Notice(_) | Payload::Call(_) => false,
        }
    }

    /// Returns the file that goes with a notice, if there is one.
    pub fn file(&self) -> Option<&Attachment> {
        match self {
            Payload::Turn { .. } | Payload::NewSession(_) | Payload::Call(_) => None,
            Payload::Notice(notice) => notice.file.as_ref(),
        }
    }

    /// Returns the requested configuration, if a session is to be opened.
    pub fn config(&self) -> Option<&Arc<SessionConfig>> {
        match self {
            Payload::Turn { .. } | Payload::Notice(_) | Payload::Call(_) => None,
            Payload::NewSession(session) => Some(&session.config),
        }
    }

    /// Returns the phase that a hand-over begins with.
    pub(crate) fn first_phase(&self) -> Phase {
        match self {
            Payload::NewSession(_) => Phase::CreateSession,
            Payload::Turn { .. } | Payload::Notice(_) => Phase::PromptSubmit,
            Payload::Call(_) => Phase::Call,
        }
    }

    /// Returns the call, if a tool is called.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Payload::Turn { .. } | Payload::Notice(_) | Payload::NewSession(_) => None,
            Payload::Call(call) => Some(call),
        }
    }
}

//! What a session's transcript is made of.

use std::sync::Arc;

use super::{Attachment, MessageProvenance, Moment, names};

names! {
    /// Who speaks.
    Role {
        /// The user, or something that speaks in the user's place, such as a schedule.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The operator of the harness.
        System = "system",
        /// A tool's result.
        Tool = "tool",
    }
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Plain text.
    Text(Box<str>),
    /// A file to be shown with it.
    File(Attachment),
}

/// One entry of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, piece by piece.
    pub content: Vec<Content>,
    /// When it was said; a preloaded message may leave it open.
    pub timestamp: Option<Moment>,
    /// Which schedule said it; `None` for a person or a model. Written by the engine, never by a caller.
    pub provenance: Option<MessageProvenance>,
}

/// The messages of a session that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// How many older ones were dropped.
    pub dropped: u64,
    /// The messages, oldest first.
    pub messages: Vec<Arc<Message>>,
}

impl Message {
    /// A user's message of one text.
    pub fn user(text: impl Into<Box<str>>, timestamp: Moment) -> Message {
        Message {
            role: Role::User,
            content: vec![Content::Text(text.into())],
            timestamp: Some(timestamp),
            provenance: None,
        }
    }

    /// All text of the message, pieces joined by a line break.
    pub fn text(&self) -> String {
        let text = |piece: &'_ Content| match piece {
            Content::Text(text) => Some(text.to_string()),
            Content::File(_) => None,
        };
        let pieces: Vec<String> = self.content.iter().filter_map(text).collect();
        pieces.join("\n")
    }

    /// The file that goes with it, if one does.
    pub fn file(&self) -> Option<&Attachment> {
        self.content.iter().find_map(|piece| match piece {
            Content::Text(_) => None,
            Content::File(file) => Some(file),
        })
    }

    /// Whether the model runs on it, as far as a schedule put it there.
    pub fn begins_turn(&self) -> bool {
        self.provenance.as_ref().is_none_or(|provenance| provenance.begins_turn)
    }
}

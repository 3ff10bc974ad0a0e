//! Messages, the entries of a session's transcript.

use std::sync::Arc;

use super::{Attachment, MessageProvenance, Moment, names};

names! {
    /// The author of a message.
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
    /// A file to be shown with the message.
    File(Attachment),
}

/// One entry of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The author of the message.
    pub role: Role,
    /// The content, in pieces.
    pub content: Vec<Content>,
    /// When the message was written; optional for a preloaded message.
    pub timestamp: Option<Moment>,
    /// Which schedule the message came from; `None` for a person or a model. Written by the engine,
    /// never by a caller.
    pub provenance: Option<MessageProvenance>,
}

/// The retained messages of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// Number of older messages that were dropped.
    pub dropped: u64,
    /// The retained messages, oldest first.
    pub messages: Vec<Arc<Message>>,
}

impl Message {
    /// Makes a user's message of one text.
    pub fn user(text: impl Into<Box<str>>, timestamp: Moment) -> Message {
        Message {
            role: Role::User,
            content: vec![Content::Text(text.into())],
            timestamp: Some(timestamp),
            provenance: None,
        }
    }

    /// Returns all text of the message, pieces joined by a line break.
    pub fn text(&self) -> String {
        let text = |piece: &'_ Content| match piece {
            Content::Text(text) => Some(text.to_string()),
            Content::File(_) => None,
        };
        let pieces: Vec<String> = self.content.iter().filter_map(text).collect();
        pieces.join("\n")
    }

    /// Returns the size of what the message holds, in bytes: its texts, and the place that it takes itself.
    pub(crate) fn bytes(&self) -> usize {
        let piece = |piece: &Content| match piece {
            Content::Text(text) => text.len(),
            Content::File(file) => file.path.len(),
        };
        size_of::<Message>() + self.content.iter().map(piece).sum::<usize>()
    }

    /// Returns the file that goes with the message, if there is one.
    pub fn file(&self) -> Option<&Attachment> {
        self.content.iter().find_map(|piece| match piece {
            Content::Text(_) => None,
            Content::File(file) => Some(file),
        })
    }

    /// Returns whether the message begins a turn. Only a schedule can add one that does not.
    pub fn begins_turn(&self) -> bool {
        // A message without provenance is from a person or a model, and belongs to a turn.
        self.provenance.as_ref().is_none_or(|provenance| provenance.begins_turn)
    }
}

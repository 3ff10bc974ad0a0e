//! Where scheduled messages and sessions come from. Written by the engine only.

use super::{Lineage, RunId, ScheduleId, SessionId, Span};

/// The origin of a message that a schedule put into a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageProvenance {
    /// The schedule's run: which schedule it is, and for which nominal instant.
    pub run: RunId,
    /// The schedule's label, if it has one.
    pub label: Option<Box<str>>,
    /// How much later it was handed over.
    pub late: Span,
    /// How many earlier slots it stands for.
    pub folded: u64,
    /// Whether the model runs on it; if not, it is for people to read.
    pub begins_turn: bool,
}

/// The origin of a session that a schedule opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionProvenance {
    /// The session whose schedule it was.
    pub origin: SessionId,
    /// The schedule.
    pub schedule: ScheduleId,
    /// Its label, if it has one.
    pub label: Option<Box<str>>,
    /// The line that its turns belong to, until a person says something in it. `None` in a log that was kept before that was
    /// noted.
    pub line: Option<Lineage>,
}

//! Provenance of scheduled messages and sessions. Written by the engine, never by a caller.

use crate::domain::{Lineage, RunId, ScheduleId, SessionId, Span};

/// The origin of a message that a schedule put into a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageProvenance {
    /// The run that delivered the message: its schedule and its nominal instant.
    pub run: RunId,
    /// The schedule's label, if it has one.
    pub label: Option<Box<str>>,
    /// How much later than the nominal instant the message was handed over.
    pub late: Span,
    /// How many earlier slots the message stands for.
    pub folded: u64,
    /// Whether the model runs on the message; if not, the message is for people to read.
    pub begins_turn: bool,
}

/// The origin of a session that a schedule opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionProvenance {
    /// The session that owned the schedule.
    pub origin: SessionId,
    /// The session at the beginning of the line of openers, which no schedule opened. This session shares its grant and its
    /// budgets.
    pub root: SessionId,
    /// The schedule that opened the session.
    pub schedule: ScheduleId,
    /// The schedule's label, if it has one.
    pub label: Option<Box<str>>,
    /// The chain that the session's turns belong to, until a person writes in the session. `None`
    /// in logs written before this was recorded.
    pub chain: Option<Lineage>,
}

/// A fresh session that has a hand in a schedule, and where it comes from. The session's own record ends when it is closed, and
/// its schedule may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descent {
    /// The fresh session.
    pub session: SessionId,
    /// The session that owned the schedule that opened it.
    pub origin: SessionId,
    /// The session at the beginning of the line of openers.
    pub root: SessionId,
}

//! Targets: the session or channel that a schedule's payload goes to.

use crate::domain::SessionId;

/// The session or channel that a schedule's payload goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Into the session that owns the schedule.
    Owner,
    /// Into this session, if it is open when the slot comes.
    Session(SessionId),
    /// Into the session of a conversation in a channel.
    Route(Box<Route>),
    /// Into a fresh top-level session, independent of whether the owner is busy.
    Fresh,
}

/// A conversation in a channel. Source: SEED-004.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// The channel's name.
    pub channel: Box<str>,
    /// The conversation there.
    pub conversation: Box<str>,
    /// The thread of the conversation, if it has threads.
    pub thread: Option<Box<str>>,
}

impl Target {
    /// Every kind of target.
    pub const NAMES: &'static [&'static str] = &["owner", "session", "route", "fresh"];

    /// Returns whether it is a session other than `owner`.
    pub(crate) fn is_beyond(&self, owner: &SessionId) -> bool {
        matches!(self, Target::Session(into) if into != owner)
    }

    /// Returns whether it lies outside of `owner`: another session, or a channel.
    pub(crate) fn is_outside(&self, owner: &SessionId) -> bool {
        self.is_beyond(owner) || matches!(self, Target::Route(_))
    }

    /// Returns the kind of target in one word, spelled alike in every notation.
    pub const fn name(&self) -> &'static str {
        match self {
            Target::Owner => "owner",
            Target::Session(_) => "session",
            Target::Route(_) => "route",
            Target::Fresh => "fresh",
        }
    }
}

//! What a session's model, or a channel, is told of a call that was made for it.

use std::num::NonZeroU32;

/// The words of a bulletin, and where they go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telling {
    /// The words.
    pub text: Box<str>,
    /// The channel that they go to; `None` for the session that owns the schedule.
    pub channel: Option<Box<str>>,
    /// The check of a watch that they tell of, with those before it that have not arrived; `None` if they tell of none.
    pub(crate) check: Option<NonZeroU32>,
    /// Whether the call was that of a run that a session caused.
    pub(crate) by_session: bool,
}

impl Telling {
    /// Words for the session that owns the schedule, about a call that no session caused.
    pub fn new(text: &str) -> Telling {
        Telling { text: text.into(), channel: None, check: None, by_session: false }
    }
}

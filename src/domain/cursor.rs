//! Where a fact stands in the log.

use std::fmt;

/// The position of a fact: 1 for the first of an engine's life, then one more for each.
///
/// `after` a cursor is exclusive everywhere: the reader has seen the fact that bears it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cursor(u64);

impl Cursor {
    /// Before the first fact.
    pub const START: Cursor = Cursor(0);

    /// Makes a cursor from its number.
    pub const fn new(number: u64) -> Cursor {
        Cursor(number)
    }

    /// The number that a client keeps.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The position that follows.
    #[must_use]
    pub const fn next(self) -> Cursor {
        Cursor(self.0.saturating_add(1))
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

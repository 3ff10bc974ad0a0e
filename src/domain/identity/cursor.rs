//! The position of a fact in the log.

use std::fmt;

/// The position of a fact: 1 for an engine's first fact, then one more for each. Counting
/// continues after a restart from a store.
///
/// `after` a cursor is exclusive everywhere: the reader has already seen the fact at that cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cursor(u64);

impl Cursor {
    /// The position before the first fact.
    pub const START: Cursor = Cursor(0);

    /// Makes a cursor from its number.
    pub const fn new(number: u64) -> Cursor {
        Cursor(number)
    }

    /// Returns the number, which clients store to resume from.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Returns the position that follows.
    #[must_use]
    pub const fn next(self) -> Cursor {
        // No engine records 2^64 facts, so this never saturates.
        Cursor(self.0.saturating_add(1))
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

//! The checks that a watch has collected for a summary.
//!
//! What lives elsewhere: when a summary is complete (`engine/watching.rs`), its text (`engine/bulletin_text.rs`). Invariant: no
//! more checks are held than a text lists, so that what is stored with each check has a bound; the others are counted.

use std::sync::Arc;

use crate::domain::Glimpse;
use crate::limits;

/// The checks of a summary: how many there are, and the newest of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// How many.
    pub checks: u64,
    /// The newest, the oldest of them first: at most `limits::WATCH_BATCH_LISTED`.
    pub newest: Vec<Entry>,
}

/// One check of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number of the check, from 1.
    pub check: u64,
    /// What it came to.
    pub glimpse: Arc<Glimpse>,
}

impl Collected {
    /// No checks.
    pub(crate) const NONE: Collected = Collected { checks: 0, newest: Vec::new() };

    /// Adds the next check.
    pub fn push(&mut self, entry: Entry) {
        self.extend(Collected { checks: 1, newest: vec![entry] });
    }

    /// Removes this check and those before it.
    pub(crate) fn forget_until(&mut self, check: u64) {
        // Checks follow each other, so the last one says how many come after that one.
        let left = self.newest.last().map_or(0, |last| last.check.saturating_sub(check));
        self.checks = self.checks.min(left);
        self.newest.retain(|entry| entry.check > check);
    }

    /// Adds later checks.
    pub(crate) fn extend(&mut self, later: Collected) {
        self.checks = self.checks.saturating_add(later.checks);
        self.newest.extend(later.newest);
        let most = usize::try_from(limits::WATCH_BATCH_LISTED.value).unwrap_or(usize::MAX);
        // The oldest are dropped. `checks` still counts them.
        let surplus = self.newest.len().saturating_sub(most);
        self.newest.drain(..surplus);
    }
}

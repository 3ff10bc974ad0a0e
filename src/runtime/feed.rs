//! The last decisions, for subscribers that come back with a cursor.
//!
//! Shape: a ring of `limits::DECISIONS_KEPT`. Subscribers hold no place in it and cost nothing while they are away: a slow
//! one finds that it has lagged, and is told.

use std::collections::VecDeque;

use crate::domain::{Cursor, Decision};
use crate::limits;

/// The ring.
#[derive(Default)]
pub(super) struct Feed {
    decisions: VecDeque<Decision>,
    closed: bool,
}

impl Feed {
    pub(super) fn push(&mut self, decision: Decision) {
        if self.decisions.len() as u64 == limits::DECISIONS_KEPT.value {
            self.decisions.pop_front();
        }
        self.decisions.push_back(decision);
    }

    /// At most `max` decisions after `after`, and whether some in between are gone.
    pub(super) fn after(&self, after: Cursor, max: usize) -> (Vec<Decision>, bool) {
        let Some(oldest) = self.decisions.front() else {
            return (Vec::new(), false);
        };
        let truncated = oldest.cursor > after.next();
        let skip = usize::try_from(after.next().number().saturating_sub(oldest.cursor.number()));
        let fresh = self.decisions.iter().skip(skip.unwrap_or(usize::MAX)).take(max);
        (fresh.cloned().collect(), truncated)
    }

    /// What is kept, oldest first.
    pub(super) fn decisions(&self) -> &VecDeque<Decision> {
        &self.decisions
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }
}

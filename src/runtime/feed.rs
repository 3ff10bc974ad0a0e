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
    /// The first decision that is not kept yet: neither it nor what follows is shown.
    hidden: Option<Cursor>,
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
        let first = self.decisions.partition_point(|decision| decision.cursor <= after);
        let shown = |decision: &&Decision| self.hidden.is_none_or(|hidden| decision.cursor < hidden);
        (self.decisions.iter().skip(first).take_while(shown).take(max).cloned().collect(), truncated)
    }

    /// Shows nothing from this decision on, or everything.
    pub(super) fn hide_from(&mut self, cursor: Option<Cursor>) {
        self.hidden = cursor;
    }

    /// Takes decisions back that were never shown, because they could not be kept.
    pub(super) fn retract(&mut self, cursors: &[Cursor]) {
        self.decisions.retain(|decision| cursors.binary_search(&decision.cursor).is_err());
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

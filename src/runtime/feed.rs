//! The latest decisions, for subscribers that come back with a cursor.
//!
//! Shape: a ring of `limits::DECISIONS_KEPT`, which begins with the last decisions of earlier processes. Subscribers reserve
//! nothing in it and cost nothing while they are away. A subscriber that was too slow learns that it has missed decisions. The
//! decisions of earlier processes are for lists alone: those about volatile schedules are missing, as they are in no log.

use std::collections::VecDeque;

use crate::domain::{Cursor, Decision};
use crate::limits;

/// The ring of decisions.
#[derive(Clone, Default)]
pub(super) struct Feed {
    decisions: VecDeque<Decision>,
    /// How many of them, from the first on, earlier processes made.
    earlier: usize,
    /// The first decision that is not committed yet: neither it nor any later one is shown.
    hidden: Option<Cursor>,
    closed: bool,
}

impl Feed {
    pub(super) fn push(&mut self, decision: Decision) {
        if self.decisions.len() as u64 == limits::DECISIONS_KEPT.value {
            self.decisions.pop_front();
            self.earlier = self.earlier.saturating_sub(1);
        }
        debug_assert!(
            self.decisions.back().is_none_or(|last| last.cursor < decision.cursor),
            "{} behind a later decision: cursors are searched",
            decision.cursor
        );
        self.decisions.push_back(decision);
    }

    /// Puts decisions of earlier processes in front, newest first, and drops those that were there.
    pub(super) fn restore(&mut self, earlier: impl IntoIterator<Item = Decision>) {
        self.decisions.drain(..self.earlier);
        let own = self.decisions.len();
        for decision in earlier {
            self.decisions.push_front(decision);
        }
        self.earlier = self.decisions.len() - own;
    }

    /// At most `max` decisions after the cursor `after`, and whether older ones after it have been dropped.
    pub(super) fn after(&self, after: Cursor, max: usize) -> (Vec<Decision>, bool) {
        let Some(oldest) = self.decisions.get(self.earlier) else {
            return (Vec::new(), false);
        };
        let truncated = oldest.cursor > after.next();
        let first = self.place_after(after);
        let shown = |decision: &&Decision| self.hidden.is_none_or(|hidden| decision.cursor < hidden);
        (self.decisions.iter().skip(first).take_while(shown).take(max).cloned().collect(), truncated)
    }

    /// The place of the first decision of this process after the cursor `after`.
    fn place_after(&self, after: Cursor) -> usize {
        // Cursors ascend with gaps, where decisions were retracted. So the place is searched and not computed.
        self.decisions.partition_point(|decision| decision.cursor <= after).max(self.earlier)
    }

    /// Whether there is a decision of this process after the cursor `after` and up to `last`, shown or still hidden.
    pub(super) fn has_between(&self, after: Cursor, last: Cursor) -> bool {
        self.decisions.get(self.place_after(after)).is_some_and(|decision| decision.cursor <= last)
    }

    /// Drops all decisions: those that are told before a log is known have the numbers of its own facts. A feed that kept one
    /// would count as whole, and what only the log has as never having been.
    pub(super) fn clear(&mut self) {
        self.decisions.clear();
        self.earlier = 0;
    }

    /// Hides this decision and all later ones; `None` shows everything.
    pub(super) fn hide_from(&mut self, cursor: Option<Cursor>) {
        self.hidden = cursor;
    }

    /// Removes decisions that were never shown, because they could not be committed.
    pub(super) fn retract(&mut self, cursors: &[Cursor]) {
        debug_assert!(cursors.is_sorted(), "the cursors of dropped batches are in log order: {cursors:?}");
        self.decisions.retain(|decision| cursors.binary_search(&decision.cursor).is_err());
    }

    /// All retained decisions, oldest first, hidden ones included.
    pub(super) fn decisions(&self) -> &VecDeque<Decision> {
        &self.decisions
    }

    /// How many of them, from the first on, earlier processes made.
    pub(super) fn earlier(&self) -> usize {
        self.earlier
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }
}

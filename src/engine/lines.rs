//! How far a line of schedules may go on by itself: turns that schedules began, and that schedule more.
//!
//! Lives here: which line a session's turn belongs to, what is still allowed in it, and how many schedules a line has. What lives
//! elsewhere: the line of one schedule (`domain`), what a session is granted (`domain`). Invariant: whether a turn was begun by a
//! schedule is known from receipts and reports of the host, never from what a caller says.

use super::record::SessionRecord;
use super::slab::Key;
use super::state::State;
use crate::domain::{Actor, Lineage, Refusal, Scope, SessionId};
use crate::limits;

impl SessionRecord {
    /// The line that its turn belongs to, if a schedule's run began it; that of a fresh session, as long as no person has said
    /// anything in it.
    pub fn line(&self) -> Option<&Lineage> {
        let turn = self.woken.as_deref().filter(|_| self.busy);
        let from = || self.provenance.as_ref()?.line.as_ref().filter(|_| self.last_user_activity.is_none());
        turn.or_else(from)
    }
}

impl State {
    /// The line in which somebody schedules something: none but for a session that does so itself. `by` is nobody where that
    /// is so.
    pub(super) fn line_by(
        &self,
        by: Option<&Actor>,
        session: &SessionId,
    ) -> Result<Option<Lineage>, Refusal> {
        let is_itself = by.is_none_or(|by| matches!(&by.scope, Scope::Session(who) if who == session));
        let Some(line) = self.session(session).filter(|_| is_itself).and_then(SessionRecord::line) else {
            return Ok(None);
        };
        let max = self.grant(session).depth;
        if line.depth > max {
            return Err(Refusal::TooDeep { depth: line.depth, max });
        }
        Ok(Some(line.clone()))
    }

    /// Nothing is run by hand in a turn that a schedule began: that has no line, and could go on for ever.
    pub(super) fn check_by_hand(&self, by: &Actor) -> Result<(), Refusal> {
        let session = by.scope.session().and_then(|session| self.session(session));
        match session.and_then(SessionRecord::line) {
            None => Ok(()),
            Some(_) => Err(Refusal::WokenTurn),
        }
    }

    /// Whether there is room in a line for one schedule more.
    pub(super) fn check_line(&self, line: &Lineage) -> Result<(), Refusal> {
        let there_are = self.lines.get(&line.root).copied().unwrap_or(0);
        if u64::from(there_are) >= limits::LINE_SCHEDULES.value {
            return Err(Refusal::LimitReached { limit: limits::LINE_SCHEDULES });
        }
        Ok(())
    }

    /// Counts an unfinished schedule in its line, or no longer.
    pub(super) fn count_in_line(&mut self, key: Key, is_there: bool) {
        let Some(root) = self.schedules.get(key).and_then(|it| it.schedule.lineage()).map(|it| &it.root)
        else {
            return;
        };
        if is_there {
            *self.lines.entry(root.clone()).or_default() += 1;
        } else if let Some(count) = self.lines.get_mut(root) {
            assert!(*count > 0, "the line of {root} has no schedule left to leave it");
            *count -= 1;
            if *count == 0 {
                self.lines.remove(root);
            }
        }
    }
}

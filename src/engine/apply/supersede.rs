//! Applies that a schedule was defined anew: it begins again, for a session that may be another one. Runs of the earlier
//! definition are none of its own any more.

use crate::domain::{Schedule, SessionId};
use crate::engine::progress::Progress;
use crate::engine::slab::Key;
use crate::engine::state::State;

impl Progress {
    /// Forgets what was counted under an earlier definition.
    pub(super) fn begin_again(&mut self) {
        let Progress { revision, incarnation, updated_at, .. } = *self;
        // The caller has counted the new trigger already: runs from this incarnation on are the schedule's own.
        let first_incarnation = incarnation;
        *self = Progress { revision, incarnation, first_incarnation, updated_at, ..Progress::FRESH };
    }
}

/// Whether a definition is no change of the former one, but made anew.
pub(in crate::engine) fn is_anew(former: &Schedule, present: &Schedule) -> bool {
    // A change keeps both. Only the transition `supersede` gives a schedule a new creation or another owner.
    former.created_at != present.created_at || former.owner != present.owner
}

impl State {
    /// Moves a schedule from the lists of the session that owned it to those of the one that owns it now.
    pub(super) fn move_to_owner(&mut self, key: Key, former: &SessionId) {
        let Some(record) = self.schedules.get(key).filter(|record| record.schedule.owner != *former) else {
            return;
        };
        let is_live = !record.status.is_terminal();
        let present = self.session_key(&record.schedule.owner);
        match record.owner.and_then(|owner| self.sessions.get_mut(owner)) {
            Some(session) => {
                session.live.retain(|live| *live != key);
                session.finished.retain(|finished| *finished != key);
            }
            None => {
                if let Some(left) = self.ownerless.get_mut(former) {
                    left.remove(&key);
                    if left.is_empty() {
                        self.ownerless.remove(former);
                    }
                }
                self.ownerless_finished.retain(|finished| *finished != key);
            }
        }
        if let Some(record) = self.schedules.get_mut(key) {
            record.owner = present;
        }
        if is_live {
            self.enter_owner(key);
        }
    }
}

//! Several sessions with one conversation: it has one process at a time, whichever of them it was started for.
//!
//! The prober cannot see this, because it passes over processes of ours.

use super::{Place, Pool};
use crate::domain::SessionId;

impl Pool {
    /// Makes way for a session in its conversation, if another session has a process there: one in which nothing goes on has to
    /// end, and is returned. `None` if no other session has a process there.
    pub(in crate::adapter::agent) fn make_way(&mut self, session: &SessionId) -> Option<Option<SessionId>> {
        let (other, place) = self.beside(session)?;
        if place != Place::Idle {
            return Some(None);
        }
        // At once, so that it takes no further prompt.
        self.set(&other, Place::Leaving);
        Some(Some(other))
    }

    /// Another session that has a process in the conversation of this one.
    pub(super) fn beside(&self, session: &SessionId) -> Option<(SessionId, Place)> {
        let address = &self.sessions.get(session)?.address;
        let conversation = address.conversation()?;
        let others = self.sessions.iter().filter(|(other, _)| *other != session);
        let mut there = others.filter(|(_, other)| {
            let is_at_work = matches!(other.place, Place::Working | Place::Idle | Place::Leaving);
            let is_same = other.address.configured_as() == address.configured_as();
            is_at_work && is_same && other.address.conversation() == Some(conversation)
        });
        there.next().map(|(other, known)| (other.clone(), known.place))
    }
}

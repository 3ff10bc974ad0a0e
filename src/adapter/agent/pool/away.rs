//! Why a session cannot be reached, and who has its conversation open meanwhile.

use super::Pool;
use crate::domain::{Obstacle, Reason, SessionId};
use crate::port::Holder;

impl Pool {
    /// The session waits for this reason.
    pub(in crate::adapter::agent) fn waits_for(&mut self, session: &SessionId, reason: Reason) {
        if let Some(known) = self.sessions.get_mut(session) {
            known.away = Some(reason);
        }
    }

    /// Notes who has the conversation of a session open.
    pub(in crate::adapter::agent) fn note_holder(&mut self, session: &SessionId, holder: Holder) {
        if let Some(known) = self.sessions.get_mut(session) {
            known.holder = holder;
        }
    }

    /// Returns what is known of why a session cannot be reached, beyond the reason.
    pub(in crate::adapter::agent) fn obstacle(&self, session: &SessionId) -> Option<Obstacle> {
        let known = self.sessions.get(session)?;
        // What another session of the agent has met says nothing of one that waits for something else.
        let is_other = matches!(known.away, Some(Reason::HeldElsewhere | Reason::OverBudget));
        let agent = self.agents.get(known.address.configured_as()).filter(|_| !is_other);
        let error = agent.map(|agent| agent.errors.clone()).filter(|errors| !errors.is_empty());
        let holder = match known.holder {
            Holder::Other(process) => Some(process),
            Holder::Nobody | Holder::Unknown(_) => None,
        };
        Some(Obstacle { holder, error })
    }

    /// Returns the process that has the conversation of a session open, or may have it.
    pub(in crate::adapter::agent) fn process_of_holder(&self, session: &SessionId) -> Option<u32> {
        match self.sessions.get(session)?.holder {
            Holder::Other(process) => process.pid,
            Holder::Unknown(pid) => pid,
            Holder::Nobody => None,
        }
    }

    /// Returns whether a session could not be reached for this reason last.
    pub(in crate::adapter::agent) fn waits_on(&self, session: &SessionId, reason: Reason) -> bool {
        self.sessions.get(session).is_some_and(|known| known.away == Some(reason))
    }
}

//! The zone in which a session's calls mean times that name none.
//!
//! What lives elsewhere: the zone of calls where the session has none (`calendar::Zones::usual`). The rules of scheduling do
//! not depend on it, because every schedule comes to the engine with its zone.

use super::state::State;
use crate::domain::{SessionId, Zone};

impl State {
    /// Returns the zone that a session was opened with or inherited; `None` if there is none, or no such session.
    pub(crate) fn zone_of(&self, session: Option<&SessionId>) -> Option<&Zone> {
        self.session(session?)?.config().zone.as_ref()
    }
}

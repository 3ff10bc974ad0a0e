//! What is a connection's own: the wall between one client and the others.

use std::collections::BTreeSet;

use crate::domain::{HostId, SessionId};
use crate::runtime::Handle;

/// What a connection may touch.
pub(super) struct Own {
    pub(super) operator: bool,
    pub(super) sessions: BTreeSet<SessionId>,
    pub(super) host: HostId,
}

impl Own {
    /// Whether a session exists for this connection: bound to it, opened by it, hosted by it, or come from one of those.
    pub(super) fn covers(&self, handle: &Handle, session: &SessionId) -> bool {
        if self.operator || self.sessions.contains(session) {
            return true;
        }
        handle.view(|state| {
            state.session(session).is_some_and(|record| {
                let origin = record.provenance().map(|provenance| &provenance.origin);
                let hosted = self.host.is_attached() && record.host() == self.host;
                hosted || origin.is_some_and(|origin| self.sessions.contains(origin))
            })
        })
    }
}

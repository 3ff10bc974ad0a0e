//! What is a connection's own: the wall between one client and the others.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Cursor, Decision, DecisionKind, HostId, SessionId};
use crate::engine::{SessionRecord, State};
use crate::runtime::Handle;

/// What a connection may touch.
pub(super) struct Own {
    pub(super) operator: bool,
    pub(super) host: HostId,
    /// The sessions that it is bound to or has opened, with the place of their opening: another session of the same id,
    /// opened by somebody else later, is not meant.
    sessions: BTreeMap<SessionId, Cursor>,
}

impl Own {
    /// Nothing yet, or everything.
    pub(super) fn new(operator: bool) -> Own {
        Own { operator, host: HostId::LOCAL, sessions: BTreeMap::new() }
    }

    /// Takes an open session in.
    pub(super) fn add(&mut self, handle: &Handle, session: &SessionId) {
        if let Some(opened) = handle.view(|state| state.session(session).map(SessionRecord::opened)) {
            self.sessions.insert(session.clone(), opened);
        }
    }

    /// Whether a session exists for this connection: bound to it, opened by it, hosted by it, or come from one of those.
    pub(super) fn covers(&self, handle: &Handle, session: &SessionId) -> bool {
        self.operator
            || handle
                .view(|state| state.session(session).is_some_and(|record| self.covers_record(state, record)))
    }

    fn covers_record(&self, state: &State, record: &SessionRecord) -> bool {
        let hosted = self.host.is_attached() && record.host() == self.host;
        let origin = || state.session(&record.provenance()?.origin);
        hosted || self.is_member(record) || origin().is_some_and(|origin| self.is_member(origin))
    }

    fn is_member(&self, record: &SessionRecord) -> bool {
        self.sessions.get(record.id()) == Some(&record.opened())
    }
}

/// What a subscription of a connection has shown: sessions stay its own until their end has been told.
#[derive(Default)]
pub(super) struct Sight {
    sessions: BTreeSet<SessionId>,
}

impl Sight {
    /// Whether the connection may see a decision; they come in order.
    pub(super) fn admits(&mut self, own: &Own, handle: &Handle, decision: &Decision) -> bool {
        if own.operator {
            return true;
        }
        let Some(session) = &decision.session else {
            // The end of the engine concerns everybody; who else is connected does not.
            return decision.kind == DecisionKind::EngineStopping;
        };
        let opened_here = own.sessions.get(session).is_some_and(|opened| *opened <= decision.cursor);
        let from_here = decision.origin.as_ref().is_some_and(|origin| self.sessions.contains(origin));
        if opened_here || from_here || own.covers(handle, session) {
            self.sessions.insert(session.clone());
        }
        let seen = self.sessions.contains(session);
        if decision.kind == DecisionKind::SessionClosed {
            self.sessions.remove(session);
        }
        seen
    }
}

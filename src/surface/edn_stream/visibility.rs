//! Decides which sessions and events a connection may see.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Cursor, Decision, DecisionKind, HostId, SessionId};
use crate::engine::{SessionRecord, State};
use crate::runtime::Handle;

/// The sessions that a connection may use.
pub(super) struct VisibleSessions {
    pub(super) operator: bool,
    pub(super) host: HostId,
    /// The sessions that it is bound to or has opened, each with the cursor of its opening: a later
    /// session of that id, opened by another client, is not included.
    sessions: BTreeMap<SessionId, Cursor>,
}

impl VisibleSessions {
    /// No sessions yet; an operator may use all of them.
    pub(super) fn new(operator: bool) -> VisibleSessions {
        VisibleSessions { operator, host: HostId::LOCAL, sessions: BTreeMap::new() }
    }

    /// Adds an open session.
    pub(super) fn add(&mut self, handle: &Handle, session: &SessionId) {
        if let Some(opened) = handle.view(|state| state.session(session).map(SessionRecord::opened)) {
            self.sessions.insert(session.clone(), opened);
        }
    }

    /// Whether the connection may use a session: it is bound to it, opened it, hosts it, or the
    /// session comes from one of those.
    pub(super) fn covers(&self, handle: &Handle, session: &SessionId) -> bool {
        self.operator
            || handle
                .view(|state| state.session(session).is_some_and(|record| self.covers_record(state, record)))
    }

    fn covers_record(&self, state: &State, record: &SessionRecord) -> bool {
        let hosted = self.host.is_attached() && record.host() == self.host;
        // A session that a schedule created belongs to the session that scheduled it.
        let origin = || state.session(&record.provenance()?.origin);
        hosted || self.is_member(record) || origin().is_some_and(|origin| self.is_member(origin))
    }

    fn is_member(&self, record: &SessionRecord) -> bool {
        self.sessions.get(record.id()) == Some(&record.opened())
    }
}

/// The sessions whose events a subscription has shown. They stay visible until the end of the
/// session has been shown.
#[derive(Default)]
pub(super) struct SeenSessions {
    sessions: BTreeSet<SessionId>,
}

impl SeenSessions {
    /// Whether the connection may see a decision. Decisions must be passed in order.
    pub(super) fn admits(&mut self, own: &VisibleSessions, handle: &Handle, decision: &Decision) -> bool {
        if own.operator {
            return true;
        }
        let Some(session) = &decision.session else {
            // Events without a session reveal other clients, except the engine's end, which
            // concerns everybody.
            return decision.kind == DecisionKind::EngineStopping;
        };
        // From the opening on: events of an earlier session of that id stay invisible.
        let opened_here = own.sessions.get(session).is_some_and(|opened| *opened <= decision.cursor);
        let from_here = decision.origin.as_ref().is_some_and(|origin| self.sessions.contains(origin));
        if opened_here || from_here || own.covers(handle, session) {
            self.sessions.insert(session.clone());
        }
        let seen = self.sessions.contains(session);
        // The closing itself is still shown; a later session of that id is another one.
        if decision.kind == DecisionKind::SessionClosed {
            self.sessions.remove(session);
        }
        seen
    }
}

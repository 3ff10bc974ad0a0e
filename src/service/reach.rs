//! The sessions that a connection may speak for, beyond the one that its caller is bound to.

use std::collections::BTreeMap;

use crate::domain::{Caller, Cursor, HostId, Scope, SessionId};
use crate::engine::{SessionRecord, State};
use crate::runtime::Handle;

/// The sessions that a connection may use.
pub(crate) struct Reach {
    is_operators: bool,
    /// The host that the connection is; [`HostId::LOCAL`] until it attaches as one.
    pub(crate) host: HostId,
    /// The sessions that it is bound to or has opened, each with the cursor of its opening: a later
    /// session of that id, opened by another client, is not included.
    sessions: BTreeMap<SessionId, Cursor>,
}

impl Reach {
    /// What a caller reaches before it has opened or hosted anything; an operator reaches everything.
    pub(crate) fn of(handle: &Handle, caller: &Caller) -> Reach {
        let is_operators = caller.scope == Scope::Operator;
        let mut reach = Reach { is_operators, host: HostId::LOCAL, sessions: BTreeMap::new() };
        if let Scope::Session(session) = &caller.scope {
            reach.add(handle, session);
        }
        reach
    }

    /// Whether every session is within reach.
    pub(crate) fn is_operators(&self) -> bool {
        self.is_operators
    }

    /// Adds an open session.
    pub(crate) fn add(&mut self, handle: &Handle, session: &SessionId) {
        if let Some(opened) = handle.view(|state| state.session(session).map(SessionRecord::opened)) {
            self.sessions.insert(session.clone(), opened);
        }
    }

    /// The opening of a session that is bound to the connection or was opened by it.
    pub(crate) fn opening(&self, session: &SessionId) -> Option<Cursor> {
        self.sessions.get(session).copied()
    }

    /// Whether the connection may use a session: it is bound to it, opened it, hosts it, or the
    /// session comes from one of those.
    pub(crate) fn covers(&self, handle: &Handle, session: &SessionId) -> bool {
        self.is_operators
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
        self.opening(record.id()) == Some(record.opened())
    }
}

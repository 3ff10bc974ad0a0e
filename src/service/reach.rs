//! The sessions that a connection may speak for, beyond the one that its caller is bound to.

use std::collections::BTreeMap;

use crate::domain::{Caller, Cursor, HostId, Scope, SessionId, TokenName};
use crate::engine::{SessionRecord, State};
use crate::runtime::Handle;

/// The sessions that a connection may use.
pub(crate) struct Reach {
    is_operators: bool,
    /// The host that the connection is; [`HostId::LOCAL`] until it attaches as one.
    pub(crate) host: HostId,
    /// The host token of the client: what was opened by it is within reach, by whatever connection.
    host_token: Option<TokenName>,
    /// The sessions that it is bound to or has opened, each with the cursor of its opening: a later
    /// session of that id, opened by another client, is not included.
    sessions: BTreeMap<SessionId, Cursor>,
}

impl Reach {
    /// What a caller reaches before it has opened or hosted anything; an operator reaches everything.
    pub(crate) fn of(handle: &Handle, caller: &Caller) -> Reach {
        let is_operators = caller.scope == Scope::Operator;
        let host_token = caller.via.host().cloned();
        let mut reach = Reach { is_operators, host: HostId::LOCAL, host_token, sessions: BTreeMap::new() };
        if let Scope::Session(session) = &caller.scope {
            // With the opening of the session that is open at this moment: a later one of its id is not within reach.
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
        self.covers_since(handle, session, None)
    }

    /// Whether the connection may see what happened to a session at this cursor: not what happened to an earlier session of
    /// that id.
    pub(crate) fn covered_at(&self, handle: &Handle, session: &SessionId, at: Cursor) -> bool {
        self.covers_since(handle, session, Some(at))
    }

    fn covers_since(&self, handle: &Handle, session: &SessionId, at: Option<Cursor>) -> bool {
        let covers = |state: &State| {
            let record = state.session(session).filter(|record| at.is_none_or(|at| record.opened() <= at));
            record.is_some_and(|record| self.covers_record(state, record))
        };
        self.is_operators || handle.view(covers)
    }

    fn covers_record(&self, state: &State, record: &SessionRecord) -> bool {
        let hosted = self.host.is_attached() && record.host() == self.host;
        // A session that a schedule created belongs to the session that scheduled it.
        let origin = || state.session(&record.provenance()?.origin);
        let is_kept = self.host_token.is_some() && record.host_token() == self.host_token.as_ref();
        is_kept || hosted || self.is_member(record) || origin().is_some_and(|origin| self.is_member(origin))
    }

    fn is_member(&self, record: &SessionRecord) -> bool {
        self.opening(record.id()) == Some(record.opened())
    }
}

/// Returns the caller acting for a session: an operator for any, a host for those that its token has opened, and everybody for
/// its own. `None` for any other, whether it exists or not.
#[cfg(feature = "http")]
pub(crate) fn acting_for(handle: &Handle, caller: &Caller, session: &SessionId) -> Option<Caller> {
    let is_own = caller.scope.covers(session);
    let may = is_own || caller.scope.is_nothing() && Reach::of(handle, caller).covers(handle, session);
    may.then(|| caller.acting_for(session.clone()))
}

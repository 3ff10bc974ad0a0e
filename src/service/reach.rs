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
    /// The session that the caller is bound to.
    bound: Option<SessionId>,
    /// The sessions that it is bound to or has opened: a later session of that id, opened by another
    /// client, is not included.
    sessions: BTreeMap<SessionId, Reached>,
    /// How many there may be before those are dropped that nothing tells of any more.
    sweep_at: usize,
}

struct Reached {
    opened: Cursor,
    /// A cursor at which it was closed already.
    closed_by: Option<Cursor>,
}

impl Reach {
    /// What a caller reaches before it has opened or hosted anything; an operator reaches everything.
    pub(crate) fn of(handle: &Handle, caller: &Caller) -> Reach {
        let is_operators = caller.scope == Scope::Operator;
        let host_token = caller.via.host().cloned();
        let (bound, sessions) = (caller.scope.session().cloned(), BTreeMap::new());
        let mut reach =
            Reach { is_operators, host: HostId::LOCAL, host_token, bound, sessions, sweep_at: SWEEP_MIN };
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
        let engine = handle.read();
        let Some(opened) = engine.state().session(session).map(SessionRecord::opened) else { return };
        self.sessions.insert(session.clone(), Reached { opened, closed_by: None });
        if self.sessions.len() > self.sweep_at {
            let oldest = engine.decisions().front().map_or(Cursor::START, |oldest| oldest.cursor);
            self.sweep(engine.state(), oldest);
        }
    }

    /// Drops the sessions that were closed before the oldest decision that is retained: no subscription can tell of them. The
    /// caller's own session stays, because another one of its id is not the caller's.
    fn sweep(&mut self, state: &State, oldest: Cursor) {
        let Reach { bound, sessions, .. } = self;
        sessions.retain(|id, reached| {
            let is_open = state.session(id).is_some_and(|record| record.opened() == reached.opened);
            is_open
                || bound.as_ref() == Some(id)
                || *reached.closed_by.get_or_insert(state.cursor()) >= oldest
        });
        self.sweep_at = (2 * self.sessions.len()).max(SWEEP_MIN);
    }

    /// The opening of a session that is bound to the connection or was opened by it.
    pub(crate) fn opening(&self, session: &SessionId) -> Option<Cursor> {
        self.sessions.get(session).map(|reached| reached.opened)
    }

    /// The sessions of the connection that are over, with their openings. Another session may be open under such an id.
    pub(crate) fn past_openings(&self, state: &State) -> impl Iterator<Item = (&SessionId, Cursor)> {
        let openings = self.sessions.iter().map(|(session, reached)| (session, reached.opened));
        openings
            .filter(|(session, opened)| state.session(session).map(SessionRecord::opened) != Some(*opened))
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
        // A session that a schedule created belongs to the session that scheduled it, and not to a later one of that id.
        let origin = || state.session(&record.provenance()?.origin);
        let is_of = |origin: &SessionRecord| origin.opened() <= record.opened() && self.is_member(origin);
        let is_kept = self.host_token.is_some() && record.host_token() == self.host_token.as_ref();
        is_kept || hosted || self.is_member(record) || origin().is_some_and(is_of)
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

/// A table of this size is not worth a sweep.
const SWEEP_MIN: usize = 1_024;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::{BootTime, Fact, Moment, Now, SessionConfig, SessionFact};

    fn apply(state: &mut State, session: &SessionId, fact: SessionFact) {
        let now = Now { wall: Moment::EPOCH, boot: BootTime::ZERO };
        state.apply(now, Fact::Session(session.clone(), fact, None));
    }

    fn opened() -> SessionFact {
        let config = Arc::<SessionConfig>::default();
        SessionFact::Opened { host: HostId::LOCAL, config, provenance: None }
    }

    /// A client that opens and closes sessions for years, and one that is bound to a session.
    #[test]
    fn closed_sessions_are_dropped_when_no_decision_tells_of_them() {
        let id = |name: &str| SessionId::new(name).expect("an id");
        let (mut state, ids) = (State::new(), ["bound", "open", "closed", "again"].map(id));
        let mut reach = Reach {
            is_operators: false,
            host: HostId::LOCAL,
            host_token: None,
            bound: Some(ids[0].clone()),
            sessions: BTreeMap::new(),
            sweep_at: SWEEP_MIN,
        };
        for session in &ids {
            apply(&mut state, session, opened());
            let opened = state.session(session).expect("it is open").opened();
            reach.sessions.insert(session.clone(), Reached { opened, closed_by: None });
        }
        for session in [&ids[0], &ids[2], &ids[3]] {
            apply(&mut state, session, SessionFact::Closed);
        }
        // Another client opens a session of this id.
        apply(&mut state, &ids[3], opened());
        let left = |reach: &Reach| ids.clone().map(|id| reach.opening(&id).is_some());
        let closed_by = state.cursor();
        reach.sweep(&state, closed_by);
        assert_eq!(left(&reach), [true; 4], "a subscription may still tell of them");
        apply(&mut state, &id("later"), opened());
        reach.sweep(&state, closed_by.next());
        assert_eq!(left(&reach), [true, true, false, false]);
    }
}

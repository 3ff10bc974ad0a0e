//! Decides which events a subscription of a connection shows.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Cursor, Decision, DecisionKind, SessionId};
use crate::runtime::Handle;
use crate::service::Reach;

/// The sessions whose events a subscription has shown. They stay visible until the end of the
/// session has been shown.
#[derive(Default)]
pub(super) struct SeenSessions {
    sessions: BTreeSet<SessionId>,
    /// The last closing that was shown of each session of the connection; of one whose closing is not shown, its opening.
    closed: BTreeMap<SessionId, Cursor>,
    /// How many of these there may be before the needless ones are dropped.
    sweep_at: usize,
}

impl SeenSessions {
    /// Prepares for decisions from this cursor on, where those before it are not shown. A session of the connection may have
    /// ended among these, and then another one may have its id.
    pub(super) fn start_at(&mut self, own: &Reach, handle: &Handle, from: Cursor) {
        self.sessions.clear();
        if own.is_operators() {
            return;
        }
        let engine = handle.read();
        let mut over: BTreeMap<&SessionId, Cursor> = own.past_openings(engine.state()).collect();
        if over.is_empty() {
            return;
        }
        let shown = || engine.decisions().iter().skip(engine.earlier_decisions());
        let oldest = shown().next().map_or(from, |oldest| oldest.cursor);
        let bounds = [DecisionKind::SessionOpened, DecisionKind::SessionClosed];
        for decision in shown().filter(|decision| bounds.contains(&decision.kind)) {
            let Some(session) = &decision.session else { continue };
            let Some(opened) = over.get(session).copied().filter(|opened| *opened < decision.cursor) else {
                continue;
            };
            over.remove(session);
            // Its own closing only if nothing is missing since its opening: otherwise it may be that of the other session.
            let is_own = decision.kind == DecisionKind::SessionClosed && oldest <= opened.next();
            if !is_own || decision.cursor < from {
                self.end(session, opened);
            }
        }
        over.into_iter().for_each(|(session, opened)| self.end(session, opened));
    }

    /// Notes that a session of the connection is over.
    fn end(&mut self, session: &SessionId, at: Cursor) {
        let closed = self.closed.entry(session.clone()).or_insert(at);
        *closed = at.max(*closed);
    }

    /// Whether the connection may see a decision. Decisions must be passed in order.
    pub(super) fn admits(&mut self, own: &Reach, handle: &Handle, decision: &Decision) -> bool {
        if own.is_operators() {
            return true;
        }
        let Some(session) = &decision.session else {
            // Events without a session reveal other clients, except the engine's end, which
            // concerns everybody.
            return decision.kind == DecisionKind::EngineStopping;
        };
        // From the opening to the closing: events of an earlier and of a later session of that id stay invisible.
        let is_open = |opened: Cursor| self.closed.get(session).is_none_or(|closed| *closed < opened);
        let opened_here =
            own.opening(session).is_some_and(|opened| opened <= decision.cursor && is_open(opened));
        let from_here = decision.origin.as_ref().is_some_and(|origin| self.sessions.contains(origin));
        if opened_here || from_here || own.covered_at(handle, session, decision.cursor) {
            self.sessions.insert(session.clone());
        }
        let seen = self.sessions.contains(session);
        // The closing itself is still shown; a later session of that id is another one.
        if decision.kind == DecisionKind::SessionClosed {
            self.sessions.remove(session);
            // Only openings of the connection itself are compared with a closing.
            if own.opening(session).is_some() {
                self.end(session, decision.cursor);
                self.sweep(own);
            }
        }
        seen
    }

    /// Drops the closings that nothing is compared with: those of sessions that the connection has forgotten or opened again.
    fn sweep(&mut self, own: &Reach) {
        if self.closed.len() > self.sweep_at {
            self.closed
                .retain(|session, closed| own.opening(session).is_some_and(|opened| opened <= *closed));
            self.sweep_at = (2 * self.closed.len()).max(SWEEP_MIN);
        }
    }
}

/// A table of this size is not worth a sweep.
const SWEEP_MIN: usize = 1_024;

//! The tools that sessions can have called, as far as a query asks for them.
//!
//! A query holds the engine's lock, under which no executor is asked what it offers. So a query records whose tools it needs;
//! they are fetched without the lock, and the query runs again.
//! What lives elsewhere: fetching (`service/access.rs`), who carries a tool out (`runtime/kit.rs`).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{ExecutorKind, SessionId, ToolCounts, ToolSpec};

/// A tool that somebody can have called.
#[derive(Clone, Debug)]
pub struct OfferedTool {
    /// What the tool is.
    pub(crate) spec: ToolSpec,
    /// Who carries it out.
    pub(crate) executor: ExecutorKind,
    /// Whether the caller of the query may call it.
    pub(crate) is_callable: bool,
    /// What became of its calls, by any caller; `None` if the caller of the query may not know what others do.
    pub(crate) counts: Option<ToolCounts>,
}

/// The tools by session, with `None` for those of every session, and the sessions whose tools are missing.
#[derive(Debug, Default)]
pub struct ToolOffers {
    /// The place of each session in `found`.
    places: BTreeMap<Option<SessionId>, usize>,
    found: Vec<Vec<OfferedTool>>,
    // Readers share the view, so a request has to be recorded through a shared reference.
    requested: RefCell<BTreeSet<Option<SessionId>>>,
}

impl ToolOffers {
    /// Returns the tools of a session, with its place among the sessions; `None`, and a request, if they were not fetched.
    pub(super) fn of(&self, session: Option<&SessionId>) -> Option<(usize, &[OfferedTool])> {
        let session = session.cloned();
        let Some(place) = self.places.get(&session) else {
            self.requested.borrow_mut().insert(session);
            return None;
        };
        self.found.get(*place).map(|tools| (*place, tools.as_slice()))
    }

    /// Returns a tool by its place.
    pub(super) fn at(&self, session: usize, tool: usize) -> Option<&OfferedTool> {
        self.found.get(session)?.get(tool)
    }

    /// Takes the sessions whose tools were requested.
    pub fn take_requests(&mut self) -> BTreeSet<Option<SessionId>> {
        std::mem::take(self.requested.get_mut())
    }

    /// Adds the tools of a session, for the next run of the query.
    pub fn insert(&mut self, session: Option<SessionId>, tools: Vec<OfferedTool>) {
        // A place that was given stays that of its session.
        let place = *self.places.entry(session).or_insert(self.found.len());
        match self.found.get_mut(place) {
            Some(known) => *known = tools,
            None => self.found.push(tools),
        }
    }
}

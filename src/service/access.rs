//! One caller's access to the graph while one query runs: consistent readings, and mutations between them.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::admission::Admitted;
use super::as_of::{Snapshot, TranscriptsUntil};
use super::budgets::BudgetsInUse;
use super::denial::{Denial, DenialReason};
use super::mutations::CallerHand;
use super::queue::Turn;
use super::{Service, history};
use crate::domain::{
    BootTime, Caller, CallerRole, Code, Cursor, Moment, Now, Obstacle, Op, RunId, Scope, SessionId, Span,
    Transcript,
};
use crate::edn::Map;
use crate::engine::SessionRecord;
use crate::graph::eql::QueryRefusal;
use crate::graph::log_lookback::{Lookback, Reach};
use crate::graph::mutation::MutationName;
use crate::graph::past_accounts::PastAccounts;
use crate::graph::registry::{Access, ResolverError, ViewOf};
use crate::graph::tool_offers::ToolOffers;
use crate::graph::view::{
    AdmittedMutation, Mutator, QueryArena, Scheduler, Transcripts, Undelivered, Usage, View,
};
use crate::limits;
use crate::runtime::Reading;

/// One caller's access while one query runs.
pub struct QueryAccess<'a> {
    service: &'a Service,
    caller: &'a Caller,
    /// The moment as of which the query is answered; a mutation moves it.
    now: Now,
    /// When the query last locked the engine.
    since: Rc<Cell<BootTime>>,
    /// What the query reads instead of the present, for a query as of an instant.
    snapshot: Option<Arc<Snapshot>>,
    /// The right to have a snapshot. It stands after it, because fields are dropped in their order.
    _turn: Option<Turn>,
    /// The scope of a query of the past before the caller's session was opened.
    stranger: Option<Scope>,
    older: Lookback,
    offers: ToolOffers,
    has_acted: bool,
    /// The family whose time the query takes; `None` if nobody counts it.
    family: Option<SessionId>,
}

impl Service {
    /// A caller's access to the graph for the time of one query, as it is or as it was at an instant.
    ///
    /// # Errors
    /// [`QueryRefusal::TooFast`] for a session whose queries took too much time of late, [`QueryRefusal::Forbidden`] for a
    /// caller that may not query; [`QueryRefusal::Past`] or a limit of the queries as of an instant.
    pub fn admit_query<'a>(
        &'a self,
        caller: &'a Caller,
        as_of: Option<Moment>,
    ) -> Result<QueryAccess<'a>, QueryRefusal> {
        let op = if as_of.is_some() { Op::AsOf } else { Op::Graph };
        let admitted = self.admit(caller, op, None).map_err(|denial| refused(&denial))?;
        as_of.map_or_else(|| Ok(self.access(admitted)), |at| self.access_as_of(admitted, at))
    }

    /// A caller's access to the graph for the time in which one item is pushed that it follows.
    ///
    /// # Errors
    /// [`QueryRefusal::Forbidden`] for a caller that may not follow anything.
    #[cfg(feature = "graphql")]
    pub(crate) fn admit_item<'a>(&'a self, caller: &'a Caller) -> Result<QueryAccess<'a>, QueryRefusal> {
        let admitted = self.admit(caller, Op::Follow, None).map_err(|denial| refused(&denial))?;
        Ok(self.access(admitted))
    }

    /// The access of a caller that was admitted.
    pub(super) fn access<'a>(&'a self, admitted: Admitted<'a>) -> QueryAccess<'a> {
        let caller = admitted.caller();
        let now = self.handle().now();
        let (since, older) = (Rc::new(Cell::new(now.boot)), Lookback::default());
        QueryAccess {
            service: self,
            caller,
            now,
            since,
            snapshot: None,
            stranger: None,
            _turn: None,
            older,
            offers: ToolOffers::default(),
            has_acted: false,
            family: self.family(caller),
        }
    }

    /// The family whose time a caller's queries take. Only a session's own token has such a bound.
    fn family(&self, caller: &Caller) -> Option<SessionId> {
        let own = caller.scope.session().filter(|_| caller.role == CallerRole::Session)?;
        Some(self.handle().view(|state| state.root_of(own).clone()))
    }

    /// A caller's access to the graph as it was at an instant.
    ///
    /// # Errors
    /// [`QueryRefusal::Past`] if the log does not reach back to that instant, or the instant lies ahead; a limit of the
    /// queries as of an instant.
    fn access_as_of<'a>(
        &'a self,
        admitted: Admitted<'a>,
        at: Moment,
    ) -> Result<QueryAccess<'a>, QueryRefusal> {
        let caller = admitted.caller();
        let (snapshot, turn, took) = self.shared.past.snapshot(self.handle(), self.holder(caller), at)?;
        // The cursor of its opening tells a session from an earlier one of the same id.
        let then = |own: &SessionId| snapshot.state.session(own).map(SessionRecord::opened);
        let now = |own: &SessionId| self.handle().view(|state| state.session(own).map(SessionRecord::opened));
        // Another session had the id then, or none: nothing of what it had is the caller's. No session has ever had a random
        // id, so that the answer is the one about what never was.
        let is_other = caller.scope.session().is_some_and(|own| then(own).is_none() || then(own) != now(own));
        let stranger = is_other.then(|| Scope::Session(SessionId::random(self.handle().random_bits())));
        let access = self.access(admitted);
        // Rebuilding the past is the costly part of such a query, so it takes from the caller's query time as well.
        access.count(took);
        let mut older = Lookback::default();
        // The pass over the log has counted them already: the query must not ask for those of the present.
        older.insert_accounts(snapshot.accounts.clone());
        Ok(QueryAccess { snapshot: Some(snapshot), _turn: Some(turn), stranger, older, ..access })
    }
}

impl<'a> QueryAccess<'a> {
    /// Who was admitted.
    pub(super) fn caller(&self) -> &'a Caller {
        self.caller
    }

    /// A check that says when the query has held the engine for longer than its time budget. Waiting for the lock or for the
    /// disk does not count: the caller of a mutation that was committed still gets its answer.
    pub(crate) fn stop(&self) -> impl Fn() -> bool + use<'a> {
        let (handle, since) = (self.service.handle(), Rc::clone(&self.since));
        move || handle.now().boot.since(since.get()).millis() > limits::QUERY_MS.value
    }

    /// Fetches what the query could not read under the engine's lock. Returns whether to run the query again: never after it
    /// has changed anything.
    pub(crate) fn fetch_missing(&mut self) -> bool {
        // Both are fetched, so that the query runs twice at most.
        let has_tools = self.ask_for_tools();
        self.look_back() || has_tools
    }

    /// Fetches the tools that the query asks for. The past does not tell them.
    fn ask_for_tools(&mut self) -> bool {
        let missing = self.offers.take_requests();
        if self.has_acted || self.snapshot.is_some() || missing.is_empty() {
            return false;
        }
        for session in missing {
            let tools = self.service.offered_tools(session.as_ref(), self.caller);
            self.offers.insert(session, tools);
        }
        true
    }

    /// Fetches decisions that the query has missed because the feed no longer has them.
    fn look_back(&mut self) -> bool {
        let missing = self.older.take_requests();
        let wants_accounts = self.older.take_accounts_request();
        // After a mutation there is no second run, which would carry it out again.
        if self.has_acted || missing.is_empty() && !wants_accounts {
            return false;
        }
        let Some(store) = self.service.handle().read().store() else { return false };
        let mut found = false;
        if wants_accounts && let Some(accounts) = self.accounts() {
            self.older.insert_accounts(accounts);
            found = true;
        }
        let family = self.family();
        for (schedule, reach) in missing {
            // A schedule that exists for the caller is looked up in the whole log, because another family may own it.
            let within = family.clone().filter(|_| reach == Reach::Family);
            // A record that cannot be read is left out of the answer; `doctor` reports the damage.
            if let Ok(decisions) = history::about(&*store, &schedule, within) {
                found |= !decisions.is_empty();
                self.older.insert(schedule, decisions);
            }
        }
        found
    }

    /// Returns the root of the caller's family; `None` for an operator.
    fn family(&self) -> Option<Arc<str>> {
        let session = self.stranger.as_ref().unwrap_or(&self.caller.scope).session()?;
        let engine = self.service.handle().read();
        Some(engine.state().root_of(session).as_str().into())
    }

    /// Counts what became of slots in the past: one pass over the log, within the bounds of the queries as of an instant. `None`
    /// if that is refused.
    fn accounts(&self) -> Option<PastAccounts> {
        let now = self.service.handle().now().wall;
        let service = self.service;
        let rebuilt = service.shared.past.snapshot(service.handle(), service.holder(self.caller), now);
        let (snapshot, _turn, took) = rebuilt.ok()?;
        self.count(took);
        Some(snapshot.accounts.clone())
    }

    fn count(&self, took: Span) {
        if let Some(root) = &self.family {
            self.service.shared.rates.count_query(root.clone(), took, self.service.handle().now().boot);
        }
    }

    fn show(&self, engine: &Reading<'_>, reading: &mut dyn FnMut(ViewOf<'_, Scheduler>)) {
        let handle = self.service.handle();
        let snapshot = self.snapshot.as_deref();
        // Hosts have no past: their messages are cut off at the instant.
        let until = snapshot.map(|snapshot| TranscriptsUntil { engine, at: snapshot.now.wall });
        let counters = engine.counters();
        let undelivered = Undelivered {
            since: engine.started_at(),
            skipped: counters.skipped(),
            cancelled: counters.cancelled(),
            failed: counters.failed(),
        };
        let scope = self.stranger.as_ref().unwrap_or(&self.caller.scope);
        // A session that is not open has no history of its own.
        let own = scope.session().and_then(|own| engine.state().session(own));
        let opened = own.map_or(Cursor::START, SessionRecord::opened);
        // Read lazily: a query that asks for no budget counts nothing.
        let usage = BudgetsInUse { service: self.service, engine, now: self.now.boot };
        let view = View {
            state: snapshot.map_or(engine.state(), |snapshot| &snapshot.state),
            zones: handle.zones(),
            decisions: snapshot.map_or(engine.decisions(), |snapshot| &snapshot.decisions),
            from_log: snapshot.map_or(engine.earlier_decisions(), |_| 0),
            transcripts: until.as_ref().map_or(engine, |until| until as &dyn Transcripts),
            usage: snapshot.is_none().then_some(&usage as &dyn Usage),
            registry: self.service.registry(),
            scope,
            opened,
            now: snapshot.map_or(self.now, |snapshot| snapshot.now),
            lookback: &self.older,
            offers: &self.offers,
            unrecoverable: snapshot.map(|snapshot| snapshot.unrecoverable),
            // Counters have no past.
            undelivered: snapshot.is_none().then_some(undelivered),
            arena: QueryArena::default(),
        };
        reading(&view);
    }
}

impl Access<Scheduler> for QueryAccess<'_> {
    fn with_view(&mut self, reading: &mut dyn FnMut(ViewOf<'_, Scheduler>)) {
        let engine = self.service.handle().read();
        // Set after the lock was obtained, so that waiting for a writer does not count against the query's time.
        let began = self.service.handle().now().boot;
        self.since.set(began);
        self.show(&engine, reading);
        drop(engine);
        self.count(self.service.handle().now().boot.since(began));
    }

    fn act(&mut self, acting: &mut dyn FnMut(&dyn Mutator)) {
        if self.snapshot.is_some() {
            return acting(&ReadOnly);
        }
        self.has_acted = true;
        acting(&CallerHand { service: self.service, caller: self.caller });
        // The rest of the query is answered as of the moment after the mutation. Its time budget starts anew, because
        // the mutation may have waited for the disk.
        self.now = self.service.handle().now();
        self.since.set(self.now.boot);
    }
}

/// The refusal of a query whose caller was not admitted.
fn refused(denial: &Denial) -> QueryRefusal {
    match denial.reason {
        DenialReason::TooFast { rate, wait } => QueryRefusal::TooFast { limit: rate, wait },
        DenialReason::ReadOnly
        | DenialReason::HostsOnly
        | DenialReason::OperatorsOnly
        | DenialReason::NotGranted { .. }
        | DenialReason::NoSession
        | DenialReason::Absent
        | DenialReason::SwitchedOff { .. } => QueryRefusal::Forbidden(denial.to_string().into()),
    }
}

/// The mutator of a query as of an instant: it refuses everything.
struct ReadOnly;

impl Mutator for ReadOnly {
    fn admit(&self, _mutation: MutationName) -> Result<Box<dyn AdmittedMutation + '_>, ResolverError> {
        Err(unchangeable())
    }
}

fn unchangeable() -> ResolverError {
    let message = "what was cannot be changed; ask without an instant in the past";
    ResolverError::new(message, Map::new()).coded(Code::Conflict)
}

impl Transcripts for Reading<'_> {
    fn transcript(&self, session: &SessionRecord) -> Option<Transcript> {
        Reading::transcript(self, session)
    }

    fn turn(&self, run: &RunId) -> Option<Arc<crate::domain::Turn>> {
        Reading::turn(self, run)
    }

    fn asking(&self) -> Vec<RunId> {
        Reading::asking(self)
    }

    fn obstacle(&self, session: &SessionRecord) -> Option<Obstacle> {
        Reading::obstacle(self, session)
    }
}

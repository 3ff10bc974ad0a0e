//! The view from which the scheduler's attributes are read: the engine's state, as far as one caller may see it.
//!
//! Lives here: the types of the scheduler's world, and the checks of visibility. Does not live here: the attributes
//! (`attr/`), locks and hosts (`service/access.rs`).
//!
//! Invariant: a reader reaches a schedule, session, run or decision only through the methods here, which hide what
//! does not exist for the caller's scope.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use super::log_lookback::{Lookback, Reach};
use super::mutation::{Mutation, MutationName};
use super::page::Page;
use super::registry::{Graph, Introspected, Registry, ResolverError, ViewOf, Viewer, World};
use super::timeline_cell::TimelineCell;
use super::tool_offers::ToolOffers;
use crate::calendar::Zones;
use crate::domain::{
    Cursor, Decision, DecisionKind, Moment, Now, Obstacle, RunId, ScheduleId, Scope, SessionId, Transcript,
    Turn,
};
use crate::edn::Value;
use crate::engine::{
    DecisionSource, Explanation, ForecastSlot, Key, RunRecord, ScheduleRecord, SessionRecord, State,
};
use crate::limits::Budget;

/// The scheduler's world.
pub struct Scheduler;

/// What the readers of one query read from, for one caller.
pub struct View<'a> {
    /// The state of the engine.
    pub state: &'a State,
    /// The time zone database.
    pub zones: &'a Zones,
    /// The decisions that the feed retains, oldest first.
    pub decisions: &'a VecDeque<Decision>,
    /// How many of them, from the first on, were read from the log, in which some may be missing.
    pub from_log: usize,
    /// The transcripts of the hosts.
    pub transcripts: &'a dyn Transcripts,
    /// How much of each budget is in use; `None` in a query of the past.
    pub usage: Option<&'a dyn Usage>,
    /// The registry that the query runs on, for introspection.
    pub registry: &'a Registry<Scheduler>,
    /// The scope of the caller.
    pub scope: &'a Scope,
    /// The opening of the caller's session. What happened before it concerns an earlier session of that id.
    pub opened: Cursor,
    /// The time as of which the query is answered.
    pub now: Now,
    /// Decisions from the log that are older than the feed.
    pub lookback: &'a Lookback,
    /// The tools that sessions can have called.
    pub offers: &'a ToolOffers,
    /// In a query of the past: the number of schedules, sessions and settings whose stored history does not reach back to
    /// that instant. `None` in a query of the present.
    pub unrecoverable: Option<u64>,
    /// Counts of what was not delivered, by reason; `None` in a query of the past.
    pub undelivered: Option<Undelivered<'a>>,
    /// Values that are made during the query and read more than once.
    pub arena: QueryArena,
}

/// Counts of what was not delivered since the process started. Each list has one count per reason, in the order of
/// `Reason::ALL`.
#[derive(Clone, Copy)]
pub struct Undelivered<'a> {
    /// When the process began to count.
    pub(crate) since: Moment,
    /// Slots that passed without a run of their own.
    pub skipped: &'a [u64],
    /// Runs and schedules that were cancelled.
    pub cancelled: &'a [u64],
    /// Runs that failed.
    pub failed: &'a [u64],
}

/// Values that are made during one query and dropped with it. Readers share the view, so they add values through a shared
/// reference.
#[derive(Default)]
pub struct QueryArena {
    /// Pages; the number of a page is its index.
    pages: RefCell<Vec<Page>>,
    /// Slots of forecasts; the number of a slot is its index.
    slots: RefCell<Vec<Rc<ForecastEntry>>>,
    /// Explanations; the number of an explanation is its index.
    explanations: RefCell<Vec<Rc<Explanation>>>,
    /// Cells of timelines; the number of a cell is its index.
    cells: RefCell<Vec<Rc<TimelineCell>>>,
    /// Transcripts, by session.
    transcripts: RefCell<BTreeMap<Key, Option<Rc<Transcript>>>>,
}

/// A slot of a forecast.
#[derive(Debug)]
pub(super) struct ForecastEntry {
    pub(super) slot: ForecastSlot,
    /// In a what-if query: the slot without the change, `Some(None)` if there would be no such slot. `None` in a plain
    /// forecast.
    pub(super) as_is: Option<Option<ForecastSlot>>,
    /// Whether slots are left out after this one.
    pub(super) more: bool,
}

/// The decisions about one schedule that a caller may see, from the feed and the log.
struct VisibleHistory<'v, 'a> {
    view: &'v View<'a>,
    schedule: &'v ScheduleId,
    /// Whether the schedule exists for the caller, who then sees its whole history, even if another session owns it.
    is_visible: bool,
}

impl DecisionSource for VisibleHistory<'_, '_> {
    fn about(
        &self,
        schedule: &ScheduleId,
        since: Moment,
        visit: &mut dyn FnMut(&Decision) -> ControlFlow<()>,
    ) {
        let view = self.view;
        // The source does not report whether the visitor stopped it, but the log must not be read after that.
        let stopped = Cell::new(false);
        let mut show = |decision: &Decision| {
            // Without a record nothing shows whether it was shared, so only decisions about the caller's own session count.
            if !self.is_visible && !view.concerns(decision) {
                return ControlFlow::Continue(());
            }
            let flow = visit(decision);
            stopped.set(flow.is_break());
            flow
        };
        let oldest = view.oldest_own().map_or(Cursor::START, |oldest| oldest.cursor);
        // An explanation concludes from what is not there, so it gets nothing of the part in which decisions are missing.
        view.decisions.about(schedule, since, &mut |decision| match decision.cursor >= oldest {
            true => show(decision),
            false => ControlFlow::Break(()),
        });
        if stopped.get() || view.feed_complete_since().is_none() {
            return;
        }
        // Not fetched: the query goes on without the log, and is repeated once the decisions have been fetched.
        let Some(told) = view.lookback.get(schedule) else {
            view.lookback.request(schedule, if self.is_visible { Reach::All } else { Reach::Family });
            return;
        };
        // The log also contains the decisions of the feed, which were visited above.
        for decision in told.decisions().iter().filter(|decision| decision.cursor < oldest) {
            // Older decisions may be about an earlier schedule that had the id.
            if decision.at < since || show(decision).is_break() {
                return;
            }
        }
    }

    fn complete_since(&self) -> Option<Moment> {
        match self.view.lookback.get(self.schedule) {
            // An empty result proves nothing, because volatile schedules have no log. Its `since` would claim completeness.
            Some(told) if !told.is_empty() => told.since(),
            Some(_) | None => self.view.feed_complete_since(),
        }
    }
}

/// The source of transcripts.
pub trait Transcripts {
    /// Returns the transcript of a session; `None` if its host does not share it.
    fn transcript(&self, session: &SessionRecord) -> Option<Transcript>;

    /// Returns the turn of an agent that a run began; `None` if it is not known. Of the past no turn is known.
    fn turn(&self, _run: &RunId) -> Option<Arc<Turn>> {
        None
    }

    /// Returns the runs of the turns in which an agent waits for an operator's answer, the oldest first.
    fn asking(&self) -> Vec<RunId> {
        Vec::new()
    }

    /// Returns what is known of why the conversation of a session cannot be reached, beyond the reason. Of the past nothing is.
    fn obstacle(&self, _session: &SessionRecord) -> Option<Obstacle> {
        None
    }
}

/// How much of each budget is in use.
pub trait Usage {
    /// Returns what a session uses, with the sessions that share the budget.
    fn of_session(&self, budget: Budget, session: &SessionRecord) -> u64;
    /// Returns what all callers together use; 0 if they have no common bound.
    fn of_all(&self, budget: Budget) -> u64;
    /// Returns what the family of sessions that uses most of it uses; 0 if sessions have no bound.
    fn of_largest(&self, budget: Budget) -> u64;
}

/// What asks for mutations on behalf of one caller. It makes no change itself.
pub trait Mutator {
    /// Admits a mutation before its parameters are looked at, and gives what carries it out.
    ///
    /// # Errors
    /// Returns why the caller is refused.
    fn admit(&self, mutation: MutationName) -> Result<Box<dyn AdmittedMutation + '_>, ResolverError>;
}

/// What mutations act through: it makes the changes of a caller who was admitted.
pub trait AdmittedMutation {
    /// Carries out a mutation.
    ///
    /// # Errors
    /// Returns the refusal, with its code and data.
    fn carry_out(&self, mutation: Mutation) -> Result<Value, ResolverError>;
}

impl World for Scheduler {
    type View<'a> = View<'a>;
    type Hand<'a> = &'a dyn Mutator;
    type Call = Mutation;
}

impl Introspected for Scheduler {
    fn graph(view: ViewOf<'_, Self>) -> Graph<'_, Self> {
        Graph { registry: view.registry, viewer: viewer(view.scope) }
    }

    /// A request of a session begins at that session. A host that acts for no session has none.
    fn begins_at_seeds(view: ViewOf<'_, Self>) -> bool {
        view.scope.session().is_some() && !view.scope.is_nothing()
    }
}

/// Returns the kind of viewer that a caller is for the registry.
pub fn viewer(scope: &Scope) -> Viewer {
    match scope {
        Scope::Operator => Viewer::Operator,
        Scope::Session(_) if scope.is_nothing() => Viewer::Host,
        Scope::Session(_) => Viewer::Session,
    }
}

impl<'a> View<'a> {
    /// Returns the schedule with this number, if it exists for the caller.
    pub fn schedule(&self, key: Key) -> Option<&'a ScheduleRecord> {
        self.state.schedule_at(key).filter(|record| self.has(record))
    }

    /// Returns whether a schedule exists for the caller.
    #[inline]
    pub(in crate::graph) fn has(&self, record: &ScheduleRecord) -> bool {
        record.is_for(self.scope)
    }

    /// Returns the run with this number and its schedule, if they exist for the caller.
    pub fn run(&self, key: Key) -> Option<(&'a ScheduleRecord, &'a RunRecord)> {
        // A run is visible exactly if its schedule is. It has no owner of its own.
        let run = self.state.run_at(key)?;
        Some((self.schedule(run.schedule_key())?, run))
    }

    /// Returns the session with this number, if it exists for the caller.
    pub fn session(&self, key: Key) -> Option<&'a SessionRecord> {
        self.state.session_at(key).filter(|record| self.scope.covers(record.id()))
    }

    /// Returns the number of the session with this id, if it exists for the caller.
    pub(crate) fn session_key(&self, id: &SessionId) -> Option<Key> {
        self.scope.covers(id).then(|| self.state.session_key(id)).flatten()
    }

    /// Returns the decision with this cursor, if the feed retains it and it concerns the caller.
    pub fn decision(&self, cursor: Cursor) -> Option<&'a Decision> {
        // Cursors ascend, but with gaps in a query of the past: the log lacks the decisions about volatile schedules. So
        // the position cannot be computed from the cursor.
        let at = self.decisions.partition_point(|decision| decision.cursor < cursor);
        let decision = self.decisions.get(at).filter(|decision| decision.cursor == cursor);
        decision.filter(|decision| self.concerns(decision))
    }

    /// Returns the oldest decision of the part of the feed in which none is missing.
    fn oldest_own(&self) -> Option<&'a Decision> {
        self.decisions.get(self.from_log)
    }

    /// Returns the moment before which decisions may be missing in the feed; `None` if none are.
    fn feed_complete_since(&self) -> Option<Moment> {
        self.oldest_own().filter(|oldest| oldest.cursor > Cursor::START.next()).map(|oldest| oldest.at)
    }

    /// Returns whether a decision concerns the caller: it is about its session since it was opened, or about the shutdown of
    /// the engine.
    pub fn concerns(&self, decision: &Decision) -> bool {
        match (self.scope, &decision.session) {
            (Scope::Operator, _) => true,
            (Scope::Session(own), Some(session)) => own == session && decision.cursor >= self.opened,
            // Other decisions without a session are about the engine, hosts and channels, which are for operators only.
            (Scope::Session(_), None) => decision.kind == DecisionKind::EngineStopping,
        }
    }

    /// Returns the transcript of a session that exists for the caller.
    pub(super) fn transcript(&self, session: Key) -> Option<Rc<Transcript>> {
        let record = self.session(session)?;
        // Fetched once per query, so that all its attributes see one transcript while the host goes on writing.
        let mut known = self.arena.transcripts.borrow_mut();
        known.entry(session).or_insert_with(|| self.transcripts.transcript(record).map(Rc::new)).clone()
    }

    /// Explains a slot. A schedule that is hidden from the caller is explained like one that never existed.
    pub(super) fn explain(&self, schedule: &ScheduleId, at: Option<Moment>) -> Explanation {
        let record = self.state.schedule(schedule);
        let is_visible = record.is_some_and(|record| self.has(record));
        // An empty engine gives exactly the answer about an unknown schedule. It asks the history all the same, so that the
        // time of the answer does not reveal that there is one either.
        let nothing = State::new();
        let lost = self.state.lost(schedule);
        // A schedule that was lost is known by its owner only, because its record is gone.
        let is_theirs = lost.is_some_and(|(_, lost)| !self.scope.covers(&lost.session));
        let state = if is_visible || record.is_none() && !is_theirs { self.state } else { &nothing };
        let history = VisibleHistory { view: self, schedule, is_visible };
        let told = state.explain(self.zones, self.now, (schedule, at), &history);
        // A session must not learn the ids of other sessions or the names of operators' tokens.
        let by = told.by.as_ref().and_then(|by| by.seen_by(self.scope));
        Explanation { by, ..told }
    }

    /// Stores an explanation for the rest of the query, and returns its number.
    pub(super) fn keep_explanation(&self, explanation: Explanation) -> u64 {
        let mut explained = self.arena.explanations.borrow_mut();
        explained.push(Rc::new(explanation));
        (explained.len() - 1) as u64
    }

    pub(super) fn explanation(&self, number: u64) -> Option<Rc<Explanation>> {
        self.arena.explanations.borrow().get(usize::try_from(number).ok()?).cloned()
    }

    /// Stores a slot of a forecast for the rest of the query, and returns its number.
    pub(super) fn keep_slot(&self, listed: ForecastEntry) -> u64 {
        let mut coming = self.arena.slots.borrow_mut();
        coming.push(Rc::new(listed));
        (coming.len() - 1) as u64
    }

    pub(super) fn forecast_slot(&self, number: u64) -> Option<Rc<ForecastEntry>> {
        self.arena.slots.borrow().get(usize::try_from(number).ok()?).cloned()
    }

    /// Stores a cell of a timeline for the rest of the query, and returns its number.
    pub(super) fn keep_cell(&self, cell: TimelineCell) -> u64 {
        let mut cells = self.arena.cells.borrow_mut();
        cells.push(Rc::new(cell));
        (cells.len() - 1) as u64
    }

    pub(super) fn timeline_cell(&self, number: u64) -> Option<Rc<TimelineCell>> {
        self.arena.cells.borrow().get(usize::try_from(number).ok()?).cloned()
    }

    /// Stores a page for the rest of the query, and returns its number.
    pub(super) fn keep_page(&self, page: Page) -> u64 {
        let mut pages = self.arena.pages.borrow_mut();
        pages.push(page);
        (pages.len() - 1) as u64
    }

    /// Reads from the page with this number.
    pub(super) fn page<T>(&self, number: u64, read: impl FnOnce(&Page) -> T) -> Option<T> {
        self.arena.pages.borrow().get(usize::try_from(number).ok()?).map(read)
    }
}

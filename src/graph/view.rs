//! What the scheduler's attributes are read off: the engine's state, as one caller may see it.
//!
//! Lives here: the world's types, and the walls. Does not live here: the attributes (`attr/`), locks and hosts
//! (`service/query.rs`).
//!
//! Invariant: a reader reaches a schedule, session, run or decision only through the methods here, which hide what
//! does not exist for the caller's scope.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::rc::Rc;

use super::log_lookback::Lookback;
use super::mutation::Mutation;
use super::page::Page;
use super::registry::{Graph, Introspected, Registry, ResolverError, ViewOf, Viewer, World};
use crate::calendar::Zones;
use crate::domain::{Cursor, Decision, DecisionKind, Moment, Now, ScheduleId, Scope, SessionId, Transcript};
use crate::edn::Value;
use crate::engine::{
    DecisionSource, Explanation, ForecastSlot, Key, RunRecord, ScheduleRecord, SessionRecord, State,
};

/// The scheduler's kind of world.
pub struct Scheduler;

/// One look, as one caller may have it.
pub struct View<'a> {
    /// Everything the engine knows.
    pub state: &'a State,
    /// What the names of zones mean.
    pub zones: &'a Zones,
    /// The last decisions, oldest first.
    pub decisions: &'a VecDeque<Decision>,
    /// What the hosts keep.
    pub transcripts: &'a dyn Transcripts,
    /// All there is to ask for.
    pub registry: &'a Registry<Scheduler>,
    /// Whose look it is.
    pub scope: &'a Scope,
    /// When.
    pub now: Now,
    /// What a log tells that the decisions at hand do not.
    pub lookback: &'a Lookback,
    /// Schedules of which the kept history does not reach back to the moment of this look; `None` where that is now.
    pub unrecoverable: Option<u64>,
    /// How many slots came to no delivery, by reason; `None` in a look at the past.
    pub undelivered: Option<Undelivered<'a>>,
    /// What was made in this look and is read more than once.
    pub arena: QueryArena,
}

/// How many slots came to no delivery since the process began; each list has a count for each reason, in the order of
/// `Reason::ALL`.
#[derive(Clone, Copy)]
pub struct Undelivered<'a> {
    /// Those that passed without a run of their own.
    pub skipped: &'a [u64],
    /// Runs that were called off, and schedules with them.
    pub cancelled: &'a [u64],
    /// Runs that failed.
    pub failed: &'a [u64],
}

/// What is made in one look: nothing of it outlives that.
#[derive(Default)]
pub struct QueryArena {
    /// Pages; a page's number is its place here.
    pages: RefCell<Vec<Page>>,
    /// Slots to come; a slot's number is its place here.
    slots: RefCell<Vec<Rc<ForecastEntry>>>,
    /// Explanations, likewise.
    explanations: RefCell<Vec<Rc<Explanation>>>,
    /// Transcripts, by session.
    transcripts: RefCell<BTreeMap<Key, Option<Rc<Transcript>>>>,
}

/// A slot of a forecast.
#[derive(Debug)]
pub(super) struct ForecastEntry {
    pub(super) slot: ForecastSlot,
    /// Of a supposition: what becomes of it as things stand.
    pub(super) as_is: Option<Option<ForecastSlot>>,
    /// Whether it is the last that is listed, and there are more.
    pub(super) more: bool,
}

/// The decisions about one schedule that concern a caller.
struct VisibleHistory<'v, 'a> {
    view: &'v View<'a>,
    schedule: &'v ScheduleId,
}

impl DecisionSource for VisibleHistory<'_, '_> {
    fn about(
        &self,
        schedule: &ScheduleId,
        since: Moment,
        visit: &mut dyn FnMut(&Decision) -> ControlFlow<()>,
    ) {
        let view = self.view;
        let shared = view.state.schedule(schedule).is_some();
        let stopped = Cell::new(false);
        let mut show = |decision: &Decision| {
            if !shared && !view.concerns(decision) {
                return ControlFlow::Continue(());
            }
            let flow = visit(decision);
            stopped.set(flow.is_break());
            flow
        };
        view.decisions.about(schedule, since, &mut show);
        if stopped.get() || view.decisions.complete_since().is_none() {
            return;
        }
        let Some(told) = view.lookback.get(schedule) else {
            view.lookback.request(schedule);
            return;
        };
        let newest = view.decisions.front().map_or(Cursor::START, |oldest| oldest.cursor);
        for decision in told.decisions().iter().filter(|decision| decision.cursor < newest) {
            if decision.at < since || show(decision).is_break() {
                return;
            }
        }
    }

    fn complete_since(&self) -> Option<Moment> {
        match self.view.lookback.get(self.schedule) {
            Some(told) if !told.is_empty() => told.since(),
            Some(_) | None => self.view.decisions.complete_since(),
        }
    }
}

/// Where transcripts are kept.
pub trait Transcripts {
    /// The transcript of a session; `None` where its harness keeps it to itself.
    fn transcript(&self, session: &SessionRecord) -> Option<Transcript>;
}

/// What mutations get: one caller's way to change things.
pub trait Mutator {
    /// Refuses a caller who may change nothing at all.
    ///
    /// # Errors
    /// Why not.
    fn admit(&self) -> Result<(), ResolverError>;

    /// Carries out a mutation.
    ///
    /// # Errors
    /// What was refused, with its code and data.
    fn execute(&self, mutation: Mutation) -> Result<Value, ResolverError>;
}

impl World for Scheduler {
    type View<'a> = View<'a>;
    type Hand<'a> = &'a dyn Mutator;
    type Call = Mutation;

    fn admit(hand: &Self::Hand<'_>) -> Result<(), ResolverError> {
        hand.admit()
    }
}

impl Introspected for Scheduler {
    fn graph(view: ViewOf<'_, Self>) -> Graph<'_, Self> {
        Graph { registry: view.registry, viewer: viewer(view.scope) }
    }
}

/// Who a caller is to the registry.
pub fn viewer(scope: &Scope) -> Viewer {
    match scope {
        Scope::Operator => Viewer::Operator,
        Scope::Session(_) => Viewer::Session,
    }
}

impl<'a> View<'a> {
    /// The schedule with this number, if it exists for the caller.
    pub fn schedule(&self, key: Key) -> Option<&'a ScheduleRecord> {
        self.state.schedule_at(key).filter(|record| self.scope.reaches(record.schedule()))
    }

    /// The run with this number and its schedule, if they exist for the caller.
    pub fn run(&self, key: Key) -> Option<(&'a ScheduleRecord, &'a RunRecord)> {
        let run = self.state.run_at(key)?;
        Some((self.schedule(run.schedule_key())?, run))
    }

    /// The session with this number, if it exists for the caller.
    pub fn session(&self, key: Key) -> Option<&'a SessionRecord> {
        self.state.session_at(key).filter(|record| self.scope.covers(record.id()))
    }

    /// The number of the session with this id, if it exists for the caller.
    pub(crate) fn session_key(&self, id: &SessionId) -> Option<Key> {
        self.scope.covers(id).then(|| self.state.session_key(id)).flatten()
    }

    /// The decision at this place, if it is kept and concerns the caller.
    pub fn decision(&self, cursor: Cursor) -> Option<&'a Decision> {
        let at = self.decisions.partition_point(|decision| decision.cursor < cursor);
        let decision = self.decisions.get(at).filter(|decision| decision.cursor == cursor);
        decision.filter(|decision| self.concerns(decision))
    }

    /// Whether a decision concerns the caller: one about its session, and the end of the engine.
    pub fn concerns(&self, decision: &Decision) -> bool {
        match (self.scope, &decision.session) {
            (Scope::Operator, _) => true,
            (Scope::Session(own), Some(session)) => own == session,
            (Scope::Session(_), None) => decision.kind == DecisionKind::EngineStopping,
        }
    }

    /// The transcript of a session that exists for the caller; asked for once, so that it does not change under way.
    pub(super) fn transcript(&self, session: Key) -> Option<Rc<Transcript>> {
        let record = self.session(session)?;
        let mut known = self.arena.transcripts.borrow_mut();
        known.entry(session).or_insert_with(|| self.transcripts.transcript(record).map(Rc::new)).clone()
    }

    /// Explains a slot; somebody else's schedule is as unknown as one that never was.
    pub(super) fn explain(&self, schedule: &ScheduleId, at: Option<Moment>) -> Explanation {
        let hidden =
            self.state.schedule(schedule).is_some_and(|record| !self.scope.reaches(record.schedule()));
        if hidden {
            let nothing = VecDeque::new();
            return State::new().explain(self.zones, self.now, (schedule, at), &nothing);
        }
        let walled = VisibleHistory { view: self, schedule };
        let told = self.state.explain(self.zones, self.now, (schedule, at), &walled);
        let by = told.by.as_ref().and_then(|by| by.seen_by(self.scope));
        Explanation { by, ..told }
    }

    pub(super) fn keep_explanation(&self, explanation: Explanation) -> u64 {
        let mut explained = self.arena.explanations.borrow_mut();
        explained.push(Rc::new(explanation));
        (explained.len() - 1) as u64
    }

    pub(super) fn explanation(&self, number: u64) -> Option<Rc<Explanation>> {
        self.arena.explanations.borrow().get(usize::try_from(number).ok()?).cloned()
    }

    pub(super) fn keep_slot(&self, listed: ForecastEntry) -> u64 {
        let mut coming = self.arena.slots.borrow_mut();
        coming.push(Rc::new(listed));
        (coming.len() - 1) as u64
    }

    pub(super) fn forecast_slot(&self, number: u64) -> Option<Rc<ForecastEntry>> {
        self.arena.slots.borrow().get(usize::try_from(number).ok()?).cloned()
    }

    /// Keeps a page for as long as the look lasts, and returns its number.
    pub(super) fn keep_page(&self, page: Page) -> u64 {
        let mut pages = self.arena.pages.borrow_mut();
        pages.push(page);
        (pages.len() - 1) as u64
    }

    /// Reads a page that was kept.
    pub(super) fn page<T>(&self, number: u64, read: impl FnOnce(&Page) -> T) -> Option<T> {
        self.arena.pages.borrow().get(usize::try_from(number).ok()?).map(read)
    }
}

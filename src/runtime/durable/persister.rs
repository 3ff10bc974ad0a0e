//! Writes to the store: makes batches, and holds back what has to wait for their commit.
//!
//! The facts and rows of one step make one batch. It is submitted under the engine's lock and answered in log
//! order on a thread of the store. Until it is committed, three things wait: the caller, the effects that dispatch
//! a durable run, and the feed, which shows nothing from the first uncommitted fact on. A volatile run is
//! dispatched without waiting.
//!
//! In order: `add_to_batch` prints each fact of a step; `submit` hands the batch in and holds its effects back; the store's
//! thread calls what `announcing` made, which counts the commit and sends `StoreEvent::Committed` only if somebody waits for
//! it; `next_committed` gives the effects back, to the next step (`Core::settle`) or to the thread of `store_replies`.
//!
//! What lives elsewhere: a batch that waits (`pending`), the text of facts and rows (`codec`), the messages that are
//! persisted with receipts (`transcripts`), attaching a store (`store_replies`), the store itself (`port::Store`).

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;

use super::codec::{self, Printed};
use super::durability::{Lasting, run_of};
use super::pending::{Dropped, Pending};
use super::transcripts::Transcripts;
use crate::domain::{
    Cursor, EngineFact, Fact, Moment, Now, RunFact, RunId, ScheduleFact, ScheduleId, SessionFact, SessionId,
};
use crate::engine::{Effect, Report, State, Undo};
use crate::limits;
use crate::port::{Batch, Done, FactRecord, RowRecord, Store, StoreFault, Term, Ticket};
use crate::runtime::token::Tokens;

/// What happens to durable work while no store is attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithoutStore {
    /// It is refused.
    #[default]
    Reject,
    /// It stays in memory like volatile work. For simulations, which have no disk.
    InMemory,
}

/// What the store's thread reports to the thread that publishes replies.
pub(in crate::runtime) enum StoreEvent {
    /// A batch was committed that something waits for: held-back effects, a repeated command, a
    /// subscriber, or the driver.
    Committed,
    /// A batch failed. Its term has ended, and so have all batches that waited in it.
    Failed(Term, StoreFault),
    /// The store refused to enqueue a batch. Earlier batches may still wait, and are answered on their own.
    Rejected(StoreFault),
}

/// One engine's side of its store.
pub(in crate::runtime) struct Persister {
    pub(in crate::runtime) store: Arc<dyn Store>,
    /// `None` while the store has failed.
    pub(in crate::runtime) term: Option<Term>,
    pub(in crate::runtime) last_fault: Option<StoreFault>,
    events: Sender<StoreEvent>,
    /// Number of the last committed fact, set by the store's thread. The next thread that changes the engine
    /// processes it (`Core::settle`), so most batches need no thread to be woken.
    committed: Arc<AtomicU64>,
    /// Number of sleeping subscribers; see `Core::listeners`.
    listeners: Arc<AtomicUsize>,
    /// Submitted batches that have not been settled, in log order.
    pending: VecDeque<Pending>,
    /// The size of the pending batches, in bytes.
    pending_bytes: u64,
    /// The batch of the step that is being applied.
    making: BatchBuilder,
    pub(in crate::runtime) transcripts: Transcripts,
    /// Schedules whose definition has a row of its own in the store, or will have with a pending batch.
    pub(in crate::runtime) apart: BTreeSet<ScheduleId>,
    /// Reports of hosts about durable runs that could not be committed. They are submitted again once the store
    /// works, so that what has arrived is not dispatched a second time.
    pub(in crate::runtime) unsaved_reports: Vec<Report>,
}

/// The batch of the step that is being applied.
#[derive(Default)]
struct BatchBuilder {
    /// Each with its unfinished text: a row may be added once the whole step is known (`attach_row`).
    facts: Vec<(FactRecord, Printed)>,
    /// Schedules of which a slot was claimed.
    claimed: BTreeSet<ScheduleId>,
    schedules: BTreeSet<ScheduleId>,
    /// Those whose definition is new.
    defined: BTreeSet<ScheduleId>,
    sessions: BTreeSet<SessionId>,
    hold: bool,
    guard: bool,
    channels: bool,
}

impl Persister {
    pub(in crate::runtime) fn new(
        store: Arc<dyn Store>,
        term: Term,
        events: Sender<StoreEvent>,
        listeners: Arc<AtomicUsize>,
    ) -> Persister {
        Persister {
            store,
            term: Some(term),
            last_fault: None,
            events,
            committed: Arc::default(),
            listeners,
            pending: VecDeque::new(),
            pending_bytes: 0,
            making: BatchBuilder::default(),
            transcripts: Transcripts::default(),
            apart: BTreeSet::new(),
            unsaved_reports: Vec::new(),
        }
    }

    /// Writes again after a failure, now that memory equals the store. `apart` are the schedules whose definition has a
    /// row of its own there.
    pub(super) fn begin_term(&mut self, term: Term, apart: BTreeSet<ScheduleId>) {
        debug_assert!(self.term.is_none(), "{:?} has not ended, and {term:?} begins", self.term);
        debug_assert!(
            self.pending.is_empty(),
            "{} batches of an earlier term are pending",
            self.pending.len()
        );
        self.term = Some(term);
        self.last_fault = None;
        self.apart = apart;
    }

    /// Adds a fact that is about to be applied at `cursor`.
    pub(in crate::runtime) fn add_to_batch(
        &mut self,
        cursor: Cursor,
        now: Now,
        fact: &Fact,
        Lasting { session, share }: Lasting<'_>,
    ) {
        let before = self.making.facts.last().map(|(record, _)| record.cursor);
        debug_assert!(
            before.is_none_or(|before| before < cursor),
            "facts out of order: {cursor} behind {before:?}"
        );
        self.transcripts.note(cursor, fact);
        if let Fact::Run(run, RunFact::Retrying { .. } | RunFact::Failed(_) | RunFact::Cancelled { .. }, _) =
            fact
        {
            self.recall(run);
        }
        let record = FactRecord {
            cursor,
            at: now.wall,
            kind: fact.kind().name().into(),
            schedule: fact.schedule().map(|id| id.to_string().into()),
            session: session.map(|id| id.as_str().into()),
            share: share.filter(|_| share != session).map(|id| id.as_str().into()),
            run: fact.run().map(|run| run.to_string().into()),
            payload: Arc::default(),
        };
        // Only the keys of the rows that change are noted below. `submit` prints the rows, after
        // the whole step was applied.
        self.making.facts.push((record, codec::print(fact)));
        match fact {
            Fact::Session(id, fact, _) => {
                self.making.guard |= matches!(fact, SessionFact::Granted { .. });
                self.making.sessions.insert(id.clone());
            }
            Fact::Engine(EngineFact::AllHeld { .. } | EngineFact::AllReleased { .. }) => {
                self.making.hold = true;
            }
            Fact::Engine(EngineFact::GuardPolicySet { .. }) => self.making.guard = true,
            Fact::Channel(..) => self.making.channels = true,
            Fact::Run(run, RunFact::Claimed(_), _) => _ = self.making.claimed.insert(run.schedule.clone()),
            Fact::Created { schedule, .. } => _ = self.making.defined.insert(schedule.id.clone()),
            Fact::Schedule(id, ScheduleFact::Changed(_)) => _ = self.making.defined.insert(id.clone()),
            Fact::Schedule(..)
            | Fact::Run(..)
            | Fact::Host(..)
            | Fact::Engine(
                EngineFact::Refused { .. } | EngineFact::Restarted { .. } | EngineFact::Stopping { .. },
            ) => {}
        }
        // The opening of a fresh session names its schedule, but leaves that one's row as it is.
        if let Some(schedule) = fact.schedule().filter(|_| !matches!(fact, Fact::Session(..))) {
            self.making.schedules.insert(schedule.clone());
        }
    }

    /// Drops the held-back dispatch of a run that has failed, was cancelled, or is retried: the
    /// next attempt has its own.
    fn recall(&mut self, run: &RunId) {
        for pending in &mut self.pending {
            pending.effects.retain(|effect| run_of(effect) != Some(run));
        }
    }

    /// Adds the removal of these schedules' rows to the next batch: no fact says that their records were dropped.
    pub(in crate::runtime) fn forget(&mut self, schedules: &[ScheduleId]) {
        self.making.schedules.extend(schedules.iter().cloned());
    }

    /// Adds a session's row to the next batch, because it has changed while nothing could be written.
    pub(in crate::runtime) fn want_session(&mut self, session: SessionId) {
        self.making.sessions.insert(session);
    }

    /// Whether these facts open a session whose id had another one, of which the store does not have the end yet: it has that
    /// one's schedules, which would be loaded into the new session.
    pub(in crate::runtime) fn is_reopened_by(&self, facts: &[Fact]) -> bool {
        let unsaved = &self.making.sessions;
        facts.iter().any(
            |fact| matches!(fact, Fact::Session(id, SessionFact::Opened { .. }, _) if unsaved.contains(id)),
        )
    }

    /// Submits the noted facts, with the affected rows as they are now. `None` if no fact was noted, or
    /// while the store has failed.
    pub(in crate::runtime) fn submit(
        &mut self,
        state: &State,
        tokens: &Tokens,
        (effects, report, undo): (Vec<Effect>, Option<Report>, Vec<Undo>),
    ) -> Option<Ticket> {
        if self.term.is_none() {
            // Without a log, the report would be lost: recovery submits it again.
            self.unsaved_reports.extend(report);
            return None;
        }
        // Rows without a fact wait for the next one. Its cursor is their revision, which only has to grow.
        let revision = self.making.facts.last()?.0.cursor.number();
        let mut making = std::mem::take(&mut self.making);
        let settings = making.settings(state);
        let mut rows = self.transcripts.take_rows();
        let mut row = |key: String, form: Option<Printed>| {
            let payload = form.map(|form| form.into_text().into_bytes().into());
            rows.push(RowRecord { key: key.into(), revision, payload });
        };
        for id in std::mem::take(&mut making.schedules) {
            let Some(present) = state.schedule_row(&id) else {
                row(schedule_key(&id), None);
                let was_apart = self.apart.remove(&id);
                if was_apart {
                    row(definition_key(&id), None);
                }
                continue;
            };
            let is_apart = present.schedule.bytes() >= APART_BYTES;
            let is_base = making.claimed.contains(&id) && is_base(state, &id);
            let whole = (is_base || !is_apart).then(|| codec::print_schedule(&present));
            if let Some(form) = whole.as_ref().filter(|_| is_base) {
                making.attach_row(&id, form);
            }
            if !is_apart {
                row(schedule_key(&id), whole);
                if self.apart.remove(&id) {
                    row(definition_key(&id), None);
                }
                continue;
            }
            row(schedule_key(&id), Some(codec::print_row_rest(&present)));
            // Written only when it changes: each run changes the rest, and would write the texts again.
            if self.apart.insert(id.clone()) || making.defined.contains(&id) {
                row(definition_key(&id), Some(codec::print_definition(&present.schedule)));
            }
        }
        for id in &making.sessions {
            // A grant of nothing ends the token, which is done once the grant is on disk.
            let token = tokens.digest_of(id).filter(|_| state.grant(id).right.is_some());
            let form = state.session_row(id).map(|row| codec::print_session(&row, token.as_deref()));
            row(session_key(id), form);
        }
        for (key, form) in settings {
            row(key.into(), Some(form));
        }
        let sessions = making.sessions.into_iter().collect();
        let facts: Vec<FactRecord> =
            making.facts.into_iter().map(|(record, form)| printed(record, form)).collect();
        let cursors: Vec<Cursor> = facts.iter().map(|fact| fact.cursor).collect();
        let batch = Batch { facts, rows };
        let bytes = (batch.bytes() + RECORD_BYTES * (batch.facts.len() + batch.rows.len())) as u64;
        let term = self.term?;
        // A batch that holds back effects needs the wake-up from the start.
        let awaited = Arc::new(AtomicBool::new(!effects.is_empty()));
        let (repeats, refused) = (Vec::new(), None);
        let pending = Pending { cursors, bytes, sessions, effects, report, undo, repeats, awaited, refused };
        Some(self.hand_in(term, batch, pending))
    }

    /// Enqueues a batch in the store.
    fn hand_in(&mut self, term: Term, batch: Batch, mut pending: Pending) -> Ticket {
        // Counted even if the store refuses the batch, because `drop_from` subtracts every pending batch.
        self.pending_bytes += pending.bytes;
        // A batch decided on top of a refused one relies on facts that the log does not have.
        let on_top = self.pending.back().and_then(|last| last.refused.clone());
        let submit = || {
            let (ticket, answered) = Ticket::new();
            let done = self.announcing(term, Arc::clone(&pending.awaited), answered);
            self.store.submit(term, batch, done).map(|()| ticket)
        };
        let ticket = on_top.map_or_else(submit, Err).unwrap_or_else(|fault| {
            // The publishing thread handles this like any other failure.
            let _ = self.events.send(StoreEvent::Rejected(fault.clone()));
            pending.refused = Some(fault.clone());
            Ticket::failed(fault)
        });
        // `next_committed` and `refuse` look at one end of the queue only, so it has to be in log order.
        let before = self.pending.back().and_then(|it| it.cursors.last());
        assert!(before < pending.cursors.first(), "{:?} come after {before:?}", pending.cursors);
        self.pending.push_back(pending);
        if self.is_filled(1, 2) {
            // The driver claims nothing more until the queue drains, so the commit has to wake it.
            self.await_last();
        }
        ticket
    }

    /// The callback for the store's answer: it publishes the commit, and wakes the publishing
    /// thread if something waits.
    fn announcing(&self, term: Term, awaited: Arc<AtomicBool>, answered: Done) -> Done {
        let events = self.events.clone();
        let (committed, listeners) = (Arc::clone(&self.committed), Arc::clone(&self.listeners));
        Box::new(move |answer| {
            // Sending fails if the engine is gone. The caller's ticket resolves all the same.
            match &answer {
                Ok(cursor) => {
                    // Store, then load. `await_last` and `Shared::await_news` do the reverse, so that one
                    // side always sees the other.
                    committed.store(cursor.number(), Ordering::SeqCst);
                    if awaited.load(Ordering::SeqCst) || listeners.load(Ordering::SeqCst) > 0 {
                        let _ = events.send(StoreEvent::Committed);
                    }
                }
                Err(fault) => _ = events.send(StoreEvent::Failed(term, fault.clone())),
            }
            // Last, so that a caller whose wait has ended finds its commit in `committed`.
            answered(answer);
        })
    }

    /// A ticket that resolves when all pending batches are committed; `None` if there are none.
    pub(in crate::runtime) fn wait_for_all(&mut self) -> Option<Ticket> {
        let (ticket, answered) = Ticket::new();
        self.pending.back_mut()?.repeats.push(answered);
        self.await_last();
        Some(ticket)
    }

    /// Requests a wake-up for the commit of the last pending batch.
    fn await_last(&self) {
        let Some(last) = self.pending.back() else { return };
        last.awaited.store(true, Ordering::SeqCst);
        if last.cursors.last().is_some_and(|last| last.number() <= self.committed.load(Ordering::SeqCst)) {
            // It was committed before the store's thread could see the request.
            let _ = self.events.send(StoreEvent::Committed);
        }
    }

    /// Removes the next committed batch and returns its effects, which may be performed now. `None` if there is none.
    pub(in crate::runtime) fn next_committed(&mut self) -> Option<Vec<Effect>> {
        let last = *self.pending.front()?.cursors.last()?;
        if last.number() > self.committed.load(Ordering::SeqCst) {
            return None;
        }
        let pending = self.pending.pop_front()?;
        debug_assert!(pending.refused.is_none(), "{last} is committed, and refused: {:?}", pending.refused);
        self.pending_bytes -= pending.bytes;
        pending.repeats.into_iter().for_each(|answered| answered(Ok(last)));
        // Noted before the message is delivered, so that its receipt finds it.
        pending.effects.iter().for_each(|effect| self.transcripts.hand_over(effect));
        if let Some(Report::Accepted { run }) = &pending.report {
            self.transcripts.is_committed(run);
        }
        Some(pending.effects)
    }

    /// Drops all pending batches, because their term has ended.
    pub(in crate::runtime) fn fail(&mut self, fault: StoreFault) -> Dropped {
        self.drop_from(0, fault)
    }

    /// Drops the refused batches only, because their term goes on: the accepted ones are answered on their own, and
    /// are usually committed.
    pub(in crate::runtime) fn refuse(&mut self, fault: StoreFault) -> Dropped {
        self.drop_from(self.pending.partition_point(|pending| pending.refused.is_none()), fault)
    }

    fn drop_from(&mut self, first: usize, fault: StoreFault) -> Dropped {
        // Nothing is submitted until the state has been reloaded and a new term begun.
        self.term = None;
        let mut dropped = Dropped::default();
        for mut pending in self.pending.drain(first..) {
            self.pending_bytes -= pending.bytes;
            // Sessions live in memory as well, so their rows are written with the first batch of the next term.
            self.making.sessions.extend(pending.sessions.drain(..));
            self.unsaved_reports.extend(dropped.add(pending, &fault));
        }
        // Nothing that was decided on top of a refused batch may stay.
        debug_assert!(
            self.pending.iter().all(|pending| pending.refused.is_none()),
            "a refused batch is left"
        );
        let waiting: u64 = self.pending.iter().map(|pending| pending.bytes).sum();
        debug_assert!(self.pending_bytes == waiting, "{} bytes for {waiting}", self.pending_bytes);
        // The rows of these batches are gone with them. A repeated receipt persists its message again.
        self.transcripts.write_again();
        self.last_fault = Some(fault);
        dropped
    }

    /// Whether the store's queue is filled to `part`/`whole` or more, by batches or by bytes.
    pub(in crate::runtime) fn is_filled(&self, part: u64, whole: u64) -> bool {
        // Both sides are multiplied, because a division would round the bound.
        let batches = self.pending.len() as u64 * whole >= limits::STORE_QUEUE_BATCHES.value * part;
        batches || self.pending_bytes * whole >= limits::STORE_QUEUE_BYTES.value * part
    }

    /// The first fact that is not committed yet.
    pub(in crate::runtime) fn first_uncommitted(&self) -> Option<Cursor> {
        self.pending.front().and_then(|pending| pending.cursors.first().copied())
    }
}

impl BatchBuilder {
    /// The rows of the settings of the whole that have changed, by their keys.
    fn settings(&self, state: &State) -> Vec<(&'static str, Printed)> {
        let hold = self.hold.then(|| (HOLD, codec::print_holds(state.holds())));
        let guard = self.guard.then(|| (GUARD, codec::print_guard(state.guard(), state.grants())));
        let pauses = || codec::print_channel_pauses(state.channel_pauses());
        let channels = self.channels.then(|| (CHANNELS, pauses()));
        [hold, guard, channels].into_iter().flatten().collect()
    }

    /// Adds a schedule's row to the last fact about it, so that the log can be folded from there.
    fn attach_row(&mut self, id: &ScheduleId, row: &Printed) {
        let id = id.to_string();
        let about = |(record, _): &(FactRecord, Printed)| record.schedule.as_deref() == Some(&*id);
        let place = self.facts.iter().rposition(about);
        debug_assert!(place.is_some(), "a slot of {id} was claimed, and no fact is about it");
        if let Some(place) = place {
            let (record, form) = self.facts.remove(place);
            self.facts.insert(place, (record, form.with(codec::ROW, row)));
        }
    }
}

fn printed(record: FactRecord, form: Printed) -> FactRecord {
    FactRecord { payload: form.into_text().into_bytes().into(), ..record }
}

/// Whether the fact of the claim just made carries the schedule's row, so that the log can be folded from
/// there after the facts before it were pruned. That is every `BASE_RUNS`th run, and the first claim in each
/// stretch of `BASE_SECONDS`.
fn is_base(state: &State, id: &ScheduleId) -> bool {
    let Some(record) = state.schedule(id) else { return false };
    // Runs come newest first.
    let mut claims = state.runs_of(record).map(|(_, run)| run.run().claimed_at);
    // The first claim is compared with the creation, whose fact contains the whole schedule as well.
    let (newest, before) = (claims.next(), claims.next().unwrap_or(record.schedule().created_at));
    let stretch = |at: Moment| at.seconds().div_euclid(BASE_SECONDS);
    let is_first = newest.is_some_and(|newest| stretch(newest) != stretch(before));
    is_first || record.progress().runs.is_multiple_of(BASE_RUNS)
}

// Between two such claims, a pruned log cannot say what a schedule was. A row with every fact would double
// what is written (docs/DESIGN.md).
const BASE_RUNS: u64 = 64;
const BASE_SECONDS: i64 = 4 * 86_400;

fn schedule_key(id: &ScheduleId) -> String {
    format!("{SCHEDULE}{id}")
}

fn definition_key(id: &ScheduleId) -> String {
    format!("{DEFINITION}{id}")
}

fn session_key(id: &SessionId) -> String {
    format!("{SESSION}{id}")
}

/// A bound for what a record occupies in a store's queue beside its texts and payload, in bytes.
const RECORD_BYTES: usize = 256;

/// From how many bytes of texts on a definition has a row of its own.
const APART_BYTES: u64 = 2_048;

/// Prefixes of the keys of rows. Definitions sort before schedules. Sessions sort after them, and are nevertheless read first.
pub(in crate::runtime) const DEFINITION: &str = "definition/";
pub(in crate::runtime) const SCHEDULE: &str = "schedule/";
pub(in crate::runtime) const SESSION: &str = "session/";
/// Key of the row of the hold.
pub(in crate::runtime) const HOLD: &str = "engine/hold";
/// Key of the row with the pauses of channels.
pub(in crate::runtime) const CHANNELS: &str = "engine/channels";
/// Key of the row with the guard's policy and the grants of sessions.
pub(in crate::runtime) const GUARD: &str = "engine/guard";

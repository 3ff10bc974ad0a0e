//! What goes to disk, and what waits for it.
//!
//! The facts and rows of one step make one batch, which is submitted under the engine's lock and answered in log order on a
//! thread of the store's. Until then three things wait: the caller, the effects that hand a durable run to a host, and the
//! feed, which shows nothing beyond the first fact that is not kept yet. Volatile work waits for nothing here.
//!
//! What lives elsewhere: the text of facts and rows (`facts`), the messages that go with receipts (`transcripts`), taking a
//! store up (`boot`), the store itself (`port::Store`).

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;

use super::facts::{self, Printed};
use super::token::Tokens;
use super::transcripts::Transcripts;
use crate::domain::{
    Cursor, Durability, Fact, Moment, Now, RunFact, RunId, Schedule, ScheduleId, SessionFact, SessionId,
};
use crate::engine::{Command, Effect, Input, Report, State};
use crate::limits;
use crate::port::{Batch, Done, FactRecord, RowRecord, Store, StoreFault, Term, Ticket};

/// What becomes of what is asked to be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeps {
    /// It is refused, until a store is taken up.
    #[default]
    Nothing,
    /// It lives in memory like everything else: for simulations, which have no disk.
    InMemory,
}

/// What the store's thread tells the thread that publishes.
pub(super) enum Arrival {
    /// Something is kept that somebody waits for: a host, or whoever follows the feed.
    Kept,
    /// A batch is not kept: its term is over, and so is all that waits in it.
    Failed(Term, StoreFault),
    /// A batch was not let in. Those before it may wait still, and are answered for themselves.
    Refused(StoreFault),
}

/// What one engine has with its store.
pub(super) struct Keeper {
    pub(super) store: Arc<dyn Store>,
    /// `None` while nothing can be kept.
    pub(super) term: Option<Term>,
    pub(super) last_fault: Option<StoreFault>,
    arrivals: Sender<Arrival>,
    /// The last fact that is kept, as the store's thread says. Whoever holds the engine next takes note of it: most batches
    /// need nobody to be roused for them.
    kept: Arc<AtomicU64>,
    /// How many sleep until there is news; see `Core::listeners`.
    listeners: Arc<AtomicUsize>,
    /// Batches that were submitted and not answered, in log order.
    pending: VecDeque<Pending>,
    /// What they hold, in bytes.
    pending_bytes: u64,
    making: Making,
    pub(super) transcripts: Transcripts,
    /// What hosts said of durable runs that could not be kept: it is taken as said again once that works, so that what has
    /// arrived is not handed over a second time.
    pub(super) heard: Vec<Report>,
}

struct Pending {
    /// The cursors of its facts.
    cursors: Vec<Cursor>,
    bytes: u64,
    effects: Vec<Effect>,
    /// What a host said that it holds.
    word: Option<Report>,
    /// Who asked for the same again meanwhile, and waits for it too.
    repeats: Vec<Done>,
    /// Whether anybody is to be roused for it.
    awaited: Arc<AtomicBool>,
    /// Why the store has not let it in: nor any that was decided on top of it.
    refused: Option<StoreFault>,
}

/// The batch of the step that is being applied.
#[derive(Default)]
struct Making {
    /// Each with its form: the payload is printed when all of the step is known.
    facts: Vec<(FactRecord, Printed)>,
    /// Schedules of which a slot was claimed.
    claimed: BTreeSet<ScheduleId>,
    schedules: BTreeSet<ScheduleId>,
    sessions: BTreeSet<SessionId>,
    hold: bool,
    guard: bool,
}

impl Keeper {
    pub(super) fn new(
        store: Arc<dyn Store>,
        term: Term,
        arrivals: Sender<Arrival>,
        listeners: Arc<AtomicUsize>,
    ) -> Keeper {
        Keeper {
            store,
            term: Some(term),
            last_fault: None,
            arrivals,
            kept: Arc::default(),
            listeners,
            pending: VecDeque::new(),
            pending_bytes: 0,
            making: Making::default(),
            transcripts: Transcripts::default(),
            heard: Vec::new(),
        }
    }

    /// Notes a fact that is about to be applied at `cursor`, and whose session it is about.
    pub(super) fn note(&mut self, cursor: Cursor, now: Now, fact: &Fact, session: Option<&SessionId>) {
        self.transcripts.note(cursor, fact);
        if let Fact::Run(run, RunFact::Retrying { .. } | RunFact::Failed(_) | RunFact::Cancelled { .. }) =
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
            run: fact.run().map(|run| run.to_string().into()),
            payload: Arc::default(),
        };
        self.making.facts.push((record, facts::print(fact)));
        match fact {
            Fact::Session(id, fact) => {
                self.making.guard |= matches!(fact, SessionFact::Granted { .. });
                self.making.sessions.insert(id.clone());
            }
            Fact::Held { .. } | Fact::Released { .. } => self.making.hold = true,
            Fact::Guarded { .. } => self.making.guard = true,
            Fact::Run(run, RunFact::Claimed(_)) => _ = self.making.claimed.insert(run.schedule.clone()),
            Fact::Created { .. }
            | Fact::Schedule(..)
            | Fact::Run(..)
            | Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Awoke { .. }
            | Fact::Stopping { .. } => {}
        }
        if let Some(schedule) = fact.schedule().filter(|_| !matches!(fact, Fact::Session(..))) {
            self.making.schedules.insert(schedule.clone());
        }
    }

    /// A hand-over that has waited for the disk for too long is not made any more: the next attempt has one of its own.
    fn recall(&mut self, run: &RunId) {
        for pending in &mut self.pending {
            pending.effects.retain(|effect| run_of(effect) != Some(run));
        }
    }

    /// Wants the rows of schedules removed with the next batch, whatever that is about: no fact says that they are gone.
    pub(super) fn forget(&mut self, schedules: &[ScheduleId]) {
        self.making.schedules.extend(schedules.iter().cloned());
    }

    /// Wants the row of a session written with the next batch, whatever that is about.
    pub(super) fn want_session(&mut self, session: SessionId) {
        self.making.sessions.insert(session);
    }

    /// Submits what was noted, with the rows as they stand now. `None` if nothing was.
    pub(super) fn submit(
        &mut self,
        state: &State,
        tokens: &Tokens,
        (effects, word): (Vec<Effect>, Option<Report>),
    ) -> Option<Ticket> {
        if self.term.is_none() {
            self.heard.extend(word);
            return None;
        }
        let revision = self.making.facts.last()?.0.cursor.number();
        let mut making = std::mem::take(&mut self.making);
        let mut rows = self.transcripts.take_rows();
        let mut row = |key: String, form: Option<Printed>| {
            let payload = form.map(|form| form.into_text().into_bytes().into());
            rows.push(RowRecord { key: key.into(), revision, payload });
        };
        for id in std::mem::take(&mut making.schedules) {
            let form = state.schedule_row(&id).map(|row| facts::print_schedule(&row));
            if let Some(form) = form.as_ref().filter(|_| making.claimed.contains(&id) && is_base(state, &id))
            {
                making.bear(&id, form);
            }
            row(schedule_key(&id), form);
        }
        for id in making.sessions {
            let token = tokens.digest_of(&id);
            let form = state.session_row(&id).map(|row| facts::print_session(&row, token.as_deref()));
            row(session_key(&id), form);
        }
        if making.hold {
            row(HOLD.into(), Some(facts::print_hold(state.held())));
        }
        if making.guard {
            row(GUARD.into(), Some(facts::print_guard(state.guard(), state.grants())));
        }
        let facts: Vec<FactRecord> =
            making.facts.into_iter().map(|(record, form)| printed(record, form)).collect();
        let cursors: Vec<Cursor> = facts.iter().map(|fact| fact.cursor).collect();
        let batch = Batch { facts, rows };
        let bytes = (batch.bytes() + RECORD_BYTES * (batch.facts.len() + batch.rows.len())) as u64;
        let term = self.term?;
        // Whoever hands something over waits from the beginning.
        let awaited = Arc::new(AtomicBool::new(!effects.is_empty()));
        let repeats = Vec::new();
        let pending = Pending { cursors, bytes, effects, word, repeats, awaited, refused: None };
        Some(self.hand_in(term, batch, pending))
    }

    /// Hands a batch to the store.
    fn hand_in(&mut self, term: Term, batch: Batch, mut pending: Pending) -> Ticket {
        self.pending_bytes += pending.bytes;
        let on_top = self.pending.back().and_then(|last| last.refused.clone());
        let submit = || {
            let (ticket, answered) = Ticket::new();
            let done = self.announcing(term, Arc::clone(&pending.awaited), answered);
            self.store.submit(term, batch, done).map(|()| ticket)
        };
        let ticket = on_top.map_or_else(submit, Err).unwrap_or_else(|fault| {
            // The thread that publishes hears of it like of any other failure.
            let _ = self.arrivals.send(Arrival::Refused(fault.clone()));
            pending.refused = Some(fault.clone());
            Ticket::failed(fault)
        });
        let before = self.pending.back().and_then(|it| it.cursors.last());
        assert!(before < pending.cursors.first(), "{:?} come after {before:?}", pending.cursors);
        self.pending.push_back(pending);
        if self.is_filled(1, 2) {
            // The driver waits for it.
            self.await_last();
        }
        ticket
    }

    /// What the store's thread does with the answer to a batch: it tells whoever waits for it.
    fn announcing(&self, term: Term, awaited: Arc<AtomicBool>, answered: Done) -> Done {
        let arrivals = self.arrivals.clone();
        let (kept, listeners) = (Arc::clone(&self.kept), Arc::clone(&self.listeners));
        Box::new(move |answer| {
            // The engine may be gone; whoever waits is told all the same.
            match &answer {
                Ok(cursor) => {
                    kept.store(cursor.number(), Ordering::SeqCst);
                    if awaited.load(Ordering::SeqCst) || listeners.load(Ordering::SeqCst) > 0 {
                        let _ = arrivals.send(Arrival::Kept);
                    }
                }
                Err(fault) => _ = arrivals.send(Arrival::Failed(term, fault.clone())),
            }
            answered(answer);
        })
    }

    /// A ticket for all that is on its way to the disk; `None` if nothing is.
    pub(super) fn wait_for_all(&mut self) -> Option<Ticket> {
        let (ticket, answered) = Ticket::new();
        self.pending.back_mut()?.repeats.push(answered);
        self.await_last();
        Some(ticket)
    }

    /// Somebody is to be roused when all that is on its way to the disk is there.
    fn await_last(&self) {
        let Some(last) = self.pending.back() else { return };
        last.awaited.store(true, Ordering::SeqCst);
        if last.cursors.last().is_some_and(|last| last.number() <= self.kept.load(Ordering::SeqCst)) {
            // It was kept before the store's thread could see that somebody waits.
            let _ = self.arrivals.send(Arrival::Kept);
        }
    }

    /// The effects of the next batch that is kept: they may be performed. `None` once there is no such batch.
    pub(super) fn next_kept(&mut self) -> Option<Vec<Effect>> {
        let last = *self.pending.front()?.cursors.last()?;
        if last.number() > self.kept.load(Ordering::SeqCst) {
            return None;
        }
        let pending = self.pending.pop_front()?;
        debug_assert!(pending.refused.is_none(), "{last} is kept, and refused: {:?}", pending.refused);
        self.pending_bytes -= pending.bytes;
        pending.repeats.into_iter().for_each(|answered| answered(Ok(last)));
        pending.effects.iter().for_each(|effect| self.transcripts.hand_over(effect));
        if let Some(Report::Accepted { run }) = &pending.word {
            self.transcripts.is_kept(run);
        }
        Some(pending.effects)
    }

    /// Nothing can be kept any more, of a term that is over: the cursors of the facts that are not, and the runs that nobody was
    /// handed.
    pub(super) fn fail(&mut self, fault: StoreFault) -> (Vec<Cursor>, Vec<RunId>) {
        self.drop_from(0, fault)
    }

    /// The same, of a term that stands: what was let in is answered for itself, and as a rule is kept.
    pub(super) fn refuse(&mut self, fault: StoreFault) -> (Vec<Cursor>, Vec<RunId>) {
        self.drop_from(self.pending.partition_point(|pending| pending.refused.is_none()), fault)
    }

    fn drop_from(&mut self, first: usize, fault: StoreFault) -> (Vec<Cursor>, Vec<RunId>) {
        self.term = None;
        let (mut cursors, mut runs) = (Vec::new(), Vec::new());
        for pending in self.pending.drain(first..) {
            self.pending_bytes -= pending.bytes;
            cursors.extend(pending.cursors);
            runs.extend(pending.effects.iter().filter_map(|effect| run_of(effect).cloned()));
            self.heard.extend(pending.word);
            pending.repeats.into_iter().for_each(|answered| answered(Err(fault.clone())));
        }
        self.transcripts.unsay();
        self.last_fault = Some(fault);
        (cursors, runs)
    }

    /// Whether the store's queue is full to that part, or will be.
    pub(super) fn is_filled(&self, part: u64, whole: u64) -> bool {
        let batches = self.pending.len() as u64 * whole >= limits::STORE_QUEUE_BATCHES.value * part;
        batches || self.pending_bytes * whole >= limits::STORE_QUEUE_BYTES.value * part
    }

    /// The first fact that is not kept yet.
    pub(super) fn first_unkept(&self) -> Option<Cursor> {
        self.pending.front().and_then(|pending| pending.cursors.first().copied())
    }
}

impl Making {
    /// Lets the last fact about a schedule bear its row: who folds the log can begin there.
    fn bear(&mut self, id: &ScheduleId, row: &Printed) {
        let id = id.to_string();
        let about = |(record, _): &(FactRecord, Printed)| record.schedule.as_deref() == Some(&*id);
        if let Some(place) = self.facts.iter().rposition(about) {
            let (record, form) = self.facts.remove(place);
            self.facts.insert(place, (record, form.with(facts::ROW, row)));
        }
    }
}

fn printed(record: FactRecord, form: Printed) -> FactRecord {
    FactRecord { payload: form.into_text().into_bytes().into(), ..record }
}

/// Whether the claim just made is one from which the log can be folded without what came before: the history's caps may
/// have taken that. Each so many runs is one, and the first of every four days.
fn is_base(state: &State, id: &ScheduleId) -> bool {
    let Some(record) = state.schedule(id) else { return false };
    let mut claims = state.runs_of(record).map(|(_, run)| run.run().claimed_at);
    let (newest, before) = (claims.next(), claims.next().unwrap_or(record.schedule().created_at));
    let stretch = |at: Moment| at.seconds().div_euclid(BASE_SECONDS);
    let is_first = newest.is_some_and(|newest| stretch(newest) != stretch(before));
    is_first || record.course().runs.is_multiple_of(BASE_RUNS)
}

const BASE_RUNS: u64 = 64;
const BASE_SECONDS: i64 = 4 * 86_400;

/// A fact that outlives the process.
#[derive(Clone, Copy)]
pub(super) struct Lasting<'a> {
    /// The session that it is about: that of its schedule's owner, where it is about a schedule.
    pub(super) session: Option<&'a SessionId>,
}

/// What is to be known of a fact to keep it; `None` for one that does not outlive the process.
pub(super) fn lasting<'a>(fact: &'a Fact, state: &'a State) -> Option<Lasting<'a>> {
    let of =
        |schedule: &'a Schedule| schedule.is_durable().then_some(Lasting { session: Some(&schedule.owner) });
    match fact {
        Fact::Created { schedule, .. } => of(schedule),
        Fact::Schedule(id, _) | Fact::Run(RunId { schedule: id, .. }, _) => {
            of(state.schedule(id)?.schedule())
        }
        Fact::Session(id, fact) => match fact {
            SessionFact::Opened { .. }
            | SessionFact::Closed
            | SessionFact::Hosted { .. }
            | SessionFact::Granted { .. } => Some(Lasting { session: Some(id) }),
            SessionFact::Unhosted
            | SessionFact::Busy
            | SessionFact::Idle
            | SessionFact::UserSpoke
            | SessionFact::TurnUnreported
            | SessionFact::JobReady { .. } => None,
        },
        Fact::Held { .. } | Fact::Released { .. } | Fact::Guarded { .. } | Fact::Awoke { .. } => {
            Some(Lasting { session: None })
        }
        Fact::Host(..) | Fact::Channel(..) | Fact::Stopping { .. } => None,
    }
}

/// Whether something would be changed on disk that nobody may be promised while nothing can be kept: a schedule, a hold, what
/// runs are measured by. Sessions may be opened and closed; they are written as soon as that works again.
pub(super) fn needs_disk(fact: &Fact, state: &State) -> bool {
    let is_written_later = match fact {
        Fact::Session(_, fact) => !matches!(fact, SessionFact::Granted { .. }),
        Fact::Awoke { .. } => true,
        Fact::Created { .. }
        | Fact::Schedule(..)
        | Fact::Run(..)
        | Fact::Host(..)
        | Fact::Channel(..)
        | Fact::Held { .. }
        | Fact::Released { .. }
        | Fact::Guarded { .. }
        | Fact::Stopping { .. } => false,
    };
    !is_written_later && lasting(fact, state).is_some()
}

/// Whether a command is about something that outlives the process.
pub(super) fn asks_for_disk(input: &Input, state: &State) -> bool {
    let Input::Command(command) = input else { return false };
    match command {
        Command::CreateSchedule(new) | Command::ReplaceSchedule(new) => new.durability == Durability::Durable,
        Command::CancelSchedule(which)
        | Command::DeleteSchedule(which)
        | Command::ChangeSchedule { which, .. }
        | Command::PauseSchedule { which, .. }
        | Command::ResumeSchedule(which)
        | Command::RunNow(which)
        | Command::BringForward(which)
        | Command::SkipNext(which) => {
            state.schedule(&which.schedule).is_some_and(|record| record.schedule().is_durable())
        }
        Command::Approve { run, .. } | Command::Deny { run, .. } => {
            state.schedule(&run.schedule).is_some_and(|record| record.schedule().is_durable())
        }
        Command::HoldAll { .. }
        | Command::ReleaseAll { .. }
        | Command::SetGuard { .. }
        | Command::SetGrant { .. } => true,
        Command::OpenSession { .. }
        | Command::CloseSession { .. }
        | Command::HostSessions { .. }
        | Command::JobReady { .. }
        | Command::Shutdown { .. } => false,
    }
}

/// What a host says of a run that is on disk, if that is what this is.
pub(super) fn word_of_host(input: &Input, state: &State) -> Option<Report> {
    let Input::Report(report) = input else { return None };
    let (Report::Created { run } | Report::Accepted { run } | Report::Failed { run, .. }) = report else {
        return None;
    };
    let is_durable = state.schedule(&run.schedule)?.schedule().is_durable();
    is_durable.then(|| report.clone())
}

/// Whether an effect hands something durable over, which must be on disk before.
pub(super) fn waits_for_disk(effect: &Effect, state: &State) -> bool {
    let schedule = run_of(effect).and_then(|run| state.schedule(&run.schedule));
    schedule.is_some_and(|record| record.schedule().is_durable())
}

fn run_of(effect: &Effect) -> Option<&RunId> {
    match effect {
        Effect::Deliver(delivery) => Some(&delivery.run),
        Effect::CreateSession(opening) => Some(&opening.run),
        Effect::Send(parcel) => Some(&parcel.run),
        // Nothing goes out by a question.
        Effect::AskGuard(_) => None,
        Effect::OpenSession { .. } | Effect::RecordMessage { .. } | Effect::ForgetSession { .. } => None,
    }
}

fn schedule_key(id: &ScheduleId) -> String {
    format!("{SCHEDULE}{id}")
}

fn session_key(id: &SessionId) -> String {
    format!("{SESSION}{id}")
}

/// More than a record takes up in a store's queue beside its bytes.
const RECORD_BYTES: usize = 256;

/// How the keys of rows begin. Sessions come after schedules, and are read first all the same.
pub(super) const SCHEDULE: &str = "schedule/";
pub(super) const SESSION: &str = "session/";
/// The key of the row that says who holds everything.
pub(super) const HOLD: &str = "engine/hold";
/// The key of the row that says by what runs are measured, and what sessions may do.
pub(super) const GUARD: &str = "engine/guard";

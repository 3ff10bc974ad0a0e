//! Queries as of an instant: the log's facts up to it, folded by the same code that folds them now.
//!
//! Only persisted facts can be replayed: volatile schedules have no past. The log is pruned, so four rules apply:
//!
//! - An instant before the first fact of a log whose beginning was pruned is refused.
//! - Of a session over its share, any fact about it and its schedules may be missing up to a certain one, and of a
//!   schedule with too many facts, any but its creation. Those facts about schedules are not folded. Before that one, the
//!   schedules are counted as missing.
//! - A record without a fact after the instant has not changed since, so its current row is the row as it stood. This
//!   holds because the store says up to which fact a schedule's or a session's facts are incomplete.
//! - A record that has changed since is rebuilt from the first fact that has all of it: its creation, or a claim that
//!   carries its row (`durable::persister`). If there is none, it is counted, never left out silently.
//!
//! If it is not known whether everything was held, that is counted too, and no waiting run is shown as held.
//!
//! When a person last wrote in a session is in no fact, so it is told only if it has not changed since. Cost: one pass
//! over the log, without the engine's lock. Where the wall clock was set back, an instant occurred twice; its later
//! occurrence is used.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::domain::{
    BootTime, Cursor, Decision, DecisionKind, Fact, Grant, GuardPolicy, Moment, Now, RunId, Schedule,
    ScheduleId, SessionFact, SessionId, Span, Transcript,
};
use crate::engine::{
    ChannelPauses, Holds, LocalFact, Outcomes, ScheduleRow, SessionRecord, SessionRow, State, StoredRow,
};
use crate::graph::eql::QueryRefusal;
use crate::graph::past_accounts::PastAccounts;
use crate::graph::view::Transcripts;
use crate::limits;
use crate::port::{FactRecord, HistoryQuery, LostHistory, Store, StoreFault};
use crate::runtime::codec::{self, Form};
use crate::runtime::{Handle, Reading, Row, try_for_each_row};

/// The engine as it was.
pub(super) struct Snapshot {
    pub(super) state: State,
    /// As many as the feed retains, oldest first.
    pub(super) decisions: VecDeque<Decision>,
    pub(super) now: Now,
    /// Schedules, sessions and settings that existed then and cannot be rebuilt.
    pub(super) unrecoverable: u64,
    /// What became of slots up to then.
    pub(super) accounts: PastAccounts,
}

/// The engine as it was at an instant; `None` if `is_late` said so before it was complete.
pub(super) fn snapshot(
    handle: &Handle,
    at: Moment,
    is_late: &dyn Fn() -> bool,
) -> Result<Option<Snapshot>, QueryRefusal> {
    let refused = |why: String| QueryRefusal::Past(why.into());
    let store = handle.read().store();
    let store =
        store.ok_or_else(|| refused("this daemon has no store; start it with a data directory".into()))?;
    if at > handle.now().wall {
        return Err(refused(format!("{at} has not come yet")));
    }
    match read(&*store, at, is_late).map_err(|fault| refused(fault.to_string()))? {
        Past::Told(snapshot) => Ok(Some(*snapshot)),
        Past::Late => Ok(None),
        Past::Pruned { first } => Err(QueryRefusal::Pruned { asked: at, first }),
    }
}

enum Past {
    Told(Box<Snapshot>),
    /// The instant lies before the first fact, and facts before that one were pruned.
    Pruned {
        first: Moment,
    },
    /// It took too long.
    Late,
}

fn read(store: &dyn Store, at: Moment, is_late: &dyn Fn() -> bool) -> Result<Past, StoreFault> {
    let before = store.lost_history()?;
    let (mut past, mut after) = read_without(store, at, before.clone(), is_late)?;
    if before.sessions != after.sessions {
        // Facts were pruned between two reads. These sessions are pruned all the time: their schedules are left out.
        for (session, through) in &mut after.sessions {
            if before.sessions.get(session) != Some(through) {
                *through = Cursor::new(u64::MAX);
            }
        }
        (past, _) = read_without(store, at, after.clone(), is_late)?;
    }
    // A schedule that runs often loses its oldest fact with each new one. It would not stand still for another read, so it is
    // told as it was read, and counted: a fact of it may have been missed.
    if let Past::Told(snapshot) = &mut past {
        let has_lost =
            after.schedules.iter().filter(|(schedule, lost)| before.schedules.get(*schedule) != Some(lost));
        snapshot.unrecoverable += has_lost.count() as u64;
    }
    Ok(past)
}

/// Reads the log, of which these facts are missing. Also returns what is missing afterwards.
fn read_without(
    store: &dyn Store,
    at: Moment,
    lost: LostHistory,
    is_late: &dyn Fn() -> bool,
) -> Result<(Past, LostHistory), StoreFault> {
    // `until` is exclusive, and facts of that very instant belong to the answer.
    let until = at.checked_add(Span::from_nanos(1));
    // The history comes newest first, so this is the last fact that belongs to the answer.
    let last = store.history(&HistoryQuery { until, limit: 1, ..HistoryQuery::default() })?;
    let end = last.first().map_or(Cursor::START, |record| record.cursor);
    let mut present = Present::default();
    let (mut rows, mut stopped) = (0_u64, false);
    let read = try_for_each_row(store, |row| {
        present.add(row, at);
        rows += 1;
        // Reading the clock costs as much as a row.
        stopped = rows.is_multiple_of(ROWS_BETWEEN_CHECKS) && is_late();
        if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    read.map_err(|fault| damaged(&fault.to_string()))?;
    if stopped {
        return Ok((Past::Late, lost));
    }
    let mut fold = Fold { lost, end, ..Fold::default() };
    let (mut first, mut after) = (None, Cursor::START);
    loop {
        let chunk = store.facts_after(after)?;
        let Some(newest) = chunk.last() else { break };
        if is_late() {
            return Ok((Past::Late, fold.lost));
        }
        if first.is_none()
            && let Some(oldest) = chunk.first()
        {
            first = Some((oldest.cursor, oldest.at));
            // Sessions opened later have their opening in the log, as a rule.
            fold.begin(&present, oldest.at.min(at));
        }
        after = newest.cursor;
        for record in &chunk {
            if record.cursor <= end {
                fold.take(record).map_err(|why| damaged(&format!("fact {}: {why}", record.cursor)))?;
            } else {
                fold.note_later(record);
            }
        }
    }
    // Asked after the facts were read: what is pruned meanwhile counts as pruned.
    let lost = store.lost_history()?;
    let past = match first {
        Some((cursor, at)) if lost.beginning && end < cursor => Past::Pruned { first: at },
        Some(_) | None => {
            let known = (first.map(|(_, at)| at), lost.beginning);
            let told = fold.end(present, at, known, is_late);
            told.map_or(Past::Late, |snapshot| Past::Told(Box::new(snapshot)))
        }
    };
    Ok((past, lost))
}

/// How many rows are handled before the time is checked again: a few milliseconds' worth.
const ROWS_BETWEEN_CHECKS: u64 = 1_024;

/// The current rows, for what has not changed since.
#[derive(Default)]
struct Present {
    sessions: Vec<SessionRow>,
    schedules: Vec<ScheduleRow>,
    holds: Holds,
    channels: BTreeMap<Box<str>, ChannelPauses>,
    policy: Option<Arc<GuardPolicy>>,
    grants: BTreeMap<SessionId, Grant>,
}

impl Present {
    fn add(&mut self, row: Row, at: Moment) {
        match row {
            Row::Session(mut row, _) => {
                // No fact says when a person wrote, so a later time cannot be replaced by the one of that instant.
                row.last_user_activity = row.last_user_activity.filter(|last| *last <= at);
                self.sessions.push(*row);
            }
            Row::Schedule(row) => self.schedules.push(*row),
            Row::Holds(holds) => self.holds = holds,
            Row::ChannelPauses(pauses) => self.channels = pauses,
            Row::Guard(policy, grants) => (self.policy, self.grants) = (policy, grants),
            // Messages come from the hosts.
            Row::Message(_) => {}
        }
    }
}

/// The fold in progress.
#[derive(Default)]
struct Fold {
    state: State,
    decisions: VecDeque<Decision>,
    lost: LostHistory,
    /// The last fact up to the instant.
    end: Cursor,
    /// Schedules that were created or loaded at some point, even if they have been removed since.
    entered: BTreeSet<ScheduleId>,
    /// Schedules with a fact that comes before any complete one.
    unrecoverable: BTreeSet<ScheduleId>,
    /// Schedules and sessions with a fact after the instant, and whether the first such fact is their creation.
    later_schedules: BTreeMap<Box<str>, bool>,
    later_sessions: BTreeMap<Box<str>, bool>,
    /// Settings with a fact up to the instant, and with one after it.
    settings: Settings,
    later_settings: Settings,
    accounts: PastAccounts,
}

/// Which settings a fact is about.
#[derive(Default)]
struct Settings {
    hold: bool,
    channels: bool,
    policy: bool,
    grants: BTreeSet<Box<str>>,
}

impl Settings {
    fn note(&mut self, record: &FactRecord) {
        let is = |kind: DecisionKind| &*record.kind == kind.name();
        self.hold |= is(DecisionKind::EngineHeld) || is(DecisionKind::EngineReleased);
        self.channels |= is(DecisionKind::ChannelPaused) || is(DecisionKind::ChannelResumed);
        self.policy |= is(DecisionKind::GuardPolicySet);
        if is(DecisionKind::SessionGranted) {
            self.grants.extend(record.session.as_deref().map(Box::from));
        }
    }
}

impl Fold {
    /// Loads the sessions that were opened before the log begins.
    fn begin(&mut self, present: &Present, before: Moment) {
        let now = Now { wall: before, boot: BootTime::ZERO };
        for row in present.sessions.iter().filter(|row| row.opened_at < before) {
            // What it has remembered since comes again with the facts of the log.
            let memory = row.memory.as_ref().map(|memory| Box::new(memory.before(before)));
            let pings = row.pings.before(before);
            self.load(StoredRow::Session(Box::new(SessionRow { memory, pings, ..row.clone() })), now);
        }
    }

    fn take(&mut self, record: &FactRecord) -> Result<(), String> {
        self.settings.note(record);
        codec::show(&record.payload, |form| self.take_form(record, form))
    }

    fn take_form(&mut self, record: &FactRecord, form: &Form<'_>) -> Result<(), String> {
        let fact = codec::parse_form(form).map_err(|error| error.to_string())?;
        let now = Now { wall: record.at, boot: BootTime::ZERO };
        if self.decisions.len() as u64 == limits::DECISIONS_KEPT.value {
            self.decisions.pop_front();
        }
        let session = record.session.as_deref().and_then(|id| SessionId::new(id).ok());
        self.decisions.push_back(Decision { session, ..Decision::of(record.cursor, record.at, &fact) });
        let lost_of = |lost: &BTreeMap<Arc<str>, Cursor>, key: &Option<Arc<str>>| {
            key.as_ref().and_then(|key| lost.get(key)).is_some_and(|lost| record.cursor <= *lost)
        };
        let is_patchy = (lost_of(&self.lost.sessions, &record.session)
            || lost_of(&self.lost.schedules, &record.schedule))
            && matches!(fact, Fact::Created { .. } | Fact::Schedule(..) | Fact::Run(..));
        if is_patchy {
            self.accounts.lacks_before(record.at);
            // Its outcome counts although it is not folded. The next line moves the cursor past it.
            self.accounts.add(record.at, &outcomes_of_fact(&fact));
            self.state.apply(now, LocalFact::LogEnds { at: record.cursor });
            return Ok(());
        }
        if let Fact::Created { schedule, .. } = &fact {
            // A complete schedule may follow under the id of one that could not be rebuilt.
            self.unrecoverable.remove(&schedule.id);
            self.entered.insert(schedule.id.clone());
        }
        let is_applied = if let Fact::Schedule(id, _) | Fact::Run(RunId { schedule: id, .. }, _, _) = &fact
            && self.state.schedule(id).is_none()
        {
            // A schedule that was known and has been removed has merely ended.
            if !self.entered.contains(id) {
                self.accounts.lacks_before(record.at);
            }
            // The row is the state after the fact, so the fact itself is not applied.
            self.enter(id, form, now)?;
            self.accounts.add(record.at, &outcomes_of_fact(&fact));
            true
        } else if let Fact::Session(id, SessionFact::Opened { .. }, _) = &fact {
            // Loaded already: the wall clock was set back, and its opening seemed to lie before the log.
            self.state.session(id).is_some()
        } else {
            false
        };
        if is_applied {
            self.state.apply(now, LocalFact::LogEnds { at: record.cursor });
            return Ok(());
        }
        // Volatile facts leave gaps in the log. Skip the gap, so that the fact gets its own cursor again.
        let before = Cursor::new(record.cursor.number().saturating_sub(1));
        self.state.apply(now, LocalFact::LogEnds { at: before });
        let ledger = self.state.ledger();
        self.state.apply(now, fact);
        self.accounts.add(record.at, &Outcomes::between(&ledger, &self.state.ledger()));
        Ok(())
    }

    fn load(&mut self, row: StoredRow, now: Now) {
        self.state.apply(now, LocalFact::Restored(row));
    }

    /// Loads a schedule from the row that a fact carries, which is its state after that fact.
    fn enter(&mut self, id: &ScheduleId, form: &Form<'_>, now: Now) -> Result<(), String> {
        let row = form.part(codec::ROW);
        if !row.is_map() {
            // A schedule that was known and has been removed has merely ended, so its late facts are no loss.
            if !self.entered.contains(id) {
                self.unrecoverable.insert(id.clone());
            }
            return Ok(());
        }
        let row = codec::parse_schedule(row).map_err(|error| error.to_string())?;
        self.load(StoredRow::Schedule(Box::new(row)), now);
        self.entered.insert(id.clone());
        self.unrecoverable.remove(id);
        Ok(())
    }

    /// Notes what has changed since: the current row of that is no substitute.
    fn note_later(&mut self, record: &FactRecord) {
        self.later_settings.note(record);
        let is = |kind: DecisionKind| &*record.kind == kind.name();
        let note = |later: &mut BTreeMap<Box<str>, bool>, id: &str, is_creation| {
            // Only the first fact after the instant says whether the record was there already.
            if !later.contains_key(id) {
                later.insert(id.into(), is_creation);
            }
        };
        let (opened, closed) = (is(DecisionKind::SessionOpened), is(DecisionKind::SessionClosed));
        if let Some(session) = record.session.as_deref().filter(|_| opened || closed) {
            note(&mut self.later_sessions, session, opened);
        }
        // The opening of a fresh session names the schedule that opens it, and leaves that one as it is.
        if let Some(schedule) = record.schedule.as_deref().filter(|_| !opened) {
            note(&mut self.later_schedules, schedule, is(DecisionKind::ScheduleCreated));
        }
    }

    /// Adds the records that have not changed since, and counts those that cannot be rebuilt.
    fn end(
        mut self,
        present: Present,
        at: Moment,
        (first, is_pruned): (Option<Moment>, bool),
        is_late: &dyn Fn() -> bool,
    ) -> Option<Snapshot> {
        let now = Now { wall: at, boot: BootTime::ZERO };
        if let Some(first) = first.filter(|_| is_pruned) {
            self.accounts.lacks_before(first);
        }
        // A log that reaches back to its beginning has every change of a setting, so the fold is right without the rows.
        let mut untold = if is_pruned { self.end_settings(&present, now) } else { 0 };
        for row in present.sessions.into_iter().filter(|row| row.opened_at <= at) {
            // One that is loaded already stays as it is.
            self.load(StoredRow::Session(Box::new(row)), now);
        }
        // A session that was closed later was open then, or was opened in between by a fact that was pruned.
        let closed = self.later_sessions.iter().filter(|(_, opened)| !**opened).map(|(id, _)| id);
        let is_missing = |id: &SessionId| self.state.session(id).is_none();
        untold += closed.filter(|id| SessionId::new(id).is_ok_and(|id| is_missing(&id))).count() as u64;
        for (count, row) in (0_u64..).zip(present.schedules) {
            if count.is_multiple_of(ROWS_BETWEEN_CHECKS) && is_late() {
                return None;
            }
            let id = &row.schedule.id;
            // What stays in this table when all rows are handled has no row: it was deleted since.
            let later = self.later_schedules.remove(id.to_string().as_str());
            if row.schedule.created_at > at || self.entered.contains(id) {
                continue;
            }
            if later.is_some() || self.lacks_facts_since(&row.schedule) {
                self.unrecoverable.insert(id.clone());
            } else {
                self.unrecoverable.remove(id);
                self.entered.insert(id.clone());
                self.load(StoredRow::Schedule(Box::new(row)), now);
            }
        }
        // Schedules that have been deleted since, and whose creation is not in the log.
        let gone = self.later_schedules.iter().filter(|(_, is_created)| !**is_created);
        let gone = gone.filter_map(|(id, _)| ScheduleId::new(id).ok());
        let gone: Vec<ScheduleId> = gone.filter(|id| !self.entered.contains(id)).collect();
        self.unrecoverable.extend(gone);
        debug_assert!(
            self.unrecoverable.is_disjoint(&self.entered),
            "a schedule that is in the snapshot is also counted as missing from it"
        );
        untold += self.unrecoverable.len() as u64;
        // Schedules that have been deleted since may have no fact left: each such session counts once.
        untold += self.lost.sessions.values().filter(|lost| **lost > self.end).count() as u64;
        // Their checks are stored once a minute at most, so their counts and their next slots are not those of the instant.
        untold += self.state.bound_watches(at);
        let (state, decisions, accounts) = (self.state, self.decisions, self.accounts);
        Some(Snapshot { state, decisions, now, unrecoverable: untold, accounts })
    }

    /// Whether facts after the instant about this schedule may have been pruned.
    fn lacks_facts_since(&self, schedule: &Schedule) -> bool {
        let is_since = |lost: Option<&Cursor>| lost.is_some_and(|lost| *lost > self.end);
        is_since(self.lost.sessions.get(schedule.owner.as_str()))
            || is_since(self.lost.schedules.get(schedule.id.to_string().as_str()))
    }

    /// Takes settings without any fact from the current rows. Returns how many settings have a later fact only.
    fn end_settings(&mut self, present: &Present, now: Now) -> u64 {
        let mut untold = 0;
        if !self.settings.hold {
            if self.later_settings.hold {
                untold += 1;
            } else {
                self.load(StoredRow::Holds(present.holds.clone()), now);
            }
        }
        if !self.settings.channels {
            if self.later_settings.channels {
                untold += 1;
            } else {
                self.load(StoredRow::ChannelPauses(present.channels.clone()), now);
            }
        }
        let mut policy = self.state.guard().cloned().map(Arc::new);
        if !self.settings.policy {
            if self.later_settings.policy {
                untold += 1;
            } else {
                policy.clone_from(&present.policy);
            }
        }
        let mut grants = self.state.grants().clone();
        for (session, grant) in &present.grants {
            let id = session.as_str();
            if !self.settings.grants.contains(id) && !self.later_settings.grants.contains(id) {
                grants.insert(session.clone(), grant.clone());
            }
        }
        untold += self.later_settings.grants.difference(&self.settings.grants).count() as u64;
        self.load(StoredRow::Guard { policy, grants }, now);
        untold
    }
}

/// What a fact says by itself of the outcome of slots, without what is known of its schedule.
fn outcomes_of_fact(fact: &Fact) -> Outcomes {
    let is = |kind: DecisionKind| u64::from(fact.kind() == kind);
    // A claim consumes the slot of its run and those that are folded into it, which have no runs of their own.
    let passed = fact.slots().map_or(0, |slots| slots.count).saturating_sub(is(DecisionKind::RunClaimed));
    Outcomes {
        delivered: is(DecisionKind::RunDelivered) + is(DecisionKind::RunTaken),
        left: is(DecisionKind::RunLeft),
        skipped: passed,
        cancelled: is(DecisionKind::RunCancelled),
        failed: is(DecisionKind::RunFailed),
        lost: 0,
    }
}

fn damaged(what: &str) -> StoreFault {
    StoreFault::Damaged { what: what.into() }
}

/// The hosts' transcripts, up to an instant.
pub(super) struct TranscriptsUntil<'a> {
    pub(super) engine: &'a Reading<'a>,
    pub(super) at: Moment,
}

impl Transcripts for TranscriptsUntil<'_> {
    fn transcript(&self, session: &SessionRecord) -> Option<Transcript> {
        let mut transcript = self.engine.transcript(session)?;
        transcript.messages.retain(|message| message.timestamp.is_none_or(|at| at <= self.at));
        Some(transcript)
    }
}

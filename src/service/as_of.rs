//! Queries as of an instant: the log's facts up to it, folded by the same code that folds them now.
//!
//! Only persisted facts can be replayed: volatile schedules have no past. The log drops its oldest facts, so a schedule is
//! rebuilt from the first fact that has all of it: its creation, or a claim that carries its row (`durable::persister`). A
//! schedule without any remaining fact has not changed since, so its current row is used. Schedules that cannot be rebuilt are
//! counted, never left out silently. Cost: one pass over the log, without the engine's lock.
//!
//! Where the wall clock was set back, an instant occurred twice; its later occurrence is used.

use std::collections::{BTreeSet, VecDeque};

use crate::domain::{
    BootTime, Cursor, Decision, Fact, Moment, Now, RunId, ScheduleId, SessionId, Span, Transcript,
};
use crate::engine::{LocalFact, ScheduleRow, SessionRecord, SessionRow, State, StoredRow};
use crate::graph::eql::QueryRefusal;
use crate::graph::view::Transcripts;
use crate::limits;
use crate::port::{FactRecord, HistoryQuery, Store, StoreFault};
use crate::runtime::codec::{self, Form};
use crate::runtime::{Handle, Reading, Row, for_each_row};

/// The engine as it was.
pub(super) struct Snapshot {
    pub(super) state: State,
    /// As many as the feed retains, oldest first.
    pub(super) decisions: VecDeque<Decision>,
    pub(super) now: Now,
    /// Schedules that existed then, and of which no complete fact remains.
    pub(super) unrecoverable: u64,
}

/// The engine as it was at an instant.
pub(super) fn snapshot(handle: &Handle, at: Moment) -> Result<Snapshot, QueryRefusal> {
    let refused = |why: String| QueryRefusal::Past(why.into());
    let store = handle.read().store();
    let store = store.ok_or_else(|| refused("nothing is kept; start it with a data directory".into()))?;
    if at > handle.now().wall {
        return Err(refused(format!("{at} has not come yet")));
    }
    read(&*store, at).map_err(|fault| refused(fault.to_string()))
}

fn read(store: &dyn Store, at: Moment) -> Result<Snapshot, StoreFault> {
    // `until` is exclusive, and facts of that very instant belong to the answer.
    let until = at.checked_add(Span::from_nanos(1));
    let last = store.history(&HistoryQuery { until, limit: 1, ..HistoryQuery::default() })?;
    let end = last.first().map_or(Cursor::START, |record| record.cursor);
    let mut present = Present::default();
    let read = for_each_row(store, &mut |row| present.add(row));
    read.map_err(|fault| damaged(&fault.to_string()))?;
    let mut fold = Fold::default();
    let mut after = Cursor::START;
    loop {
        let chunk = store.facts_after(after)?;
        let Some(newest) = chunk.last() else { break };
        if after == Cursor::START
            && let Some(first) = chunk.first()
        {
            // Sessions opened later have their opening in the log.
            fold.begin(&present, first.at.min(at));
        }
        after = newest.cursor;
        for record in &chunk {
            if record.cursor <= end {
                fold.take(record).map_err(|why| damaged(&format!("fact {}: {why}", record.cursor)))?;
            }
            // Facts after the instant count here: a schedule that has one has changed since, so its
            // present row is no substitute.
            fold.mention(record);
        }
    }
    Ok(fold.end(present, at))
}

/// The current rows, for whatever the log no longer explains.
#[derive(Default)]
struct Present {
    sessions: Vec<SessionRow>,
    schedules: Vec<ScheduleRow>,
}

impl Present {
    fn add(&mut self, row: Row) {
        match row {
            Row::Session(row, _) => self.sessions.push(*row),
            Row::Schedule(row) => self.schedules.push(*row),
            // Holds come from the log, and messages from the hosts.
            Row::Hold(_) | Row::Guard(..) | Row::Message(_) => {}
        }
    }
}

/// The fold in progress.
#[derive(Default)]
struct Fold {
    state: State,
    decisions: VecDeque<Decision>,
    /// Schedules that were created or loaded at some point, even if they have been removed since.
    entered: BTreeSet<ScheduleId>,
    /// Schedules with a fact that comes before any complete one.
    unrecoverable: BTreeSet<ScheduleId>,
    /// Ids of all schedules with a fact in the log, facts after the instant included.
    mentioned: BTreeSet<Box<str>>,
}

impl Fold {
    /// Loads the sessions that were opened before the log begins.
    fn begin(&mut self, present: &Present, before: Moment) {
        let now = Now { wall: before, boot: BootTime::ZERO };
        for row in present.sessions.iter().filter(|row| row.opened_at < before) {
            self.load(StoredRow::Session(Box::new(row.clone())), now);
        }
    }

    fn take(&mut self, record: &FactRecord) -> Result<(), String> {
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
        if let Fact::Created { schedule, .. } = &fact {
            // A complete schedule may follow under the id of one that could not be rebuilt.
            self.unrecoverable.remove(&schedule.id);
            self.entered.insert(schedule.id.clone());
        }
        if let Fact::Schedule(id, _) | Fact::Run(RunId { schedule: id, .. }, _) = &fact
            && self.state.schedule(id).is_none()
        {
            // The row is the state after the fact, so the fact itself is not applied.
            self.enter(id, form, now)?;
            self.state.apply(now, LocalFact::LogEnds { at: record.cursor });
            return Ok(());
        }
        // Volatile facts leave gaps in the log. Skip the gap, so that the fact gets its own cursor again.
        let before = Cursor::new(record.cursor.number().saturating_sub(1));
        self.state.apply(now, LocalFact::LogEnds { at: before });
        self.state.apply(now, fact);
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

    fn mention(&mut self, record: &FactRecord) {
        if let Some(schedule) = &record.schedule
            && !self.mentioned.contains(&**schedule)
        {
            self.mentioned.insert((**schedule).into());
        }
    }

    /// Loads the schedules without any fact, and counts those that cannot be rebuilt.
    fn end(mut self, present: Present, at: Moment) -> Snapshot {
        let now = Now { wall: at, boot: BootTime::ZERO };
        for row in present.schedules {
            let id = &row.schedule.id;
            if row.schedule.created_at > at || self.entered.contains(id) {
                continue;
            }
            if self.mentioned.contains(id.to_string().as_str()) {
                self.unrecoverable.insert(id.clone());
            } else {
                self.load(StoredRow::Schedule(Box::new(row)), now);
            }
        }
        debug_assert!(
            self.unrecoverable.is_disjoint(&self.entered),
            "a schedule that is in the snapshot is also counted as missing from it"
        );
        Snapshot {
            state: self.state,
            decisions: self.decisions,
            now,
            unrecoverable: self.unrecoverable.len() as u64,
        }
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

//! The state as it was: the log's facts up to an instant, folded by the same code that folds them now.
//!
//! Only what is kept can be told of: schedules in memory only have no past. The log forgets its oldest facts, so a schedule
//! is told of from the first fact that says all of it: its creation, or a claim that bears its row (`keep`). Of what has no
//! fact left at all, the row as it stands is the row as it stood. What cannot be told of is counted, never left out in
//! silence. Cost: one pass over the log, without the engine's lock.
//!
//! Where the wall clock was set back, an instant came twice; what is meant is the later time that it came.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::facts::{self, Form};
use super::handle::Handle;
use super::hosts::Hosts;
use super::rows::{self, Row};
use crate::domain::{
    BootTime, Cursor, Decision, Fact, Moment, Now, RunId, ScheduleId, SessionId, Span, Transcript,
};
use crate::engine::{LocalFact, ScheduleRow, SessionRecord, SessionRow, State, StoredRow};
use crate::graph::eql::Refusal;
use crate::graph::view::Transcripts;
use crate::limits;
use crate::port::{FactRecord, HistoryQuery, Store, StoreFault};

/// The engine as it was.
pub(super) struct Past {
    pub(super) state: State,
    /// As many as the feed keeps, oldest first.
    pub(super) decisions: VecDeque<Decision>,
    pub(super) now: Now,
    /// Schedules that were there, and of which nothing whole is kept from before.
    pub(super) untold: u64,
}

impl Handle {
    /// The engine as it was at an instant.
    pub(super) fn past(&self, at: Moment) -> Result<Past, Refusal> {
        let refused = |why: String| Refusal::Past(why.into());
        let store = self.core().keeper.as_ref().map(|keeper| Arc::clone(&keeper.store));
        let store = store.ok_or_else(|| refused("nothing is kept; start it with a data directory".into()))?;
        if at > self.now().wall {
            return Err(refused(format!("{at} has not come yet")));
        }
        read(&*store, at).map_err(|fault| refused(fault.to_string()))
    }
}

fn read(store: &dyn Store, at: Moment) -> Result<Past, StoreFault> {
    let until = at.checked_add(Span::from_nanos(1));
    let last = store.history(&HistoryQuery { until, limit: 1, ..HistoryQuery::default() })?;
    let end = last.first().map_or(Cursor::START, |record| record.cursor);
    let mut kept = Kept::default();
    let read = rows::for_each(store, &mut |row| kept.add(row));
    read.map_err(|fault| damaged(&fault.to_string()))?;
    let mut fold = Fold::default();
    let mut after = Cursor::START;
    loop {
        let chunk = store.facts_after(after)?;
        let Some(newest) = chunk.last() else { break };
        if after == Cursor::START
            && let Some(first) = chunk.first()
        {
            fold.begin(&kept, first.at.min(at));
        }
        after = newest.cursor;
        for record in &chunk {
            if record.cursor <= end {
                fold.take(record).map_err(|why| damaged(&format!("fact {}: {why}", record.cursor)))?;
            }
            fold.mention(record);
        }
    }
    Ok(fold.end(kept, at))
}

/// What is now, where the log does not reach back to how it came to be.
#[derive(Default)]
struct Kept {
    sessions: Vec<SessionRow>,
    schedules: Vec<ScheduleRow>,
}

impl Kept {
    fn add(&mut self, row: Row) {
        match row {
            Row::Session(row, _) => self.sessions.push(*row),
            Row::Schedule(row) => self.schedules.push(*row),
            // The log has the holds that matter, and hosts the messages.
            Row::Hold(_) | Row::Guard(..) | Row::Said(_) => {}
        }
    }
}

/// The fold under way.
#[derive(Default)]
struct Fold {
    state: State,
    decisions: VecDeque<Decision>,
    /// Schedules that were entered once, whatever became of them.
    entered: BTreeSet<ScheduleId>,
    /// Schedules that a fact was about before anything told all of them.
    untold: BTreeSet<ScheduleId>,
    /// Schedules of which the log has a fact at all.
    mentioned: BTreeSet<Box<str>>,
}

impl Fold {
    /// Opens the sessions that are older than the log.
    fn begin(&mut self, kept: &Kept, before: Moment) {
        let now = Now { wall: before, boot: BootTime::ZERO };
        for row in kept.sessions.iter().filter(|row| row.opened_at < before) {
            self.load(StoredRow::Session(Box::new(row.clone())), now);
        }
    }

    fn take(&mut self, record: &FactRecord) -> Result<(), String> {
        facts::show(&record.payload, |form| self.take_form(record, form))
    }

    fn take_form(&mut self, record: &FactRecord, form: &Form<'_>) -> Result<(), String> {
        let fact = facts::parse_form(form).map_err(|error| error.to_string())?;
        let now = Now { wall: record.at, boot: BootTime::ZERO };
        if self.decisions.len() as u64 == limits::DECISIONS_KEPT.value {
            self.decisions.pop_front();
        }
        let session = record.session.as_deref().and_then(|id| SessionId::new(id).ok());
        self.decisions.push_back(Decision { session, ..Decision::of(record.cursor, record.at, &fact) });
        if let Fact::Created { schedule, .. } = &fact {
            self.untold.remove(&schedule.id);
            self.entered.insert(schedule.id.clone());
        }
        if let Fact::Schedule(id, _) | Fact::Run(RunId { schedule: id, .. }, _) = &fact
            && self.state.schedule(id).is_none()
        {
            self.enter(id, form, now)?;
            self.state.apply(now, LocalFact::LogEnds { at: record.cursor });
            return Ok(());
        }
        let before = Cursor::new(record.cursor.number().saturating_sub(1));
        self.state.apply(now, LocalFact::LogEnds { at: before });
        self.state.apply(now, fact);
        Ok(())
    }

    fn load(&mut self, row: StoredRow, now: Now) {
        self.state.apply(now, LocalFact::Restored(row));
    }

    /// Enters a schedule from the row that a fact bears, which is as it stood after that fact.
    fn enter(&mut self, id: &ScheduleId, form: &Form<'_>, now: Now) -> Result<(), String> {
        let row = form.part(facts::ROW);
        if !row.is_map() {
            if !self.entered.contains(id) {
                self.untold.insert(id.clone());
            }
            return Ok(());
        }
        let row = facts::parse_schedule(row).map_err(|error| error.to_string())?;
        self.load(StoredRow::Schedule(Box::new(row)), now);
        self.entered.insert(id.clone());
        self.untold.remove(id);
        Ok(())
    }

    fn mention(&mut self, record: &FactRecord) {
        if let Some(schedule) = &record.schedule
            && !self.mentioned.contains(&**schedule)
        {
            self.mentioned.insert((**schedule).into());
        }
    }

    /// Enters what has no fact, and counts what cannot be told of.
    fn end(mut self, kept: Kept, at: Moment) -> Past {
        let now = Now { wall: at, boot: BootTime::ZERO };
        for row in kept.schedules {
            let id = &row.schedule.id;
            if row.schedule.created_at > at || self.entered.contains(id) {
                continue;
            }
            if self.mentioned.contains(id.to_string().as_str()) {
                self.untold.insert(id.clone());
            } else {
                self.load(StoredRow::Schedule(Box::new(row)), now);
            }
        }
        Past { state: self.state, decisions: self.decisions, now, untold: self.untold.len() as u64 }
    }
}

fn damaged(what: &str) -> StoreFault {
    StoreFault::Damaged { what: what.into() }
}

/// What the hosts keep, up to an instant.
pub(super) struct TranscriptsUntil<'a> {
    pub(super) hosts: &'a Hosts,
    pub(super) at: Moment,
}

impl Transcripts for TranscriptsUntil<'_> {
    fn transcript(&self, session: &SessionRecord) -> Option<Transcript> {
        let mut transcript = self.hosts.transcript(session)?;
        transcript.messages.retain(|message| message.timestamp.is_none_or(|at| at <= self.at));
        Some(transcript)
    }
}

//! The durable store's contract, kept in memory: for tests, which can make it wait and fail.
//!
//! What lives elsewhere: anything that survives the process. Invariant: answers come in log order, outside the lock, one
//! thread at a time, as the contract says (`port`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::Cursor;
use crate::limits;
use crate::port::{
    Batch, Done, FactRecord, HistoryCaps, HistoryQuery, Pruned, RowRecord, Store, StoreCounts, StoreFault,
    StoreHealth, StoreReport, Term,
};

/// A store that forgets everything with its process.
pub struct StoreMemory {
    state: Mutex<State>,
}

struct State {
    caps: HistoryCaps,
    facts: BTreeMap<Cursor, FactRecord>,
    /// The facts of each schedule, so that one more is not paid for by a look at all.
    of_schedule: BTreeMap<Arc<str>, BTreeSet<Cursor>>,
    fact_bytes: u64,
    rows: BTreeMap<String, Kept>,
    tombstones: usize,
    pruned: Pruned,
    newest: i64,
    waiting: VecDeque<(Batch, Done)>,
    answers: VecDeque<(Done, Result<Cursor, StoreFault>)>,
    is_answering: bool,
    is_held: bool,
    is_up: bool,
    is_closed: bool,
    fails: Option<StoreFault>,
    taken: Cursor,
    head: Cursor,
    term: Term,
    faults: Vec<StoreFault>,
}

struct Kept {
    row: RowRecord,
    at: i64,
}

impl StoreMemory {
    /// An empty one.
    pub fn new(caps: HistoryCaps) -> StoreMemory {
        StoreMemory {
            state: Mutex::new(State {
                caps,
                facts: BTreeMap::new(),
                of_schedule: BTreeMap::new(),
                fact_bytes: 0,
                rows: BTreeMap::new(),
                tombstones: 0,
                pruned: Pruned::default(),
                newest: i64::MIN,
                waiting: VecDeque::new(),
                answers: VecDeque::new(),
                is_answering: false,
                is_held: false,
                is_up: true,
                is_closed: false,
                fails: None,
                taken: Cursor::START,
                head: Cursor::START,
                term: Term(1),
                faults: Vec::new(),
            }),
        }
    }

    /// Lets batches wait, as a slow disk does, until [`StoreMemory::release`].
    pub fn hold(&self) {
        self.lock().is_held = true;
    }

    /// Keeps what waits, and whatever comes.
    pub fn release(&self) {
        self.lock().is_held = false;
        self.work();
    }

    /// Makes the next append fail, and `renew` too as long as [`StoreMemory::heal`] was not called.
    pub fn fail(&self, fault: StoreFault) {
        self.lock().fails = Some(fault);
    }

    /// Lets appends succeed again, after a `renew`.
    pub fn heal(&self) {
        self.lock().fails = None;
    }

    /// Power is lost: of what waits, the first `kept` batches are on the disk and the rest are not, and nobody is told. The
    /// next process takes a store up that does not wait.
    pub fn lose_power(&self, kept: usize) {
        let mut state = self.lock();
        for _ in 0..kept {
            let Some((batch, done)) = state.waiting.pop_front() else { break };
            // What a failed append would have said, nobody is there to hear either.
            let _ = state.keep(batch);
            drop(done);
        }
        state.waiting.clear();
        state.answers.clear();
        state.is_held = false;
        state.is_up = true;
        state.term = Term(state.term.0 + 1);
        state.taken = state.head;
    }

    /// How many batches wait.
    pub fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Closed and opened again, as it would be with the next process.
    #[must_use]
    pub fn reopened(self) -> StoreMemory {
        self.close();
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (taken, term) = (state.head, Term(1));
        let state = State { is_closed: false, is_up: true, taken, term, faults: Vec::new(), ..state };
        StoreMemory { state: Mutex::new(state) }
    }

    /// Keeps what waits and tells its callers, unless another thread is at it.
    fn work(&self) {
        let mut state = self.lock();
        while let Some((batch, done)) = state.next() {
            let kept = state.keep(batch);
            state.answers.push_back((done, kept));
        }
        if state.is_answering {
            return;
        }
        state.is_answering = true;
        while let Some((done, answer)) = state.answers.pop_front() {
            drop(state);
            done(answer);
            state = self.lock();
        }
        state.is_answering = false;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self) -> Option<(Batch, Done)> {
        if self.is_held && !self.is_closed { None } else { self.waiting.pop_front() }
    }

    fn keep(&mut self, batch: Batch) -> Result<Cursor, StoreFault> {
        if !self.is_up {
            return Err(StoreFault::TermOver);
        }
        if let Some(fault) = self.fails.clone().or_else(|| self.stale(&batch)) {
            self.is_up = false;
            self.faults.push(fault.clone());
            return Err(fault);
        }
        let at = batch.facts.iter().map(|fact| fact.at.seconds()).max().unwrap_or_default();
        self.newest = self.newest.max(at);
        for fact in batch.facts {
            self.head = fact.cursor;
            self.fact_bytes += fact.bytes() as u64;
            let (cursor, schedule) = (fact.cursor, fact.schedule.clone());
            self.facts.insert(cursor, fact);
            if let Some(schedule) = schedule {
                self.count_in(&schedule, cursor);
            }
        }
        for row in batch.rows {
            self.tombstones += usize::from(row.payload.is_none());
            let former = self.rows.insert(row.key.to_string(), Kept { row, at });
            self.tombstones -= former.iter().filter(|kept| kept.row.payload.is_none()).count();
        }
        self.prune();
        Ok(self.head)
    }

    fn stale(&self, batch: &Batch) -> Option<StoreFault> {
        let is_stale =
            |row: &&RowRecord| self.rows.get(&*row.key).is_some_and(|kept| kept.row.revision >= row.revision);
        let row = batch.rows.iter().find(is_stale)?;
        Some(StoreFault::StaleRow { key: row.key.clone(), revision: row.revision })
    }

    fn prune(&mut self) {
        let days = i64::try_from(self.caps.days.saturating_mul(86_400)).unwrap_or(i64::MAX);
        let horizon = self.newest.saturating_sub(days);
        while let Some((cursor, fact)) = self.facts.first_key_value() {
            let cursor = *cursor;
            if fact.at.seconds() < horizon {
                self.pruned.by_age += 1;
            } else if self.fact_bytes > self.caps.bytes {
                self.pruned.by_bytes += 1;
            } else {
                break;
            }
            self.forget(cursor);
        }
        if self.tombstones > 0 {
            let before = self.rows.len();
            self.rows.retain(|_, kept| kept.row.payload.is_some() || kept.at >= horizon);
            let gone = before - self.rows.len();
            self.tombstones -= gone;
            self.pruned.tombstones += gone as u64;
        }
    }

    /// Counts a fact among those of its schedule; beyond the cap, the oldest of them goes.
    fn count_in(&mut self, schedule: &Arc<str>, cursor: Cursor) {
        let cursors = self.of_schedule.entry(Arc::clone(schedule)).or_default();
        cursors.insert(cursor);
        let gone = if cursors.len() as u64 > self.caps.schedule_rows { cursors.pop_first() } else { None };
        if let Some(gone) = gone {
            self.pruned.by_rows += 1;
            self.forget(gone);
        }
    }

    fn forget(&mut self, cursor: Cursor) {
        let Some(fact) = self.facts.remove(&cursor) else { return };
        self.fact_bytes -= fact.bytes() as u64;
        if let Some(schedule) = &fact.schedule
            && let Some(cursors) = self.of_schedule.get_mut(schedule)
        {
            cursors.remove(&cursor);
            if cursors.is_empty() {
                self.of_schedule.remove(schedule);
            }
        }
    }
}

impl Store for StoreMemory {
    fn submit(&self, term: Term, batch: Batch, done: Done) -> Result<(), StoreFault> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(StoreFault::Closed);
        }
        if !state.is_up || state.term != term {
            return Err(StoreFault::TermOver);
        }
        let Some(last) = batch.facts.last() else { return Err(StoreFault::NoFact) };
        let mut after = state.taken;
        for fact in &batch.facts {
            if fact.cursor <= after {
                return Err(StoreFault::OutOfOrder { cursor: fact.cursor, after });
            }
            after = fact.cursor;
        }
        let max = limits::STORE_BATCH_BYTES.value;
        if batch.bytes() as u64 > max {
            return Err(StoreFault::TooLarge { what: "a batch, in bytes,", max });
        }
        let limit = &limits::STORE_QUEUE_BATCHES;
        if state.waiting.len() as u64 >= limit.value {
            return Err(StoreFault::Overloaded { max: limit.value, unit: limit.unit });
        }
        state.taken = last.cursor;
        state.waiting.push_back((batch, done));
        drop(state);
        self.work();
        Ok(())
    }

    fn renew(&self) -> Result<Term, StoreFault> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(StoreFault::Closed);
        }
        if !state.is_up {
            if let Some(fault) = &state.fails {
                return Err(fault.clone());
            }
            state.is_up = true;
            state.term = Term(state.term.0 + 1);
            state.taken = state.head;
        }
        Ok(state.term)
    }

    fn health(&self) -> StoreHealth {
        let state = self.lock();
        StoreHealth {
            term: (state.is_up && !state.is_closed).then_some(state.term),
            head: state.head,
            queued: state.waiting.len(),
            failures: state.faults.len() as u64,
            last_fault: state.faults.last().cloned(),
        }
    }

    fn facts_after(&self, after: Cursor) -> Result<Vec<FactRecord>, StoreFault> {
        let state = self.lock();
        Ok(state.facts.range(after.next()..).map(|(_, fact)| fact.clone()).take(CHUNK).collect())
    }

    fn rows_after(&self, after: Option<&str>) -> Result<Vec<RowRecord>, StoreFault> {
        let state = self.lock();
        let rows = state.rows.values().map(|kept| &kept.row);
        Ok(rows.filter(|row| after.is_none_or(|after| *row.key > *after)).take(CHUNK).cloned().collect())
    }

    fn history(&self, query: &HistoryQuery) -> Result<Vec<FactRecord>, StoreFault> {
        let state = self.lock();
        let is_wanted = |fact: &&FactRecord| {
            query.schedule.as_ref().is_none_or(|schedule| fact.schedule.as_ref() == Some(schedule))
                && query.from.is_none_or(|from| fact.at >= from)
                && query.until.is_none_or(|until| fact.at < until)
                && query.before.is_none_or(|before| fact.cursor < before)
        };
        Ok(state.facts.values().rev().filter(is_wanted).take(query.limit.min(CHUNK)).cloned().collect())
    }

    fn doctor(&self) -> Result<StoreReport, StoreFault> {
        let state = self.lock();
        let counts = StoreCounts {
            facts: state.facts.len() as u64,
            fact_bytes: state.fact_bytes,
            first: state.facts.first_key_value().map_or(Cursor::START, |(cursor, _)| *cursor),
            head: state.head,
            rows: state.rows.len() as u64,
            tombstones: state.rows.values().filter(|kept| kept.row.payload.is_none()).count() as u64,
            ..StoreCounts::default()
        };
        Ok(StoreReport {
            engine: "memory".to_owned(),
            place: "this process".to_owned(),
            schema: 1,
            holder: None,
            defects: Vec::new(),
            counts,
            pruned: state.pruned,
            caps: state.caps,
            last_faults: state.faults.clone(),
        })
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.work();
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the limit is far below 2^32")]
const CHUNK: usize = limits::STORE_CHUNK_RECORDS.value as usize;

//! The store in memory as its callers use it: queue, answers, terms.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use super::faults::{Append, DiskFault, FaultState, Tail, Torn, overloaded};
use super::tables::CommittedTables;
use crate::domain::Cursor;
use crate::limits;
use crate::port::{
    Batch, Done, FactRecord, HistoryBytes, HistoryCaps, HistoryQuery, LostHistory, RowRecord, Store,
    StoreCounts, StoreFault, StoreHealth, StoreReport, Term,
};

/// A store that loses everything with its process.
pub struct StoreMemory {
    state: Mutex<State>,
    /// Notified when every answer has been delivered.
    answered: Condvar,
}

struct State {
    shelf: CommittedTables,
    /// What a loss of power left of the last batch, until the store is used again.
    tail: Option<Tail>,
    waiting: VecDeque<(Batch, Done)>,
    answers: VecDeque<(Done, Result<Cursor, StoreFault>)>,
    /// The thread that delivers answers, if one does: only one may, so that they come in log order.
    answering: Option<ThreadId>,
    is_held: bool,
    is_up: bool,
    is_closed: bool,
    trouble: FaultState,
    taken: Cursor,
    /// The last committed fact.
    head: Cursor,
    term: Term,
    faults: Vec<StoreFault>,
    /// How many batches were refused for lack of room.
    refusals: u64,
}

impl StoreMemory {
    /// Makes an empty store.
    pub fn new(caps: HistoryCaps) -> StoreMemory {
        StoreMemory {
            state: Mutex::new(State {
                shelf: CommittedTables::new(caps),
                tail: None,
                waiting: VecDeque::new(),
                answers: VecDeque::new(),
                answering: None,
                is_held: false,
                is_up: true,
                is_closed: false,
                trouble: FaultState::default(),
                taken: Cursor::START,
                head: Cursor::START,
                term: Term(1),
                faults: Vec::new(),
                refusals: 0,
            }),
            answered: Condvar::new(),
        }
    }

    /// Makes batches wait, as a slow disk does, until [`StoreMemory::release`].
    pub fn hold(&self) {
        self.lock().is_held = true;
    }

    /// Commits the waiting batches, and commits further ones at once.
    pub fn release(&self) {
        self.lock().is_held = false;
        self.work();
    }

    /// Makes the next append fail, and `renew` too until [`StoreMemory::heal`] is called.
    pub fn fail(&self, fault: StoreFault) {
        self.lock().trouble.begin(DiskFault::Broken, fault);
    }

    /// Makes the disk fail in this way from the next append on.
    pub fn fail_as(&self, fault: DiskFault) {
        self.lock().trouble.begin(fault, fault.says());
    }

    /// Ends the fault, so that appends succeed again after a `renew`.
    pub fn heal(&self) {
        self.lock().trouble.end();
    }

    /// Simulates a loss of power: the first `kept` of the waiting batches are on the disk, the rest
    /// are lost, and no caller is notified. The next process finds a store that does not wait.
    pub fn lose_power(&self, kept: usize) {
        self.cut_power(kept, None);
    }

    /// Simulates a loss of power while the batch behind the first `kept` is being written: part of
    /// it is on the disk.
    pub fn tear(&self, kept: usize, torn: Torn) {
        self.cut_power(kept, Some(torn));
    }

    fn cut_power(&self, kept: usize, torn: Option<Torn>) {
        let mut state = self.lock();
        for _ in 0..kept {
            let Some((batch, done)) = state.waiting.pop_front() else { break };
            // The result does not matter: after a loss of power there is no caller to receive it.
            let _ = state.keep(batch);
            drop(done);
        }
        let is_up = state.is_up;
        let next = state.waiting.pop_front().filter(|_| is_up);
        state.tail = torn.zip(next).map(|(torn, (batch, _))| Tail::of(batch, torn));
        state.waiting.clear();
        state.answers.clear();
        state.is_held = false;
        state.is_up = true;
        // A new term, so that a batch decided before the loss of power is refused after it.
        state.term = Term(state.term.0 + 1);
        state.head = state.shelf.last;
        state.taken = state.head;
    }

    /// Returns how many batches wait.
    pub fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Returns how many batches were refused because too many waited.
    pub fn refusals(&self) -> u64 {
        self.lock().refusals
    }

    /// Returns the cursor of the last accepted fact, committed or not.
    pub fn taken(&self) -> Cursor {
        self.lock().taken
    }

    /// Closes the store and opens it again, as the next process would.
    #[must_use]
    pub fn reopened(self) -> StoreMemory {
        self.close();
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (head, term) = (state.shelf.last, Term(1));
        let state =
            State { is_closed: false, is_up: true, taken: head, head, term, faults: Vec::new(), ..state };
        StoreMemory { state: Mutex::new(state), answered: Condvar::new() }
    }

    /// Commits the waiting batches and answers their callers, unless another thread is delivering
    /// answers.
    fn work(&self) {
        let mut state = self.lock();
        while let Some((batch, done)) = state.next() {
            let kept = state.keep(batch);
            state.answers.push_back((done, kept));
        }
        // The other thread picks up the new answers: it checks the list until it is empty.
        if state.answering.is_some() {
            return;
        }
        state.answering = Some(thread::current().id());
        while let Some((done, answer)) = state.answers.pop_front() {
            // A callback may submit, so it is called without the lock.
            drop(state);
            done(answer);
            state = self.lock();
        }
        state.answering = None;
        drop(state);
        self.answered.notify_all();
    }

    /// Locks the state. An incomplete batch left by a loss of power is resolved first: it is
    /// committed whole or dropped.
    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(batch) = state.tail.take().and_then(Tail::whole) {
            state.shelf.put(batch);
            state.head = state.shelf.last;
            state.taken = state.head;
        }
        state
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
        let append = match self.shelf.stale(&batch) {
            Some(stale) => Append::Lost(stale),
            None => self.trouble.append(),
        };
        let fault = match append {
            Append::Kept => {
                self.shelf.put(batch);
                self.head = self.shelf.last;
                return Ok(self.head);
            }
            Append::Lost(fault) => fault,
            // The caller sees a failure, although the batch is there: it learns the truth by
            // reading after `renew`.
            Append::Unknown(fault) => {
                self.shelf.put(batch);
                fault
            }
        };
        self.is_up = false;
        self.faults.push(fault.clone());
        Err(fault)
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
        let room = state.trouble.room();
        if state.waiting.len() as u64 >= room {
            state.refusals += 1;
            return Err(overloaded(room));
        }
        // From here on the batch is accepted; every refusal above has dropped `done` uncalled.
        state.taken = last.cursor;
        state.waiting.push_back((batch, done));
        drop(state);
        self.work();
        Ok(())
    }

    fn renew(&self) -> Result<Term, StoreFault> {
        let mut state = self.lock();
        // Answers that are being delivered belong to batches accepted before this call, so they
        // come first. A callback that renews must not wait for itself.
        while state.answering.is_some_and(|by| by != thread::current().id()) {
            state = self.answered.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_closed {
            return Err(StoreFault::Closed);
        }
        if state.answering.is_some() || !state.waiting.is_empty() {
            // A held disk is not waited for: the only thread of a simulation would wait for itself.
            return Err(overloaded(0));
        }
        if !state.is_up {
            state.trouble.open()?;
            state.is_up = true;
            state.term = Term(state.term.0 + 1);
            // A batch that was written but reported as failed is part of the log from here on.
            state.head = state.shelf.last;
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
        Ok(state.shelf.facts.range(after.next()..).map(|(_, fact)| fact.clone()).take(CHUNK).collect())
    }

    fn rows_after(&self, after: Option<&str>) -> Result<Vec<RowRecord>, StoreFault> {
        let state = self.lock();
        let rows = state.shelf.rows.values().map(|kept| &kept.row);
        Ok(rows.filter(|row| after.is_none_or(|after| *row.key > *after)).take(CHUNK).cloned().collect())
    }

    fn history(&self, query: &HistoryQuery) -> Result<Vec<FactRecord>, StoreFault> {
        let state = self.lock();
        if let Some(within) = &query.within {
            let about = || state.shelf.facts.values().filter(|fact| fact.schedule == query.schedule);
            let ends = about().next().into_iter().chain(about().next_back());
            if !ends.into_iter().any(|fact| fact.sharer() == Some(within)) {
                return Ok(Vec::new());
            }
        }
        let is_wanted = |fact: &&FactRecord| {
            query.schedule.as_ref().is_none_or(|schedule| fact.schedule.as_ref() == Some(schedule))
                && query.from.is_none_or(|from| fact.at >= from)
                && query.until.is_none_or(|until| fact.at < until)
                && query.before.is_none_or(|before| fact.cursor < before)
        };
        Ok(state.shelf.facts.values().rev().filter(is_wanted).take(query.limit.min(CHUNK)).cloned().collect())
    }

    fn lost_history(&self) -> Result<LostHistory, StoreFault> {
        Ok(self.lock().shelf.lost.clone())
    }

    fn history_bytes(&self, session: Option<&str>) -> HistoryBytes {
        self.lock().shelf.history_bytes(session)
    }

    fn doctor(&self) -> Result<StoreReport, StoreFault> {
        let state = self.lock();
        let counts = StoreCounts {
            facts: state.shelf.facts.len() as u64,
            fact_bytes: state.shelf.fact_bytes,
            first: state.shelf.facts.first_key_value().map_or(Cursor::START, |(cursor, _)| *cursor),
            head: state.head,
            rows: state.shelf.rows.len() as u64,
            tombstones: state.shelf.rows.values().filter(|kept| kept.row.payload.is_none()).count() as u64,
            ..StoreCounts::default()
        };
        Ok(StoreReport {
            engine: "memory".to_owned(),
            place: "this process".to_owned(),
            schema: 1,
            holder: None,
            defects: Vec::new(),
            counts,
            pruned: state.shelf.pruned,
            caps: state.shelf.caps,
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

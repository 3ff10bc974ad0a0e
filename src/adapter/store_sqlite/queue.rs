//! Queue of batches between callers and the writer, with the health and the terms of the store.
//!
//! Invariant: the lock is held for a few steps only; no callback runs and nothing waits for a disk
//! under it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::domain::Cursor;
use crate::limits::{self, Limit};
use crate::port::{Batch, Done, StoreFault, StoreHealth, Term};

/// A batch that waits to be written.
pub(super) struct Waiting {
    pub(super) batch: Batch,
    pub(super) done: Done,
    bytes: u64,
}

/// The writer's next task.
pub(super) enum Work {
    /// Commit these batches, in one transaction.
    Group(Vec<Waiting>),
    /// Open the file again if needed, and answer.
    Renew(Renewal),
    /// No batch waits: prune a little.
    Tidy,
    /// No batch has waited for a while: move the log into the file.
    Move,
    /// No batch waits, and none will come.
    Close,
}

/// What the writer does if no batch or renewal waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Idle {
    /// Prune, at once.
    Tidy,
    /// Move the log into the file, after a quiet period.
    Move,
    /// Sleep.
    Rest,
}

pub(super) type Renewal = SyncSender<Result<Term, StoreFault>>;

/// The queue, shared by callers and the writer.
pub(super) struct Queue {
    state: Mutex<State>,
    wake: Condvar,
    /// Number of batches ever accepted, readable without the lock.
    submitted: AtomicU64,
}

struct State {
    waiting: VecDeque<Waiting>,
    bytes: u64,
    /// Renewals, each with the last cursor accepted before it: it is answered only after that one.
    renewals: VecDeque<(Cursor, Renewal)>,
    /// The last accepted cursor.
    taken: Cursor,
    head: Cursor,
    term: Term,
    is_up: bool,
    is_closing: bool,
    is_writer_asleep: bool,
    /// The last group was a single batch, so its caller may submit the next one in a moment.
    is_lone: bool,
    failures: u64,
    faults: VecDeque<StoreFault>,
}

impl Queue {
    pub(super) fn new(head: Cursor) -> Queue {
        Queue {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                bytes: 0,
                renewals: VecDeque::new(),
                taken: head,
                head,
                term: Term(1),
                is_up: true,
                is_closing: false,
                is_writer_asleep: false,
                is_lone: false,
                failures: 0,
                faults: VecDeque::new(),
            }),
            wake: Condvar::new(),
            submitted: AtomicU64::new(0),
        }
    }

    pub(super) fn submit(&self, term: Term, batch: Batch, done: Done) -> Result<(), StoreFault> {
        // Checked before the lock is taken: it reads the whole batch.
        let bytes = weigh(&batch)?;
        let mut state = self.lock();
        if state.is_closing {
            return Err(StoreFault::Closed);
        }
        if !state.is_up || state.term != term {
            return Err(StoreFault::TermOver);
        }
        let last = in_order(state.taken, &batch)?;
        room(&limits::STORE_QUEUE_BATCHES, state.waiting.len() as u64 + 1)?;
        // Without its own bytes: a step cannot be divided, so a batch that is larger than the queue would never be written.
        room(&limits::STORE_QUEUE_BYTES, state.bytes)?;
        state.taken = last;
        state.bytes += bytes;
        state.waiting.push_back(Waiting { batch, done, bytes });
        self.submitted.fetch_add(1, Ordering::Release);
        // A notification costs a system call, so it is left out while the writer is awake.
        if state.is_writer_asleep {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Asks the writer for a term: a new one if the current one has ended. Even if it has not, the
    /// writer answers only after every batch that waits now.
    pub(super) fn renew(&self, renewal: Renewal) -> Result<(), StoreFault> {
        let mut state = self.lock();
        if state.is_closing {
            return Err(StoreFault::Closed);
        }
        let after = state.taken;
        state.renewals.push_back((after, renewal));
        self.wake.notify_one();
        Ok(())
    }

    pub(super) fn close(&self) {
        self.lock().is_closing = true;
        self.wake.notify_one();
    }

    pub(super) fn health(&self) -> StoreHealth {
        let state = self.lock();
        StoreHealth {
            term: (state.is_up && !state.is_closing).then_some(state.term),
            head: state.head,
            queued: state.waiting.len(),
            failures: state.failures,
            last_fault: state.faults.back().cloned(),
        }
    }

    pub(super) fn faults(&self) -> Vec<StoreFault> {
        self.lock().faults.iter().cloned().collect()
    }

    /// Returns the next task. Waits for one, or returns what to do meanwhile if `idle` says so.
    pub(super) fn next(&self, idle: Idle) -> Work {
        let mut state = self.lock();
        let mut may_linger = state.is_lone;
        loop {
            // Renewals come before batches. The batches of an ended term have been answered
            // already, and a renewal that must come after a waiting batch is not returned here.
            if let Some(renewal) = state.renewal() {
                return Work::Renew(renewal);
            }
            if !state.waiting.is_empty() {
                return Work::Group(state.group());
            }
            // Close comes after the waiting batches, which are still written and answered.
            if state.is_closing {
                return Work::Close;
            }
            if std::mem::take(&mut may_linger) {
                let submitted = self.submitted.load(Ordering::Acquire);
                // Spinning with the lock held would keep out the very caller that is waited for.
                drop(state);
                self.linger(submitted);
                state = self.lock();
                continue;
            }
            if idle == Idle::Tidy {
                return Work::Tidy;
            }
            state.is_writer_asleep = true;
            if idle == Idle::Move {
                let (woken, slept) =
                    self.wake.wait_timeout(state, QUIET).unwrap_or_else(PoisonError::into_inner);
                state = woken;
                if slept.timed_out() {
                    state.is_writer_asleep = false;
                    return Work::Move;
                }
            } else {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.is_writer_asleep = false;
        }
    }

    /// Spins for a moment: for a lone caller, putting the thread to sleep and waking it costs as
    /// much as the flush.
    fn linger(&self, before: u64) {
        for _ in 0..LINGER {
            if self.submitted.load(Ordering::Acquire) != before {
                return;
            }
            std::hint::spin_loop();
        }
    }

    /// Notes that everything up to `head` is committed, in this many batches whose callers are
    /// about to be answered.
    pub(super) fn committed(&self, head: Cursor, batches: usize) {
        let mut state = self.lock();
        state.head = head;
        state.is_lone = batches == 1;
    }

    /// Ends the term, and returns the waiting batches, which have to be answered.
    pub(super) fn fail(&self, fault: &StoreFault) -> VecDeque<Waiting> {
        let mut state = self.lock();
        state.is_up = false;
        state.failures += 1;
        if state.faults.len() as u64 >= limits::STORE_FAULTS_KEPT.value {
            state.faults.pop_front();
        }
        state.faults.push_back(fault.clone());
        state.bytes = 0;
        std::mem::take(&mut state.waiting)
    }

    /// Begins a term on the committed log, if the last one has ended.
    pub(super) fn begin(&self, head: Cursor) -> Term {
        let mut state = self.lock();
        if !state.is_up {
            state.term = Term(state.term.0 + 1);
            state.is_up = true;
            state.head = head;
            state.taken = head;
        }
        state.term
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns a renewal if every batch accepted before it has been answered; batches accepted
    /// after it wait behind it.
    fn renewal(&mut self) -> Option<Renewal> {
        let (after, _) = self.renewals.front()?;
        let first = self.waiting.front().and_then(|waiting| waiting.batch.facts.first());
        if first.is_some_and(|first| first.cursor <= *after) {
            return None;
        }
        self.renewals.pop_front().map(|(_, renewal)| renewal)
    }

    /// Takes the waiting batches, up to the bound of one transaction, but at least one: a batch may be larger.
    fn group(&mut self) -> Vec<Waiting> {
        let mut left = limits::STORE_GROUP_RECORDS.value;
        let fits = |waiting: &&Waiting| {
            let records = (waiting.batch.facts.len() + waiting.batch.rows.len()) as u64;
            let fits = records <= left;
            left = left.saturating_sub(records);
            fits
        };
        let count = self.waiting.iter().take_while(fits).count().max(1);
        let group: Vec<Waiting> = self.waiting.drain(..count.min(self.waiting.len())).collect();
        self.bytes -= group.iter().map(|waiting| waiting.bytes).sum::<u64>();
        group
    }
}

/// Checks the parts of a batch against the bounds, and returns the bytes that it takes up while it waits.
fn weigh(batch: &Batch) -> Result<u64, StoreFault> {
    if batch.facts.is_empty() {
        return Err(StoreFault::NoFact);
    }
    let records = batch.facts.len() + batch.rows.len();
    let keys = batch.facts.iter().flat_map(|fact| {
        [
            Some(&fact.kind),
            fact.schedule.as_ref(),
            fact.session.as_ref(),
            fact.share.as_ref(),
            fact.run.as_ref(),
        ]
    });
    for key in keys.flatten().chain(batch.rows.iter().map(|row| &row.key)) {
        bound("a key, in bytes,", key.len() as u64, &limits::STORE_KEY_BYTES)?;
    }
    // SQLite's integers are signed.
    if let Some(row) = batch.rows.iter().find(|row| i64::try_from(row.revision).is_err()) {
        return Err(StoreFault::StaleRow { key: row.key.clone(), revision: row.revision });
    }
    Ok(batch.bytes() as u64 + RECORD_BYTES * records as u64)
}

fn bound(what: &'static str, found: u64, limit: &Limit) -> Result<(), StoreFault> {
    if found <= limit.value { Ok(()) } else { Err(StoreFault::TooLarge { what, max: limit.value }) }
}

fn room(limit: &Limit, asked: u64) -> Result<(), StoreFault> {
    if asked <= limit.value {
        return Ok(());
    }
    Err(StoreFault::Overloaded { max: limit.value, unit: limit.unit })
}

/// Checks that the cursors of a batch rise from the last accepted one, and returns its last.
fn in_order(mut after: Cursor, batch: &Batch) -> Result<Cursor, StoreFault> {
    for fact in &batch.facts {
        if fact.cursor <= after || i64::try_from(fact.cursor.number()).is_err() {
            return Err(StoreFault::OutOfOrder { cursor: fact.cursor, after });
        }
        after = fact.cursor;
    }
    Ok(after)
}

/// Iterations of spinning for a lone caller: about fifty microseconds.
const LINGER: u32 = 1_000;
/// How long no batch may come before the log is moved into the file, because a caller that comes
/// meanwhile has to wait for the move.
const QUIET: Duration = Duration::from_millis(100);
/// Memory overhead of a record beside its bytes.
const RECORD_BYTES: u64 = 160;

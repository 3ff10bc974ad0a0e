//! What waits for the disk, and how the store is: what callers and the writer share.
//!
//! Invariant: a lock held for a few steps; nobody calls out or waits for a disk under it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::domain::Cursor;
use crate::limits::{self, Limit};
use crate::port::{Batch, Done, StoreFault, StoreHealth, Term};

/// A batch that waits.
pub(super) struct Waiting {
    pub(super) batch: Batch,
    pub(super) done: Done,
    bytes: u64,
}

/// What the writer does next.
pub(super) enum Work {
    /// Keep these, in one transaction.
    Group(Vec<Waiting>),
    /// Open the file again if it has to be, and say how that went.
    Renew(Renewal),
    /// Nothing waits: tidy up a little.
    Tidy,
    /// Nothing has waited for a while: move the log into the file.
    Move,
    /// Nothing waits and nothing will.
    Close,
}

/// What the writer would do if nobody wanted anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Idle {
    /// Tidy up, at once.
    Tidy,
    /// Move the log into the file, once it is quiet.
    Move,
    /// Nothing.
    Rest,
}

pub(super) type Renewal = SyncSender<Result<Term, StoreFault>>;

/// The queue.
pub(super) struct Queue {
    state: Mutex<State>,
    wake: Condvar,
    /// How many batches were ever let in: for whoever looks without the lock.
    submitted: AtomicU64,
}

struct State {
    waiting: VecDeque<Waiting>,
    bytes: u64,
    /// Each with the last cursor that was let in before it: it is answered after that.
    renewals: VecDeque<(Cursor, Renewal)>,
    /// The last cursor that was let in.
    taken: Cursor,
    head: Cursor,
    term: Term,
    is_up: bool,
    is_closing: bool,
    is_writer_asleep: bool,
    /// The last group was one batch: its caller may be back in a moment.
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
        room(&limits::STORE_QUEUE_BYTES, state.bytes + bytes)?;
        state.taken = last;
        state.bytes += bytes;
        state.waiting.push_back(Waiting { batch, done, bytes });
        self.submitted.fetch_add(1, Ordering::Release);
        if state.is_writer_asleep {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Asks the writer for a term: a new one where the present one is broken. Also where it stands, the writer says so when it
    /// has answered what waits now.
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

    /// What is next: waits for it, or says what is to be done while nobody wants anything.
    pub(super) fn next(&self, idle: Idle) -> Work {
        let mut state = self.lock();
        let mut may_linger = state.is_lone;
        loop {
            if let Some(renewal) = state.renewal() {
                return Work::Renew(renewal);
            }
            if !state.waiting.is_empty() {
                return Work::Group(state.group());
            }
            if state.is_closing {
                return Work::Close;
            }
            if std::mem::take(&mut may_linger) {
                let submitted = self.submitted.load(Ordering::Acquire);
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

    /// Stays awake a little longer: to go to sleep and be woken costs a lone caller as much as the flush.
    fn linger(&self, before: u64) {
        for _ in 0..LINGER {
            if self.submitted.load(Ordering::Acquire) != before {
                return;
            }
            std::hint::spin_loop();
        }
    }

    /// All up to there is kept: so many batches, whose callers are about to be told.
    pub(super) fn kept(&self, head: Cursor, batches: usize) {
        let mut state = self.lock();
        state.head = head;
        state.is_lone = batches == 1;
    }

    /// Ends the term, and hands over what waits to be told.
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

    /// Begins a term on what is kept.
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
    /// A renewal before which everything was answered; what was let in after it waits behind it.
    fn renewal(&mut self) -> Option<Renewal> {
        let (after, _) = self.renewals.front()?;
        let first = self.waiting.front().and_then(|waiting| waiting.batch.facts.first());
        if first.is_some_and(|first| first.cursor <= *after) {
            return None;
        }
        self.renewals.pop_front().map(|(_, renewal)| renewal)
    }

    /// All that waits, up to what one transaction takes.
    fn group(&mut self) -> Vec<Waiting> {
        let mut left = limits::STORE_GROUP_RECORDS.value;
        let fits = |waiting: &&Waiting| {
            let records = (waiting.batch.facts.len() + waiting.batch.rows.len()) as u64;
            let fits = records <= left;
            left = left.saturating_sub(records);
            fits
        };
        let count = self.waiting.iter().take_while(fits).count();
        let group: Vec<Waiting> = self.waiting.drain(..count).collect();
        self.bytes -= group.iter().map(|waiting| waiting.bytes).sum::<u64>();
        group
    }
}

/// The bytes that a batch takes up while it waits, if it is one that may.
fn weigh(batch: &Batch) -> Result<u64, StoreFault> {
    if batch.facts.is_empty() {
        return Err(StoreFault::NoFact);
    }
    let records = batch.facts.len() + batch.rows.len();
    let bytes = batch.bytes() as u64;
    bound("a batch, in records,", records as u64, &limits::STORE_BATCH_RECORDS)?;
    bound("a batch, in bytes,", bytes, &limits::STORE_BATCH_BYTES)?;
    let keys = batch.facts.iter().flat_map(|fact| {
        [Some(&fact.kind), fact.schedule.as_ref(), fact.session.as_ref(), fact.run.as_ref()]
    });
    for key in keys.flatten().chain(batch.rows.iter().map(|row| &row.key)) {
        bound("a key, in bytes,", key.len() as u64, &limits::STORE_KEY_BYTES)?;
    }
    if let Some(row) = batch.rows.iter().find(|row| i64::try_from(row.revision).is_err()) {
        return Err(StoreFault::StaleRow { key: row.key.clone(), revision: row.revision });
    }
    Ok(bytes + RECORD_BYTES * records as u64)
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

/// The last cursor of a batch whose cursors rise from the one before it.
fn in_order(mut after: Cursor, batch: &Batch) -> Result<Cursor, StoreFault> {
    for fact in &batch.facts {
        if fact.cursor <= after || i64::try_from(fact.cursor.number()).is_err() {
            return Err(StoreFault::OutOfOrder { cursor: fact.cursor, after });
        }
        after = fact.cursor;
    }
    Ok(after)
}

/// How often it is looked for a lone caller: some fifty microseconds.
const LINGER: u32 = 1_000;
/// How long nobody may want anything before the log is moved into the file: whoever comes meanwhile would wait for that.
const QUIET: Duration = Duration::from_millis(100);
/// What a record takes up beside its bytes.
const RECORD_BYTES: u64 = 160;

//! Calls under way: what is with an executor, and what waits for its turn.
//!
//! A call that was begun ends in exactly one way: its outcome comes, its time is up, it is cancelled, or its executor goes. What
//! comes later is not heard. What lives elsewhere: who carries out which tool (`kit`, `tools`), which calls are made (`engine`,
//! `service`).
//!
//! Invariants: no executor is called under a lock; no thread waits for a call; the driver ends what is overdue, by the clock of
//! the engine.

mod adopted;
mod bounded;
mod counts;
mod lines;
mod perform;
mod table;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use self::adopted::Adopted;
use self::counts::Counts;
use self::lines::Party;
use self::table::{Call, Done, Ended, Table};
use super::kit::{KnownTool, Offerer};
use super::shared::Shared;
use super::sync::{Mutex, MutexGuard, UNPOISONED};
use crate::domain::{BootTime, Outcome, Reason, SessionId, Span, ToolCounts};
use crate::edn::{Map, Value};
use crate::engine::Invocation;
use crate::port::Returned;

/// The calls of one engine that are under way, and what became of those that have ended.
#[derive(Default)]
pub(super) struct CallsUnderWay {
    table: Mutex<Table>,
    adopted: Adopted,
    counts: Mutex<Counts>,
    /// Outcomes that came when nobody waited for them any more.
    late: AtomicU64,
}

/// The calls of an engine.
pub struct Calls<'a>(pub(super) &'a Arc<Shared>);

/// A call to be made.
pub struct Calling {
    /// The tool and its executor.
    pub tool: KnownTool,
    /// The call. The arguments that begin with `_` are left out when it is made.
    pub invocation: Invocation,
}

/// How many calls there are at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallsInUse {
    /// The calls that are with executors.
    pub in_flight: u64,
    /// The calls that wait for their turn.
    pub waiting: u64,
    /// The calls of each family of sessions that are with executors, by its root. Calls of operators are not among them.
    pub of_families: BTreeMap<SessionId, u64>,
    /// The outcomes so far that came too late.
    pub late: u64,
    /// When the first of all calls has to end.
    pub next_deadline: Option<BootTime>,
}

impl CallsUnderWay {
    /// When the first of all calls has to end.
    pub(super) fn next_deadline(&self) -> Option<BootTime> {
        self.table().next_deadline()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().expect(UNPOISONED)
    }
}

impl Calls<'_> {
    /// Makes a call. `done` gets its outcome, once, on any thread, unless the call is cancelled before.
    pub fn begin(&self, calling: Calling, done: impl FnOnce(Outcome) + Send + 'static) {
        self.0.begin_call(calling, Box::new(done));
    }

    /// Ends a call that nobody waits for any more. Its outcome is not heard; the executor is told.
    pub fn cancel(&self, id: &str) {
        self.0.cancel_call(id);
    }

    /// What became of the calls of a tool.
    pub(crate) fn counts_of(&self, tool: &KnownTool) -> ToolCounts {
        self.0.calls.counts.lock().expect(UNPOISONED).of(tool.offerer.number, &tool.spec.name)
    }

    /// How many calls are under way.
    pub fn in_use(&self) -> CallsInUse {
        let late = self.0.calls.late.load(Ordering::Relaxed);
        CallsInUse { late, ..self.0.calls.table().in_use() }
    }
}

impl Shared {
    pub(super) fn begin_call(self: &Arc<Self>, calling: Calling, done: Done) {
        let Calling { tool, mut invocation } = calling;
        invocation.args = without_hidden(&invocation.args);
        let now = self.now().boot;
        let deadline = now.after(invocation.timeout);
        // All sessions of a family share one line, so that fresh sessions do not multiply what a session may have.
        let party = match invocation.is_operators {
            true => Party::Operators,
            false => Party::Family(self.core().state.root_of(&invocation.session).clone()),
        };
        let call = Call::new(tool.offerer, (party, invocation), (now, deadline), done);
        let begun = self.calls.table().begin(call);
        match begun {
            Err((done, error)) => done(Outcome::of_failure(Reason::TooManyCalls, error, Span::ZERO)),
            Ok(is_first) => {
                self.hand_out_calls();
                // All other calls end later, so the driver may be set to sleep beyond this deadline.
                if is_first {
                    self.rouse_before(deadline);
                }
            }
        }
    }

    /// Hands waiting calls to executors that have places for them.
    pub(super) fn hand_out_calls(self: &Arc<Self>) {
        // One thread at a time does it, so that an executor that answers at once does not nest the next call in its answer. The
        // others only free places, and this one looks again.
        if !self.calls.table().start_handing_out() {
            return;
        }
        while let Some((serial, offerer, invocation)) = self.calls.next_to_hand_out() {
            let (engine, id) = (Arc::downgrade(self), invocation.id.clone());
            let has_returned = Arc::<AtomicBool>::default();
            let (of, note) = (id.clone(), Arc::clone(&has_returned));
            // The executor may keep it for longer than the engine exists.
            let returned = Returned::new(move |outcome| {
                note.store(true, Ordering::SeqCst);
                // The way back of an executor that panics is dropped while the panic unwinds.
                let panicked = || Outcome::of_error("the executor panicked", Span::ZERO);
                let outcome = if std::thread::panicking() { panicked() } else { outcome };
                if let Some(shared) = engine.upgrade() {
                    shared.call_returned(&of, serial, outcome);
                }
            });
            // Unwind safe: the executor is behind a port. One that panics drops the way back, and the call has failed.
            let _ = catch_unwind(AssertUnwindSafe(|| offerer.executor.call(invocation, returned)));
            // No lock is held since it was taken out of its line. If it was ended meanwhile, the executor was told before it had
            // the call, and found nothing to cancel.
            if !self.calls.table().has(&id, serial) && !has_returned.load(Ordering::SeqCst) {
                // Unwind safe: as above.
                let _ = catch_unwind(AssertUnwindSafe(|| offerer.executor.cancel(&id)));
            }
        }
    }

    fn call_returned(self: &Arc<Self>, id: &str, serial: u64, outcome: Outcome) {
        let ended = self.calls.table().end(id, Some(serial));
        let Some(ended) = ended else {
            self.calls.late.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let took = self.now().boot.since(ended.began);
        // After the place is freed and outside the lock, because this prints the whole value.
        self.calls.finish(ended, Outcome { took, ..bounded::bounded(outcome) });
        self.hand_out_calls();
    }

    pub(super) fn cancel_call(self: &Arc<Self>, id: &str) {
        self.call_off(id);
        self.hand_out_calls();
    }

    /// Ends a call, and leaves its place free for now.
    fn call_off(&self, id: &str) {
        // The call of a run may have begun under another id, before a schedule took it over.
        let other = self.calls.adopted.take(id);
        let id = other.as_deref().unwrap_or(id);
        let ended = self.calls.table().end(id, None);
        if let Some(ended) = ended {
            ended.tell_executor(id);
        }
    }

    /// Ends the calls whose time is up; `true` if there were any.
    pub(super) fn end_overdue_calls(self: &Arc<Self>, now: BootTime) -> bool {
        let overdue = self.calls.table().take_overdue(now);
        let is_any = !overdue.is_empty();
        for (id, ended) in overdue {
            ended.tell_executor(&id);
            let took = now.since(ended.began);
            let seconds = took.millis() / 1_000;
            let why = if ended.is_with_executor { "" } else { " while it waited for its turn" };
            let why = format!("timed out after {seconds} s{why}");
            self.calls.finish(ended, Outcome::of_failure(Reason::TimedOut, why, took));
        }
        if is_any {
            self.hand_out_calls();
        }
        is_any
    }

    /// Ends all calls, and lets no other begin: the driver, which ends those that are overdue, stops.
    pub(super) fn close_calls(self: &Arc<Self>) {
        let left = self.calls.table().close();
        let now = self.now().boot;
        for (id, ended) in left {
            ended.tell_executor(&id);
            let took = now.since(ended.began);
            let outcome = Outcome::of_failure(Reason::Shutdown, "the scheduler is stopping", took);
            self.calls.finish(ended, outcome);
        }
    }

    /// Ends the calls of an executor that is gone.
    pub(super) fn lose_executor(self: &Arc<Self>, number: u32) {
        let lost = self.calls.table().take_of(number);
        let now = self.now().boot;
        // No cancellation is sent: the host of the executor is gone.
        for (_, ended) in lost {
            let took = now.since(ended.began);
            let why = "host-lost: the host of the session is gone";
            self.calls.finish(ended, Outcome::of_failure(Reason::HostLost, why, took));
        }
        self.calls.counts.lock().expect(UNPOISONED).forget(number);
        self.hand_out_calls();
    }
}

impl CallsUnderWay {
    /// Counts a call that has ended, and passes its outcome on. A receiver that panics must not take the thread of an executor
    /// along, nor that of the driver.
    fn finish(&self, ended: Ended, outcome: Outcome) {
        let Ended { tool, offerer, done, .. } = ended;
        self.counts.lock().expect(UNPOISONED).count(offerer.number, &tool, &outcome);
        let _ = catch_unwind(AssertUnwindSafe(|| done(outcome)));
    }

    fn next_to_hand_out(&self) -> Option<(u64, Offerer, Invocation)> {
        self.table().hand_out()
    }
}

impl Ended {
    fn tell_executor(&self, id: &str) {
        if self.is_with_executor {
            // Unwind safe: the executor is behind a port. One that panics has missed the wish.
            let _ = catch_unwind(AssertUnwindSafe(|| self.offerer.executor.cancel(id)));
        }
    }
}

/// The arguments without those that begin with `_`: programs that drive models give some of them a meaning of their own, such as
/// that a person has approved of the call.
fn without_hidden(args: &Arc<Value>) -> Arc<Value> {
    let name = |key: &Value| {
        key.as_str().or_else(|| key.as_keyword().map(crate::edn::Keyword::as_str)).map(str::to_owned)
    };
    let is_hidden = |key: &Value| name(key).is_some_and(|name| name.starts_with('_'));
    match args.as_map() {
        Some(map) if map.keys().any(is_hidden) => {
            let shown = map.iter().filter(|(key, _)| !is_hidden(key));
            Arc::new(shown.map(|(key, value)| (key.clone(), value.clone())).collect::<Map>().into())
        }
        Some(_) | None => Arc::clone(args),
    }
}

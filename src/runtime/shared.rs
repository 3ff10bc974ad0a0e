//! What the copies of one handle share, and the one path by which an input reaches the engine.
//!
//! The engine ([`Core`]) is behind one lock with short critical sections. Readers share it; a writer has it alone. Effects run
//! outside the lock, in the order of the facts that caused them (`perform`).
//!
//! Invariant: an input is decided, applied and published in one critical section, so that nothing becomes due in between.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::alarms::Alarms;
use super::calls::CallsUnderWay;
use super::core::Core;
use super::event_count::EventCount;
use super::host_table::HostTable;
use super::kit::Kit;
use super::listeners::Listeners;
use super::parts::Parts;
use super::performer::Performer;
use super::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard, UNPOISONED};
use super::token::Tokens;
use super::waiter_table::WaiterTable;
use crate::calendar::Zones;
use crate::domain::{BootTime, Cursor, Entropy, Moment, Now, Refusal};
use crate::engine::{Command, Input, Report, State};
use crate::limits;
use crate::port::{Clock, Courier, EntropySource, Guard, Ticket};

pub(super) struct Shared {
    core: RwLock<Core>,
    /// Wakes the driver.
    pub(super) alarm: EventCount,
    /// Wakes subscribers.
    pub(super) news: EventCount,
    /// Locked by the thread that runs effects, so that each session's effects stay in order.
    pub(super) performing: Mutex<Performer>,
    /// See `Core::revocations`.
    pub(super) revocations: Arc<AtomicU64>,
    pub(super) hosts: HostTable,
    /// Who carries calls of tools out.
    pub(super) kit: Kit,
    /// The calls that are under way.
    pub(super) calls: CallsUnderWay,
    pub(super) listeners: Listeners,
    pub(super) alarms: Alarms,
    pub(super) waiters: Arc<WaiterTable>,
    pub(super) courier: OnceLock<Arc<dyn Courier>>,
    pub(super) clock: Arc<dyn Clock>,
    /// When this life of the engine began.
    pub(super) started_at: Moment,
    pub(super) zones: Arc<Zones>,
    entropy: Arc<dyn EntropySource>,
    pub(super) tokens: Arc<Tokens>,
    /// Asked whether a run may be dispatched, where the policy requires it.
    pub(super) guard: RwLock<Option<Arc<dyn Guard>>>,
}

impl Shared {
    pub(super) fn new(parts: Parts) -> Shared {
        let core = Core::new(Arc::clone(&parts.zones), parts.without_store, parts.journal);
        Shared {
            revocations: Arc::clone(&core.revocations),
            tokens: core.tokens(),
            waiters: Arc::clone(&core.waiters),
            core: RwLock::new(core),
            alarm: EventCount::default(),
            news: EventCount::default(),
            performing: Mutex::default(),
            hosts: HostTable::new(parts.local),
            kit: Kit::default(),
            calls: CallsUnderWay::default(),
            listeners: Listeners::default(),
            alarms: Alarms::default(),
            courier: OnceLock::new(),
            started_at: parts.clock.now().wall,
            clock: parts.clock,
            zones: parts.zones,
            entropy: parts.entropy,
            guard: RwLock::new(None),
        }
    }

    /// The engine, locked for reading. A reader that panics poisons nothing.
    pub(super) fn core(&self) -> RwLockReadGuard<'_, Core> {
        self.core.read().expect(UNPOISONED)
    }

    /// The engine, locked for changes.
    pub(super) fn core_mut(&self) -> RwLockWriteGuard<'_, Core> {
        self.core.write().expect(UNPOISONED)
    }

    pub(super) fn now(&self) -> Now {
        self.clock.now()
    }

    pub(super) fn random_bits(&self) -> Entropy {
        self.entropy.draw()
    }

    /// Submits an input and waits until it is committed; `prepare` runs in the same critical section, right before the decision.
    pub(super) fn submit_and_wait<R>(
        self: &Arc<Shared>,
        input: Input,
        prepare: impl FnOnce(&State),
        read: impl FnOnce(&State) -> R,
    ) -> Result<R, Refusal> {
        // These hold even if the store fails. A session lives in memory too, and its row is written once the store recovers. A
        // person has spoken and a connection has come or gone, whatever the disk says.
        let holds_anyway = matches!(
            input,
            Input::Command(
                Command::OpenSession { .. } | Command::CloseSession { .. } | Command::HostSessions { .. }
            ) | Input::Report(
                Report::UserMessage { .. }
                    | Report::HostAttached { .. }
                    | Report::HostLeft { .. }
                    | Report::HostLost { .. }
            )
        );
        let (answer, ticket) = self.submit_raw(input, prepare, read)?;
        // Volatile work has no ticket: it never waits for a disk.
        match ticket.map_or(Ok(Cursor::START), Ticket::wait) {
            Err(fault) if !holds_anyway => Err(Refusal::StoreUnavailable { detail: fault.why() }),
            Ok(_) | Err(_) => Ok(answer),
        }
    }

    /// Submits what cannot be refused: what is configured, and that a connection has come or gone. It holds whatever the disk
    /// says, and is not waited for: a host that takes no more is detached by the thread that performs all effects.
    pub(super) fn submit_fact(self: &Arc<Shared>, report: Report) {
        let submitted = self.submit_raw(Input::Report(report), |_| (), |_| ());
        debug_assert!(submitted.is_ok(), "{:?}", submitted.err());
    }

    /// Submits an input without waiting for the disk: the ticket resolves when it is committed.
    pub(super) fn submit_raw<R>(
        self: &Arc<Shared>,
        input: Input,
        prepare: impl FnOnce(&State),
        read: impl FnOnce(&State) -> R,
    ) -> Result<(R, Option<Ticket>), Refusal> {
        let mut steps = 0;
        let (mut core, now) = loop {
            let mut core = self.core_mut();
            // Read under the lock, so that no decision has an earlier boot time than the one before it.
            let now = self.now();
            if self.flush_due(&mut core, &input, now, &mut steps) {
                break (core, now);
            }
            self.release(core, now);
        };
        prepare(&core.state);
        let stepped = core.step(input, now, || self.random_bits());
        // The caller's closure may panic. The engine has changed by then, so publish and perform first, and panic after.
        let answer = stepped.map(|ticket| (catch_unwind(AssertUnwindSafe(|| read(&core.state))), ticket));
        self.release(core, now);
        let (answer, ticket) = answer?;
        Ok((answer.unwrap_or_else(|panic| resume_unwind(panic)), ticket))
    }

    /// Runs what is due of the schedule that the input is about to change. Everything due before it runs first, so that a change
    /// reorders nothing; but no more than `limits::STEPS_PER_HOLD` steps of others, because a caller does not wait for a burst.
    /// `steps` counts them over all holds. Returns `false` if more is due than fits into this hold, which has twice as many
    /// steps, such as many missed slots: others get the lock in between.
    fn flush_due(&self, core: &mut Core, input: &Input, now: Now, steps: &mut u64) -> bool {
        let Some(schedule) = input.settles_first() else { return true };
        // What was due before, and as much of the schedule's own.
        let end = *steps + 2 * limits::STEPS_PER_HOLD.value;
        while core.state.is_slot_due(schedule, now) {
            if *steps == end {
                return false;
            }
            let in_turn = *steps < limits::STEPS_PER_HOLD.value && core.is_due(now);
            *steps += 1;
            let settle = if in_turn { Input::Wake } else { Input::FlushDue { schedule: schedule.clone() } };
            let settled = core.step(settle, now, || self.random_bits());
            debug_assert!(settled.is_ok(), "what is due is never refused: {settled:?}");
        }
        true
    }

    /// Runs everything that is due, at most one hold's worth of steps at a time. Returns the next deadline.
    pub(super) fn run_due(self: &Arc<Shared>) -> Option<BootTime> {
        loop {
            let mut core = self.core_mut();
            let now = self.now();
            let mut steps = 0;
            while steps < limits::STEPS_PER_HOLD.value && core.is_due(now) {
                steps += 1;
                let woken = core.step(Input::Wake, now, || self.random_bits());
                debug_assert!(woken.is_ok(), "a wake-up is never refused: {woken:?}");
            }
            let next = core.state.next_wake(now);
            self.release(core, now);
            // Not `||`: alarms have to ring even if calls have ended.
            if self.end_overdue_calls(now.boot) | self.end_unasked_calls() | self.ring_alarms(now.boot) {
                continue;
            }
            // Running effects takes time and may have submitted reports, so look again until nothing is due.
            if steps == 0 {
                return next.into_iter().chain(self.next_outside()).min();
            }
        }
    }

    /// When something is due outside of the engine: a call that has to end, or an alarm.
    pub(super) fn next_outside(&self) -> Option<BootTime> {
        self.calls.next_deadline().into_iter().chain(self.alarms.next()).min()
    }

    /// Publishes what was applied at `now`, releases the lock, and then performs the effects.
    pub(super) fn release(self: &Arc<Shared>, mut core: RwLockWriteGuard<'_, Core>, now: Now) {
        self.publish(&mut core, now);
        let has_effects = !core.outbox.is_empty();
        drop(core);
        if has_effects {
            self.perform();
        }
    }

    /// Wakes the threads that wait for what was applied at `now`.
    pub(super) fn publish(&self, core: &mut Core, now: Now) {
        // Only if the driver would sleep too long: most steps need no wake-up, and each one costs a system call.
        if core.must_rouse(now) || self.calls.has_unasked_end(&core.state) {
            self.alarm.notify();
        }
        if core.listeners.load(Ordering::SeqCst) > 0 {
            self.news.notify();
        }
    }

    /// Waits for news for at most this long; the flag is `false` if none came. The lock is released while it waits.
    pub(super) fn await_news<'a>(
        &'a self,
        mut core: RwLockWriteGuard<'a, Core>,
        at_most: Duration,
    ) -> (RwLockWriteGuard<'a, Core>, bool) {
        core.listeners.fetch_add(1, Ordering::SeqCst);
        // A batch may have been committed before the store's thread could see this listener. That is news already.
        if core.settle() {
            core.listeners.fetch_sub(1, Ordering::SeqCst);
            return (core, true);
        }
        // The epoch is read under the lock: a change after this line has another epoch, so the wait cannot miss it.
        let before = self.news.epoch();
        drop(core);
        let is_news = self.news.wait(before, at_most);
        let core = self.core_mut();
        core.listeners.fetch_sub(1, Ordering::SeqCst);
        (core, is_news)
    }
}

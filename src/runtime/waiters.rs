//! Who waits: for the end of a schedule's call, or until some time has passed.
//!
//! What lives elsewhere: the tables of those who wait (`waiter_table`, `alarms`).
//!
//! Invariant: the end of a call counts as awaited if and only if somebody waited for it at that moment: who waits is asked
//! under the engine's lock, in which the end is applied, be it an outcome, a time that is up or a cancel. So a session is told
//! by a bulletin exactly if nobody got it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::alarms::AlarmId;
use super::shared::Shared;
use super::waiter_table::{Ring, WaiterId, is_under_way};
use crate::domain::{Outcome, RunId, ScheduleId, Span};
use crate::engine::{Input, Look, Report};

/// Those who wait at an engine.
pub struct Waiters<'a>(pub(super) &'a Arc<Shared>);

impl Waiters<'_> {
    /// Rings when the call of a schedule has ended; `None` if it has ended already, or there is none.
    pub fn await_end(&self, schedule: &ScheduleId, ring: impl FnOnce() + Send + 'static) -> Option<WaiterId> {
        // Under the lock: an outcome comes before this, and is seen, or after this, and rings.
        let core = self.0.core();
        is_under_way(&core.state, schedule).then(|| self.0.waiters.add(schedule, Box::new(ring)))
    }

    /// Rings when the call of a schedule has ended that is about to be created.
    pub fn await_end_of_new(&self, schedule: &ScheduleId, ring: impl FnOnce() + Send + 'static) -> WaiterId {
        self.0.waiters.add(schedule, Box::new(ring))
    }

    /// Stops waiting; `false` if the call has ended, and it has rung or is about to.
    pub fn stop(&self, waiter: &WaiterId) -> bool {
        // Under the lock: no step is between asking who waits and ending the call.
        let _core = self.0.core();
        self.0.waiters.remove(waiter)
    }

    /// Rings when this much time has passed, on a thread that must not be kept.
    pub(crate) fn set_alarm(&self, after: Span, ring: impl FnOnce() + Send + 'static) -> AlarmId {
        self.0.set_alarm(after, Box::new(ring))
    }

    /// Calls an alarm off, if it has not rung.
    pub(crate) fn call_off(&self, alarm: AlarmId) {
        self.0.alarms.call_off(alarm);
    }
}

impl Shared {
    /// Reports what the call of a run came to, and rings those who waited for it.
    pub(super) fn report_outcome(self: &Arc<Self>, run: RunId, outcome: Outcome, look: Option<&Look>) {
        let schedule = run.schedule.clone();
        // It reads the whole outcome, and what a watch makes of it, so it is made before the lock.
        let mut report = match look {
            Some(look) => Report::checked(run, outcome, look),
            None => Report::returned(run, outcome, false),
        };
        let mut core = self.core_mut();
        let now = self.now();
        // Under the engine's lock, which `Waiters::stop` takes too: a caller that has stopped by then is not counted.
        let waiting = self.waiters.take(&schedule);
        if let Report::Returned { awaited, .. } = &mut report {
            *awaited = !waiting.is_empty();
        }
        // Refused if the run has ended meanwhile. The engine's record stands.
        let _ = core.step(Input::Report(report), now, || self.random_bits());
        self.release(core, now);
        ring(waiting);
    }

    /// Rings those who wait for a call that was called off.
    pub(super) fn ring_waiters(&self, schedule: &ScheduleId) {
        ring(self.waiters.take(schedule));
    }
}

fn ring(waiting: Vec<(u64, Ring)>) {
    for (_, ring) in waiting {
        // Whatever it does must not end the thread of an executor.
        let _ = catch_unwind(AssertUnwindSafe(ring));
    }
}

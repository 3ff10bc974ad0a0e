//! Who waits for the end of a schedule's call.
//!
//! Invariant: an outcome that came counts as awaited if and only if somebody waited for it at that moment: who waits is asked
//! under the engine's lock, in which the end is applied, be it an outcome, a time that is up or a cancel. So a session is told by a bulletin exactly if nobody got it.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::handle::Handle;
use super::shared::Shared;
use super::sync::{Mutex, UNPOISONED};
use crate::domain::{Cause, Outcome, RunId, ScheduleId};
use crate::engine::{Input, Look, Report, State};

/// Those who wait.
#[derive(Default)]
pub(super) struct Waiters {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    waiting: BTreeMap<ScheduleId, Vec<(u64, Ring)>>,
    /// Those whose call has ended and who are about to ring: they have its end, and cannot stop waiting.
    ended: BTreeMap<ScheduleId, Vec<(u64, Ring)>>,
    last: u64,
}

/// One who waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaiterId(ScheduleId, u64);

type Ring = Box<dyn FnOnce() + Send>;

impl Waiters {
    fn add(&self, schedule: &ScheduleId, ring: Ring) -> WaiterId {
        let mut table = self.table.lock().expect(UNPOISONED);
        table.last += 1;
        let number = table.last;
        table.waiting.entry(schedule.clone()).or_default().push((number, ring));
        WaiterId(schedule.clone(), number)
    }

    fn remove(&self, WaiterId(schedule, number): &WaiterId) -> bool {
        let mut table = self.table.lock().expect(UNPOISONED);
        let Some(waiting) = table.waiting.get_mut(schedule) else { return false };
        let before = waiting.len();
        waiting.retain(|(other, _)| other != number);
        let is_removed = waiting.len() < before;
        if waiting.is_empty() {
            table.waiting.remove(schedule);
        }
        is_removed
    }

    fn take(&self, schedule: &ScheduleId) -> Vec<(u64, Ring)> {
        let mut table = self.table.lock().expect(UNPOISONED);
        let mut found = table.ended.remove(schedule).unwrap_or_default();
        found.extend(table.waiting.remove(schedule).unwrap_or_default());
        found
    }

    /// The schedules for the ends of whose calls somebody waits.
    pub(super) fn awaited(&self) -> BTreeSet<ScheduleId> {
        self.table.lock().expect(UNPOISONED).waiting.keys().cloned().collect()
    }

    /// From now on nobody can stop waiting for those of these calls that have ended. Returns their runs.
    pub(super) fn close_ended(&self, awaited: &BTreeSet<ScheduleId>, state: &State) -> Vec<RunId> {
        let ended = awaited.iter().filter(|schedule| !is_under_way(state, schedule)).filter_map(|schedule| {
            let mut table = self.table.lock().expect(UNPOISONED);
            let waiting = table.waiting.remove(schedule)?;
            table.ended.entry(schedule.clone()).or_default().extend(waiting);
            let mut runs = state.runs_of(state.schedule(schedule)?).map(|(_, run)| run);
            state.run_id(runs.find(|run| run.run().cause != Cause::Bulletin)?)
        });
        ended.collect()
    }
}

impl Handle {
    /// Rings when the call of a schedule has ended; `None` if it has ended already, or there is none.
    pub fn await_end(&self, schedule: &ScheduleId, ring: impl FnOnce() + Send + 'static) -> Option<WaiterId> {
        // Under the lock: an outcome comes before this, and is seen, or after this, and rings.
        let core = self.shared.core();
        is_under_way(&core.state, schedule).then(|| self.shared.waiters.add(schedule, Box::new(ring)))
    }

    /// Rings when the call of a schedule has ended that is about to be created.
    pub fn await_end_of_new(&self, schedule: &ScheduleId, ring: impl FnOnce() + Send + 'static) -> WaiterId {
        self.shared.waiters.add(schedule, Box::new(ring))
    }

    /// Stops waiting; `false` if the call has ended, and it has rung or is about to.
    pub fn stop_waiting(&self, waiter: &WaiterId) -> bool {
        // Under the lock: no step is between asking who waits and ending the call.
        let _core = self.shared.core();
        self.shared.waiters.remove(waiter)
    }
}

/// Whether the call of a schedule has not ended.
fn is_under_way(state: &State, schedule: &ScheduleId) -> bool {
    state.schedule(schedule).is_some_and(|record| {
        let mut own =
            state.runs_of(record).map(|(_, run)| run.run()).filter(|run| run.cause != Cause::Bulletin);
        own.next().is_none_or(|run| !run.state.is_terminal())
    })
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
        let waiting = self.waiters.take(&schedule);
        if let Report::Returned { awaited, .. } = &mut report {
            *awaited = !waiting.is_empty();
        }
        // Refused if the run has ended meanwhile. The engine's record stands.
        let _ = core.step(Input::Report(report), now, || self.random_bits());
        self.publish(&mut core, now);
        let effects = !core.outbox.is_empty();
        drop(core);
        if effects {
            self.perform();
        }
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

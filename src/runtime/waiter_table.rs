//! The table of those who wait for the ends of calls. Who asks it, and rings them, is in `waiters.rs`.

use std::collections::{BTreeMap, BTreeSet};

use std::sync::atomic::{AtomicBool, Ordering};

use super::sync::{Mutex, UNPOISONED};
use crate::domain::{Cause, RunId, ScheduleId};
use crate::engine::State;

/// Those who wait.
#[derive(Default)]
pub(super) struct Waiters {
    table: Mutex<Table>,
    /// Whether anybody waits. Each step asks, and nearly always nobody does; the lock of the engine orders the answer.
    is_any: AtomicBool,
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

pub(super) type Ring = Box<dyn FnOnce() + Send>;

impl Waiters {
    pub(super) fn add(&self, schedule: &ScheduleId, ring: Ring) -> WaiterId {
        let mut table = self.table.lock().expect(UNPOISONED);
        table.last += 1;
        let number = table.last;
        table.waiting.entry(schedule.clone()).or_default().push((number, ring));
        self.is_any.store(true, Ordering::Release);
        WaiterId(schedule.clone(), number)
    }

    pub(super) fn remove(&self, WaiterId(schedule, number): &WaiterId) -> bool {
        let mut table = self.table.lock().expect(UNPOISONED);
        let Some(waiting) = table.waiting.get_mut(schedule) else { return false };
        let before = waiting.len();
        waiting.retain(|(other, _)| other != number);
        let is_removed = waiting.len() < before;
        if waiting.is_empty() {
            table.waiting.remove(schedule);
        }
        self.is_any.store(!table.waiting.is_empty(), Ordering::Release);
        is_removed
    }

    pub(super) fn take(&self, schedule: &ScheduleId) -> Vec<(u64, Ring)> {
        let mut table = self.table.lock().expect(UNPOISONED);
        let mut found = table.ended.remove(schedule).unwrap_or_default();
        found.extend(table.waiting.remove(schedule).unwrap_or_default());
        self.is_any.store(!table.waiting.is_empty(), Ordering::Release);
        found
    }

    /// The schedules for the ends of whose calls somebody waits; `None` if nobody does.
    pub(super) fn awaited(&self) -> Option<BTreeSet<ScheduleId>> {
        if !self.is_any.load(Ordering::Acquire) {
            return None;
        }
        let table = self.table.lock().expect(UNPOISONED);
        (!table.waiting.is_empty()).then(|| table.waiting.keys().cloned().collect())
    }

    /// From now on nobody can stop waiting for those of these calls that have ended. Returns their runs.
    pub(super) fn close_ended(&self, awaited: &BTreeSet<ScheduleId>, state: &State) -> Vec<RunId> {
        let ended = awaited.iter().filter(|schedule| !is_under_way(state, schedule)).filter_map(|schedule| {
            // Of one that is not there yet, somebody waits for what is about to be created.
            let record = state.schedule(schedule)?;
            let mut table = self.table.lock().expect(UNPOISONED);
            let waiting = table.waiting.remove(schedule)?;
            table.ended.entry(schedule.clone()).or_default().extend(waiting);
            self.is_any.store(!table.waiting.is_empty(), Ordering::Release);
            let mut runs = state.runs_of(record).map(|(_, run)| run);
            state.run_id(runs.find(|run| run.run().cause != Cause::Bulletin)?)
        });
        ended.collect()
    }
}

/// Whether the call of a schedule has not ended.
pub(super) fn is_under_way(state: &State, schedule: &ScheduleId) -> bool {
    state.schedule(schedule).is_some_and(|record| {
        let mut own =
            state.runs_of(record).map(|(_, run)| run.run()).filter(|run| run.cause != Cause::Bulletin);
        own.next().is_none_or(|run| !run.state.is_terminal())
    })
}

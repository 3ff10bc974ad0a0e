//! The table of those who wait for the ends of calls. Who asks it, and rings them, is in `waiters.rs`.
//!
//! Invariant: what a step costs does not depend on how many wait. It shares the set of what is awaited, and looks only at the
//! calls that its facts are about.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::sync::{Mutex, UNPOISONED};
use crate::domain::{Cause, Fact, Moment, RunId, ScheduleId};
use crate::engine::State;

/// Those who wait.
#[derive(Default)]
pub(super) struct WaiterTable {
    table: Mutex<Table>,
    /// Whether anybody waits. Each step asks, and nearly always nobody does; the lock of the engine orders the answer.
    is_any: AtomicBool,
}

#[derive(Default)]
struct Table {
    waiting: BTreeMap<ScheduleId, Vec<(u64, Ring)>>,
    /// The keys of `waiting`. A change copies them only while a step has them.
    awaited: Arc<BTreeSet<ScheduleId>>,
    /// Those whose call has ended and who are about to ring: they have its end, and cannot stop waiting.
    ended: BTreeMap<ScheduleId, Vec<(u64, Ring)>>,
    last: u64,
}

/// One who waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaiterId(ScheduleId, u64);

pub(super) type Ring = Box<dyn FnOnce() + Send>;

impl WaiterTable {
    pub(super) fn add(&self, schedule: &ScheduleId, ring: Ring) -> WaiterId {
        let mut table = self.table.lock().expect(UNPOISONED);
        table.last += 1;
        let number = table.last;
        table.waiting.entry(schedule.clone()).or_default().push((number, ring));
        // Looked up first: `make_mut` copies the whole set while a step shares it.
        if !table.awaited.contains(schedule) {
            Arc::make_mut(&mut table.awaited).insert(schedule.clone());
        }
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
            // Removes the empty entry, so that a step does not count the schedule as awaited.
            let _ = self.remove_all(&mut table, schedule);
        }
        is_removed
    }

    pub(super) fn take(&self, schedule: &ScheduleId) -> Vec<(u64, Ring)> {
        let mut table = self.table.lock().expect(UNPOISONED);
        let mut found = table.ended.remove(schedule).unwrap_or_default();
        found.extend(self.remove_all(&mut table, schedule).unwrap_or_default());
        found
    }

    /// The schedules for the ends of whose calls somebody waits; `None` if nobody does.
    pub(super) fn awaited(&self) -> Option<Arc<BTreeSet<ScheduleId>>> {
        if !self.is_any.load(Ordering::Acquire) {
            return None;
        }
        let table = self.table.lock().expect(UNPOISONED);
        (!table.waiting.is_empty()).then(|| Arc::clone(&table.awaited))
    }

    /// From now on nobody can stop waiting for those of these calls that have ended. Returns their runs. The step has a fact
    /// about each of them, so a schedule that is not there was forgotten in this step, with its session: one that does not exist
    /// yet, and has a waiter already, is not among them.
    pub(super) fn close_ended(&self, concerned: &BTreeSet<ScheduleId>, state: &State) -> Vec<RunId> {
        let ended =
            concerned.iter().filter(|schedule| !is_under_way(state, schedule)).filter_map(|schedule| {
                let mut table = self.table.lock().expect(UNPOISONED);
                let waiting = self.remove_all(&mut table, schedule)?;
                table.ended.entry(schedule.clone()).or_default().extend(waiting);
                Some(run_to_ring(state, schedule))
            });
        ended.collect()
    }

    /// Removes those who wait for this schedule.
    fn remove_all(&self, table: &mut Table, schedule: &ScheduleId) -> Option<Vec<(u64, Ring)>> {
        let waiting = table.waiting.remove(schedule)?;
        Arc::make_mut(&mut table.awaited).remove(schedule);
        self.is_any.store(!table.waiting.is_empty(), Ordering::Release);
        Some(waiting)
    }
}

/// Those of the awaited schedules whose calls a step may end. A call ends by a fact about its run or about its schedule.
pub(super) fn concerned(awaited: &BTreeSet<ScheduleId>, facts: &[Fact]) -> BTreeSet<ScheduleId> {
    let about = facts.iter().filter_map(Fact::schedule);
    about.filter(|schedule| awaited.contains(*schedule)).cloned().collect()
}

/// The newest run of a schedule that is a call: a bulletin only tells of one. Of a schedule that never made its call, or that
/// was forgotten, nothing is out, and the id of a run that never was rings those who wait.
fn run_to_ring(state: &State, schedule: &ScheduleId) -> RunId {
    let run = state.schedule(schedule).and_then(|record| {
        let mut runs = state.runs_of(record).map(|(_, run)| run);
        state.run_id(runs.find(|run| run.run().cause != Cause::Bulletin)?)
    });
    run.unwrap_or_else(|| RunId { schedule: schedule.clone(), incarnation: 1, slot: Moment::EPOCH })
}

/// Whether the call of a schedule has not ended.
pub(super) fn is_under_way(state: &State, schedule: &ScheduleId) -> bool {
    state.schedule(schedule).is_some_and(|record| {
        let mut own =
            state.runs_of(record).map(|(_, run)| run.run()).filter(|run| run.cause != Cause::Bulletin);
        // A schedule without a run has not made its call yet, and makes none once it has ended.
        own.next().map_or(!record.status().is_terminal(), |run| !run.state.is_terminal())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{RunFact, SessionFact, SessionId};

    fn id(number: u32) -> ScheduleId {
        ScheduleId::new(&format!("task-{number}")).expect("an id")
    }

    #[test]
    fn a_step_looks_at_the_calls_that_its_facts_are_about() {
        // The locks of the runtime are shuttle's in these tests.
        shuttle::check_random(step_looks, 1);
    }

    /// What a step costs while a thousand wait: it copies no set, and looks at the call that it ends.
    fn step_looks() {
        let waiters = WaiterTable::default();
        for number in 0..1_000 {
            waiters.add(&id(number), Box::new(|| {}));
        }
        let (awaited, again) = (waiters.awaited().expect("many"), waiters.awaited().expect("many"));
        assert!(Arc::ptr_eq(&awaited, &again), "each step has a copy of its own");
        assert_eq!(awaited.len(), 1_000);
        let run = |number| RunId { schedule: id(number), incarnation: 1, slot: Moment::EPOCH };
        let closed = Fact::Session(SessionId::new("s").expect("a name"), SessionFact::Closed, None);
        let rows = [
            (vec![], 0),
            (vec![closed], 0),
            (vec![Fact::Run(run(7), RunFact::Delivered, None)], 1),
            (
                vec![Fact::Run(run(7), RunFact::Accepted, None), Fact::Run(run(7), RunFact::Delivered, None)],
                1,
            ),
            (
                vec![
                    Fact::Run(run(7), RunFact::Delivered, None),
                    Fact::Run(run(8), RunFact::Delivered, None),
                ],
                2,
            ),
            (vec![Fact::Run(run(1_000), RunFact::Delivered, None)], 0),
        ];
        for (facts, looks) in rows {
            assert_eq!(concerned(&awaited, &facts).len(), looks, "{facts:?}");
        }
    }

    #[test]
    fn what_is_awaited_is_what_somebody_waits_for() {
        shuttle::check_random(set_is_shared, 1);
    }

    /// The set that steps share is that of the table, and a step goes on with the one that it began with.
    fn set_is_shared() {
        let waiters = WaiterTable::default();
        assert_eq!(waiters.awaited(), None);
        let (first, second) = (waiters.add(&id(1), Box::new(|| {})), waiters.add(&id(1), Box::new(|| {})));
        let begun = waiters.awaited().expect("one is awaited");
        waiters.add(&id(2), Box::new(|| {}));
        assert_eq!(*begun, BTreeSet::from([id(1)]));
        assert_eq!(waiters.awaited().as_deref(), Some(&BTreeSet::from([id(1), id(2)])));
        assert!(waiters.remove(&first) && !waiters.remove(&first));
        assert_eq!(waiters.awaited().as_deref(), Some(&BTreeSet::from([id(1), id(2)])));
        assert!(waiters.remove(&second));
        assert_eq!(waiters.awaited().as_deref(), Some(&BTreeSet::from([id(2)])));
        assert_eq!(waiters.take(&id(2)).len(), 1);
        assert_eq!(waiters.awaited(), None);
    }
}

//! Calls that nobody waits for any more, and that go on as the calls of schedules' runs.
//!
//! Invariant: the outcome of such a call is kept until the run asks for it, so it does not matter which comes first. A run that
//! ends before it asks, because it was denied or cancelled for instance, ends the call.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::table::Done;
use super::{Calls, CallsUnderWay};
use crate::domain::{Outcome, RunId, ScheduleId, Span};
use crate::engine::State;
use crate::runtime::shared::Shared;
use crate::runtime::sync::{Mutex, UNPOISONED};

/// The calls that go on as runs.
#[derive(Default)]
pub(super) struct Adopted {
    table: Mutex<Table>,
    /// Whether any run has not asked yet. Each step looks, and nearly always there is none.
    is_any: AtomicBool,
}

#[derive(Default)]
struct Table {
    /// The calls of which the run has not asked yet, by its schedule.
    kept: BTreeMap<ScheduleId, Unasked>,
    /// The ids of calls, by their runs.
    runs: BTreeMap<Box<str>, Box<str>>,
}

/// A call of which its run has not asked.
struct Unasked {
    call: Box<str>,
    kept: Arc<Mutex<Kept>>,
    /// Whether its schedule was created: one that is not there has ended then.
    is_created: bool,
}

enum Kept {
    /// Neither has come.
    Nothing,
    /// It has ended.
    Outcome(Outcome),
    /// Its run has asked for the outcome.
    Done(Done),
}

impl Calls<'_> {
    /// Lets a call go on, with this much more time, as the call of the next run of a schedule that is about to be created;
    /// `false` if it has ended.
    pub(crate) fn go_on_as(&self, call: &str, schedule: &ScheduleId, time: Span) -> bool {
        // The outcome and the run can come in either order. The first one leaves what it has here for the other.
        let kept = Arc::new(Mutex::new(Kept::Nothing));
        let keep = Arc::clone(&kept);
        let done: Done = Box::new(move |outcome| {
            let mut kept = keep.lock().expect(UNPOISONED);
            if let Kept::Done(done) = std::mem::replace(&mut *kept, Kept::Nothing) {
                // Unlocked before the receiver is called, because it reports to the engine.
                drop(kept);
                done(outcome);
            } else {
                *kept = Kept::Outcome(outcome);
            }
        });
        let calls = &self.0.calls;
        let deadline = self.0.now().boot.after(time);
        // Outside of the lock: the former receiver may do something when it is dropped.
        let former = calls.table().replace(call, deadline, done);
        let is_there = former.is_some();
        if is_there {
            // This is not too late: the schedule is created after this call, so its run cannot have asked yet.
            calls.adopted.add(schedule, Unasked { call: call.into(), kept, is_created: false });
        }
        is_there
    }

    /// Ends a call that was to go on as a schedule's.
    pub(crate) fn abandon(&self, schedule: &ScheduleId) {
        let adopted = &self.0.calls.adopted;
        let unasked = adopted.take_unasked(&mut adopted.table.lock().expect(UNPOISONED), schedule);
        if let Some(Unasked { call, .. }) = unasked {
            self.cancel(&call);
        }
    }
}

impl Shared {
    /// Makes a call the call of this run, if one goes on as that of its schedule. Gives `done` back if there is none.
    pub(super) fn adopt_call(self: &Arc<Self>, run: &RunId, done: Done) -> Result<(), Done> {
        let adopted = &self.calls.adopted;
        let id: Box<str> = run.to_string().into();
        let kept = {
            let mut table = adopted.table.lock().expect(UNPOISONED);
            let Some(Unasked { call, kept, .. }) = adopted.take_unasked(&mut table, &run.schedule) else {
                return Err(done);
            };
            // The engine cancels by the run, and the table of calls knows this call by its earlier id only.
            table.runs.insert(id.clone(), call);
            kept
        };
        // A weak reference, because the engine itself holds the receiver until the call ends.
        let engine = Arc::downgrade(self);
        let done: Done = Box::new(move |outcome| {
            if let Some(shared) = engine.upgrade() {
                shared.calls.adopted.forget(&id);
            }
            done(outcome);
        });
        let mut stage = kept.lock().expect(UNPOISONED);
        match std::mem::replace(&mut *stage, Kept::Nothing) {
            Kept::Outcome(outcome) => {
                drop(stage);
                done(outcome);
            }
            Kept::Nothing | Kept::Done(_) => *stage = Kept::Done(done),
        }
        Ok(())
    }

    /// Ends the calls whose schedules have ended before their runs asked for them. Returns whether there were any.
    pub(in crate::runtime) fn end_unasked_calls(self: &Arc<Self>) -> bool {
        if !self.calls.adopted.is_any.load(Ordering::Acquire) {
            return false;
        }
        let ended = self.calls.adopted.take_ended(&self.core().state);
        // Outside of the lock: the executors are told.
        ended.iter().for_each(|call| self.cancel_call(call));
        !ended.is_empty()
    }
}

impl CallsUnderWay {
    /// Whether a call has to end because its schedule has. Asked after each step, so that a schedule is seen once it is created.
    pub(in crate::runtime) fn has_unasked_end(&self, state: &State) -> bool {
        self.adopted.is_any.load(Ordering::Acquire) && self.adopted.note_created(state)
    }
}

impl Unasked {
    fn has_ended(&self, schedule: &ScheduleId, state: &State) -> bool {
        state.schedule(schedule).map_or(self.is_created, |record| record.status().is_terminal())
    }
}

impl Adopted {
    fn add(&self, schedule: &ScheduleId, unasked: Unasked) {
        let mut table = self.table.lock().expect(UNPOISONED);
        table.kept.insert(schedule.clone(), unasked);
        self.is_any.store(true, Ordering::Release);
    }

    fn take_unasked(&self, table: &mut Table, schedule: &ScheduleId) -> Option<Unasked> {
        let taken = table.kept.remove(schedule);
        self.is_any.store(!table.kept.is_empty(), Ordering::Release);
        taken
    }

    /// Notes which schedules exist by now. Returns whether any has ended.
    fn note_created(&self, state: &State) -> bool {
        let mut table = self.table.lock().expect(UNPOISONED);
        for (schedule, unasked) in &mut table.kept {
            unasked.is_created |= state.schedule(schedule).is_some();
        }
        table.kept.iter().any(|(schedule, unasked)| unasked.has_ended(schedule, state))
    }

    /// Takes the calls whose schedules have ended.
    fn take_ended(&self, state: &State) -> Vec<Box<str>> {
        let mut table = self.table.lock().expect(UNPOISONED);
        let ended = table.kept.extract_if(.., |schedule, unasked| unasked.has_ended(schedule, state));
        let calls = ended.map(|(_, unasked)| unasked.call).collect();
        self.is_any.store(!table.kept.is_empty(), Ordering::Release);
        calls
    }

    /// The id of the call of a run, if that is another one. It is asked for once, when the call is cancelled.
    pub(super) fn take(&self, run: &str) -> Option<Box<str>> {
        self.table.lock().expect(UNPOISONED).runs.remove(run)
    }

    fn forget(&self, run: &str) {
        self.table.lock().expect(UNPOISONED).runs.remove(run);
    }
}

//! Calls that nobody waits for any more, and that go on as the calls of schedules' runs.
//!
//! Invariant: the outcome of such a call is kept until the run asks for it, so it does not matter which comes first.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Calls;
use super::table::Done;
use crate::domain::{Outcome, RunId, ScheduleId, Span};
use crate::runtime::shared::Shared;
use crate::runtime::sync::{Mutex, UNPOISONED};

/// The calls that go on as runs.
#[derive(Default)]
pub(super) struct Adopted {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// The calls of which the run has not asked yet, by its schedule.
    kept: BTreeMap<ScheduleId, (Box<str>, Arc<Mutex<Kept>>)>,
    /// The ids of calls, by their runs.
    runs: BTreeMap<Box<str>, Box<str>>,
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
            calls.adopted.table.lock().expect(UNPOISONED).kept.insert(schedule.clone(), (call.into(), kept));
        }
        is_there
    }

    /// Ends a call that was to go on as a schedule's.
    pub(crate) fn abandon(&self, schedule: &ScheduleId) {
        let kept = self.0.calls.adopted.table.lock().expect(UNPOISONED).kept.remove(schedule);
        if let Some((call, _)) = kept {
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
            let Some((call, kept)) = table.kept.remove(&run.schedule) else { return Err(done) };
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
}

impl Adopted {
    /// The id of the call of a run, if that is another one. It is asked for once, when the call is cancelled.
    pub(super) fn take(&self, run: &str) -> Option<Box<str>> {
        self.table.lock().expect(UNPOISONED).runs.remove(run)
    }

    fn forget(&self, run: &str) {
        self.table.lock().expect(UNPOISONED).runs.remove(run);
    }
}

//! Who waits for the ends of calls, as the world says: of such a call the session is told nothing, because somebody has its end.
//!
//! In worlds only tasks that are in memory are waited for. Invariant: where it is not certain whether somebody still waits, no
//! law judges.

use std::collections::BTreeSet;

use crate::domain::{RunFact, ScheduleId};

/// Who waits.
#[derive(Clone, Debug, Default)]
pub(in crate::testkit) struct WaitingModel {
    /// The schedules for the end of whose call somebody waits.
    certain: BTreeSet<ScheduleId>,
    /// Those for which somebody may still wait, because an attempt or another run of theirs has ended.
    uncertain: BTreeSet<ScheduleId>,
}

impl WaitingModel {
    /// Whether somebody waits; `None` if that is not certain.
    pub(in crate::testkit) fn awaits(&self, schedule: &ScheduleId) -> Option<bool> {
        (!self.uncertain.contains(schedule)).then(|| self.certain.contains(schedule))
    }

    /// Notes that somebody waits for the end of a call.
    pub(in crate::testkit) fn begin(&mut self, schedule: &ScheduleId) {
        self.certain.insert(schedule.clone());
    }

    /// Notes that nobody waits for the end of a call any more.
    pub(in crate::testkit) fn stop(&mut self, schedule: &ScheduleId) {
        self.certain.remove(schedule);
        self.uncertain.remove(schedule);
    }

    /// Follows a fact of a call's run. An outcome goes to all who wait; of any other end, some may wait for another run.
    pub(in crate::testkit) fn enter(&mut self, schedule: &ScheduleId, fact: &RunFact) {
        if let RunFact::Returned { .. } = fact {
            self.stop(schedule);
        }
        let is_other_end =
            matches!(fact, RunFact::Retrying { .. } | RunFact::Failed(_) | RunFact::Cancelled { .. });
        if is_other_end && self.certain.remove(schedule) {
            self.uncertain.insert(schedule.clone());
        }
    }
}

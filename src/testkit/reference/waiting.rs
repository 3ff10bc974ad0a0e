//! Who waits for the ends of calls, as the world says: of such a call the session is told nothing, because somebody has its end.
//!
//! In worlds only tasks that are in memory are waited for. Invariant: where it is not certain whether somebody still waits, no
//! law judges.

use std::collections::BTreeSet;

use crate::domain::{Fact, RunFact, ScheduleId};
use crate::testkit::laws::Laws;
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_key::key_of;

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
}

impl Laws {
    /// Notes that somebody waits for the end of a call from now on. Everything before this has been judged.
    pub(in crate::testkit) fn note_waiting(&mut self, schedule: &ScheduleId) {
        self.model.waiting.certain.insert(schedule.clone());
    }

    /// Notes that nobody waits for the end of a call any more. Everything before this has been judged.
    pub(in crate::testkit) fn note_stopped_waiting(&mut self, schedule: &ScheduleId) {
        self.model.waiting.certain.remove(schedule);
        self.model.waiting.uncertain.remove(schedule);
    }

    /// Whether somebody may wait for the end of a call.
    pub(in crate::testkit) fn may_be_awaited(&self, schedule: &ScheduleId) -> bool {
        self.model.waiting.awaits(schedule) != Some(false)
    }
}

impl ReferenceModel {
    /// Follows a fact. An outcome goes to all who wait; of any other end, some may wait for another run.
    pub(in crate::testkit) fn enter_waiting(&mut self, fact: &Fact) {
        let Fact::Run(run, fact, _) = fact else { return };
        let is_call =
            self.runs.get(&key_of(run)).is_some_and(|life| life.definition.payload.call().is_some());
        if !is_call {
            return;
        }
        let WaitingModel { certain, uncertain } = &mut self.waiting;
        if let RunFact::Returned { .. } = fact {
            certain.remove(&run.schedule);
            uncertain.remove(&run.schedule);
        }
        let is_other_end =
            matches!(fact, RunFact::Retrying { .. } | RunFact::Failed(_) | RunFact::Cancelled { .. });
        if is_other_end && certain.remove(&run.schedule) {
            uncertain.insert(run.schedule.clone());
        }
    }
}

//! The end of a run, and the slot that counts from it.

use crate::domain::{RunFact, ScheduleFact};
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::schedule::next_slot::slot_after_finish;
use crate::engine::step_builder::StepBuilder;

/// Ends a run with this fact, and arms the next slot if it counts from the end of the run.
pub(in crate::engine::step) fn finish_run(
    step: &mut StepBuilder<'_>,
    occurrence: &Occurrence<'_>,
    end: RunFact,
) {
    step.run_fact(&occurrence.id, end);
    // Several runs of the schedule may end in one step; the slot is armed once.
    let arms = occurrence.arms && !step.has_armed(&occurrence.id.schedule);
    if arms && !occurrence.record.status.is_terminal() {
        let next = slot_after_finish(step, &occurrence.record.schedule, occurrence.slot);
        step.schedule_fact(&occurrence.id.schedule, ScheduleFact::Armed { next, by: None });
    }
}

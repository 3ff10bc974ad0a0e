//! The end of a run, and the slot that counts from it.

use super::next_slot::slot_after_finish;
use super::occurrence::Occurrence;
use crate::domain::{RunFact, ScheduleFact};
use crate::engine::draft::Draft;

/// Ends a run with this fact; a schedule that counts from the end of its runs has its next slot then.
pub(super) fn finish_run(draft: &mut Draft<'_>, occurrence: &Occurrence<'_>, end: RunFact) {
    draft.run_fact(&occurrence.id, end);
    // Of several runs that end in one step, one is enough.
    let arms = occurrence.arms && !draft.has_armed(&occurrence.id.schedule);
    if arms && !occurrence.record.status.is_terminal() {
        let next = slot_after_finish(draft, &occurrence.record.schedule, occurrence.slot);
        draft.schedule_fact(&occurrence.id.schedule, ScheduleFact::Armed { next, by: None });
    }
}

//! The next slot of a schedule passes without a run, because somebody wants it so.

use super::find::find_live;
use super::next_slot::{slot_after, slot_after_finish};
use crate::domain::{Next, Reason, Refusal, ScheduleFact, Skip};
use crate::engine::draft::Draft;
use crate::engine::input::Which;

pub(in crate::engine) fn skip_next(draft: &mut Draft<'_>, which: Which) -> Result<(), Refusal> {
    let (_, record) = find_live(draft.state, &which)?;
    let Some(slot) = record.next else {
        return Err(Refusal::WrongStatus { schedule: which.schedule, status: record.status });
    };
    let next = match slot_after(draft, &record.schedule, slot, record.course().runs) {
        Next::AfterFinish => slot_after_finish(draft, &record.schedule, slot),
        next @ (Next::Slot { .. } | Next::AtEvent | Next::Never { .. }) => next,
    };
    let skip = Skip {
        from: slot,
        until: slot,
        count: 1,
        reason: Reason::SkippedByHand,
        next,
        by: Some(Box::new(which.by)),
    };
    draft.schedule_fact(&which.schedule, ScheduleFact::Skipped(skip));
    Ok(())
}

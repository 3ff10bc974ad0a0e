//! Transition: a caller skips the next slot of a schedule.

use crate::domain::{Next, Reason, Refusal, ScheduleFact, Skip};
use crate::engine::input::Which;
use crate::engine::step::lookup::lookup_live;
use crate::engine::step::schedule::next_slot::{slot_after, slot_after_finish};
use crate::engine::step::schedule::slot_time::timed;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn skip_next(step: &mut StepBuilder<'_>, which: Which) -> Result<(), Refusal> {
    let (_, record) = lookup_live(step.state, &which)?;
    let Some(slot) = record.next else {
        return Err(Refusal::WrongStatus { schedule: which.schedule, status: record.status });
    };
    let next = match slot_after(step, &record.schedule, slot, record.progress().runs) {
        // No run was claimed whose end the next slot could count from.
        Next::AfterFinish => slot_after_finish(step, &record.schedule, slot),
        next @ (Next::Slot { .. } | Next::AtEvent | Next::Never { .. }) => next,
    };
    let next = timed(step, record, slot, next);
    let skip = Skip {
        from: slot,
        until: slot,
        count: 1,
        reason: Reason::SkippedByHand,
        next,
        by: Some(Box::new(which.by)),
    };
    step.schedule_fact(&which.schedule, ScheduleFact::Skipped(skip));
    Ok(())
}

//! Transition: a schedule is cancelled. Cancel and claim decide on the same state, so exactly one
//! of them wins.

use crate::domain::{Reason, Refusal, ScheduleFact, Status};
use crate::engine::input::Which;
use crate::engine::record::ScheduleRecord;
use crate::engine::step::lookup::lookup;
use crate::engine::step::run::cancel_call::{cancel_calls_out, has_only_calls_out};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn cancel_schedule(step: &mut StepBuilder<'_>, which: Which) -> Result<(), Refusal> {
    let (_, record) = lookup(step.state, &which)?;
    match record.status {
        Status::Pending | Status::Paused | Status::Queued => {
            cancel(step, which, record);
            Ok(())
        }
        // A call that is out is called back. A delivery is not.
        Status::InFlight if has_only_calls_out(step.state, record) => {
            cancel(step, which, record);
            Ok(())
        }
        // It has ended, or a host may be acting on it already: a cancel could not be relied on.
        status @ (Status::InFlight
        | Status::Left
        | Status::Delivered
        | Status::Skipped
        | Status::Finished
        | Status::Cancelled
        | Status::Failed) => Err(Refusal::NotCancellable { schedule: which.schedule, status }),
    }
}

/// Cancels a schedule, with its calls that are out.
pub(in crate::engine::step) fn cancel(step: &mut StepBuilder<'_>, which: Which, record: &ScheduleRecord) {
    let by = Some(Box::new(which.by));
    step.schedule_fact(&which.schedule, ScheduleFact::Cancelled { reason: Reason::Cancelled, by });
    cancel_calls_out(step, record);
}

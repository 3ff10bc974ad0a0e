//! Transition: a schedule is deleted. Unlike a cancel, this works after its end and while a host
//! has its run. A durable schedule that has ended stays until somebody deletes it; a volatile one
//! can only be cancelled.

use crate::domain::Refusal;
use crate::engine::input::Which;
use crate::engine::step::lookup::lookup;
use crate::engine::step::schedule::cancel_schedule::{cancel, cancel_schedule};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn delete_schedule(step: &mut StepBuilder<'_>, which: Which) -> Result<(), Refusal> {
    let (_, record) = lookup(step.state, &which)?;
    // Deleting twice is an error, as for a schedule that never existed.
    if record.is_cancelled() {
        return Err(Refusal::UnknownSchedule { schedule: which.schedule });
    }
    if !record.schedule.is_durable() {
        return cancel_schedule(step, which);
    }
    cancel(step, which, record);
    Ok(())
}

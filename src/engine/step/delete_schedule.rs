//! A schedule is deleted: called off wherever it stands, where a cancel would be refused because it has ended or its run is
//! with a host. Only what is on disk can be: it stays until somebody wants it gone.

use super::cancel_schedule::cancel_schedule;
use super::find::find;
use crate::domain::{Reason, Refusal, ScheduleFact};
use crate::engine::draft::Draft;
use crate::engine::input::Which;

pub(in crate::engine) fn delete_schedule(draft: &mut Draft<'_>, which: Which) -> Result<(), Refusal> {
    let (_, record) = find(draft.state, &which)?;
    if record.is_called_off() {
        return Err(Refusal::UnknownSchedule { schedule: which.schedule });
    }
    if !record.schedule.is_durable() {
        return cancel_schedule(draft, which);
    }
    let by = Some(Box::new(which.by));
    draft.schedule_fact(&which.schedule, ScheduleFact::Cancelled { reason: Reason::Cancelled, by });
    Ok(())
}

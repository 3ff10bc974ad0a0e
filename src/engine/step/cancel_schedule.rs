//! A schedule is cancelled, on the same state on which its slot would be claimed: one of both wins.

use crate::domain::{Reason, Refusal, RunFact, ScheduleId, Scope, Status};
use crate::engine::draft::Draft;

pub(in crate::engine) fn cancel_schedule(
    draft: &mut Draft<'_>,
    scope: &Scope,
    schedule: ScheduleId,
) -> Result<(), Refusal> {
    // Somebody else's schedule answers like one that does not exist.
    let record = draft.state.schedule(&schedule).filter(|record| scope.covers(&record.schedule.owner));
    let Some(record) = record else {
        return Err(Refusal::UnknownSchedule { schedule });
    };
    match record.status {
        Status::Pending | Status::Queued => {
            draft.run_fact(&schedule, RunFact::Cancelled { reason: Reason::Cancelled });
            Ok(())
        }
        status @ (Status::InFlight | Status::Delivered | Status::Cancelled | Status::Failed) => {
            Err(Refusal::NotCancellable { schedule, status })
        }
    }
}

//! A schedule is cancelled, on the same state on which its slot would be claimed: one of both wins.

use super::find::find;
use crate::domain::{Reason, Refusal, ScheduleFact, Status};
use crate::engine::draft::Draft;
use crate::engine::input::Which;

pub(in crate::engine) fn cancel_schedule(draft: &mut Draft<'_>, which: Which) -> Result<(), Refusal> {
    let (_, record) = find(draft.state, &which)?;
    match record.status {
        Status::Pending | Status::Paused | Status::Queued => {
            let reason = Reason::Cancelled;
            let by = Some(Box::new(which.by));
            draft.schedule_fact(&which.schedule, ScheduleFact::Cancelled { reason, by });
            Ok(())
        }
        status @ (Status::InFlight
        | Status::Delivered
        | Status::Skipped
        | Status::Finished
        | Status::Cancelled
        | Status::Failed) => Err(Refusal::NotCancellable { schedule: which.schedule, status }),
    }
}

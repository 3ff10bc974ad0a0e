//! What is to come of a schedule comes now: its next slot, or the next attempt at a run that failed.
//!
//! Unlike a run by hand, which leaves the slots as they are, this is the slot itself.

use super::find::find_live;
use super::next_slot::{slot_now, within_lifetime};
use super::wake::try_again;
use crate::domain::{Next, Refusal, RunState, ScheduleFact};
use crate::engine::draft::Draft;
use crate::engine::input::Which;
use crate::engine::state::Mode;

pub(in crate::engine) fn bring_forward(draft: &mut Draft<'_>, which: Which) -> Result<(), Refusal> {
    let state = draft.state;
    if state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let (_, record) = find_live(state, &which)?;
    state.check_by_hand(&which.by)?;
    if let Some((_, run)) = state.runs_of(record).find(|(_, run)| run.is_live()) {
        let waits = run.run.state == RunState::Queued && run.run.retry_at.is_some();
        if !waits {
            return Err(Refusal::WrongStatus { schedule: which.schedule, status: record.status });
        }
        try_again(draft, run);
        return Ok(());
    }
    if record.next.is_some_and(|slot| slot <= draft.now.wall) {
        // It has come, and is about to be looked at.
        return Ok(());
    }
    match within_lifetime(draft, &record.schedule, slot_now(draft, record)) {
        Next::Never { reason } => Err(Refusal::NoSlot { reason }),
        next @ (Next::Slot { .. } | Next::AfterFinish | Next::AtEvent) => {
            draft.schedule_fact(&which.schedule, ScheduleFact::Armed { next, by: Some(Box::new(which.by)) });
            Ok(())
        }
    }
}

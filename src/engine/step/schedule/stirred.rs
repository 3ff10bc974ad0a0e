//! Transition: what a watch looks at may have changed, so its next check is brought forward.
//!
//! The check comes a moment later and not at once, so that many changes in a row cost one check.

use crate::domain::{Next, Refusal, ScheduleFact, ScheduleId, Span};
use crate::engine::state::Mode;
use crate::engine::step::schedule::next_slot::within_lifetime;
use crate::engine::step_builder::StepBuilder;
use crate::limits;

pub(in crate::engine) fn stirred(step: &mut StepBuilder<'_>, schedule: ScheduleId) -> Result<(), Refusal> {
    let state = step.state;
    if state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let watch = state.schedule(&schedule);
    let Some(record) = watch.filter(|record| record.watch().is_some() && !record.status.is_terminal()) else {
        return Err(Refusal::UnknownSchedule { schedule });
    };
    // Without a next slot a check is under way; the runtime reports the change again after that check.
    let Some(armed) = record.next.filter(|_| record.progress().paused.is_none()) else { return Ok(()) };
    let soon = step.now.wall.checked_add(Span::from_millis(limits::STIRRED_MS.value));
    // A slot in the future has a run only if the wall clock was set back: then the check comes when it would have come anyway.
    let soon = soon.filter(|soon| *soon < armed && state.run(&record.run_id(*soon)).is_none());
    if soon.is_some()
        && let next @ Next::Slot { .. } = within_lifetime(step, &record.schedule, soon)
    {
        step.schedule_fact(&schedule, ScheduleFact::Armed { next, by: None });
    }
    Ok(())
}

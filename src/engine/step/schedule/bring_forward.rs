//! Transition: the next slot of a schedule becomes due now, or the next attempt at its failed run.
//!
//! Unlike a manual run, which leaves the slots as they are, this consumes the next slot.

use crate::domain::{Next, Refusal, ScheduleFact};
use crate::engine::input::Which;
use crate::engine::record::RunRecord;
use crate::engine::state::Mode;
use crate::engine::step::lookup::lookup_live;
use crate::engine::step::run::dispatch::try_again_for;
use crate::engine::step::schedule::next_slot::{slot_now, within_lifetime};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn bring_forward(step: &mut StepBuilder<'_>, which: Which) -> Result<(), Refusal> {
    let state = step.state;
    if state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let (_, record) = lookup_live(state, &which)?;
    // Otherwise a woken turn could restart itself without end.
    state.check_manual(&which.by)?;
    let is_meant = |run: &RunRecord| run.is_live() && record.progress().is_since_anew(&run.run);
    if let Some((_, run)) = state.runs_of(record).find(|(_, run)| is_meant(run)) {
        if !run.waits_to_retry() {
            return Err(Refusal::WrongStatus { schedule: which.schedule, status: record.status });
        }
        try_again_for(step, run, &which.by);
        return Ok(());
    }
    if record.progress().paused.is_some() {
        // Nothing would start before it is resumed.
        return Err(Refusal::WrongStatus { schedule: which.schedule, status: record.status });
    }
    if record.next.is_some_and(|slot| slot <= step.now.wall) {
        // The slot is due already. The next wake-up claims it, unless everything is held.
        return Ok(());
    }
    match within_lifetime(step, &record.schedule, slot_now(step, record)) {
        Next::Never { reason } => Err(Refusal::NoSlot { reason }),
        next @ (Next::Slot { .. } | Next::AfterFinish | Next::AtEvent) => {
            step.schedule_fact(&which.schedule, ScheduleFact::Armed { next, by: Some(Box::new(which.by)) });
            Ok(())
        }
    }
}

//! Transition: a manual run. It takes the same path as any other run, and the schedule's slots stay
//! as they are.

use crate::domain::{Cause, Claim, Overlap, Refusal, Span};
use crate::engine::input::Which;
use crate::engine::state::Mode;
use crate::engine::step::lookup::lookup_live;
use crate::engine::step::run::fire::{begin, time_up};
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn run_now(step: &mut StepBuilder<'_>, which: Which) -> Result<(), Refusal> {
    let state = step.state;
    if state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let (_, record) = lookup_live(state, &which)?;
    state.check_manual(&which.by)?;
    let schedule = &record.schedule;
    let live = state.runs_of(record).find(|(_, run)| run.is_live());
    if let Some((_, run)) = live.filter(|_| schedule.policy().overlap == Overlap::Skip) {
        let run = state.run_id(run).unwrap_or_else(|| record.run_id(run.run.slot));
        return Err(Refusal::Overlapping { run });
    }
    // Run ids contain the slot, so a moment that a run or the next slot has already is moved by a
    // nanosecond.
    let mut slot = step.now.wall;
    while state.run(&record.run_id(slot)).is_some() || record.next == Some(slot) {
        slot = slot.checked_add(Span::from_nanos(1)).ok_or(Refusal::BeyondCalendar)?;
    }
    let occurrence = Occurrence {
        id: record.run_id(slot),
        schedule,
        record,
        owner: record.owner,
        slot,
        cause: Cause::Manual,
        folded: 0,
        attempt: 1,
        revision: record.progress().revision,
        checks: None,
        arms: false,
    };
    let time_up = time_up(step, schedule);
    let by = Some(Box::new(which.by));
    begin(step, &occurrence, Claim { cause: Cause::Manual, folded: 0, next: None, time_up, by });
    Ok(())
}

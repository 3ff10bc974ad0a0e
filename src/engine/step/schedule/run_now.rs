//! Transition: a manual run. It takes the same path as any other run. A schedule with a single slot
//! has it now instead of then; the slots of others stay as they are.

use crate::domain::{Cause, Claim, Next, Overlap, Refusal, ScheduleFact, Span, Trigger};
use crate::engine::input::Which;
use crate::engine::record::{RunRecord, ScheduleRecord};
use crate::engine::state::Mode;
use crate::engine::step::lookup::lookup_live;
use crate::engine::step::run::dispatch::try_again_for;
use crate::engine::step::run::fire::{begin, claim, live_max, time_up};
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::schedule::next_slot::{Passed, is_taken_slot, slot_now, within_lifetime};
use crate::engine::step_builder::StepBuilder;
use crate::limits;

pub(in crate::engine) fn run_now(
    step: &mut StepBuilder<'_>,
    which: Which,
    keeps_slot: bool,
) -> Result<(), Refusal> {
    let state = step.state;
    if state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let (_, record) = lookup_live(state, &which)?;
    state.check_manual(&which.by)?;
    let schedule = &record.schedule;
    // With `keeps_slot`, the caller asks for a run beside the only slot.
    let is_single = matches!(schedule.trigger, Trigger::At(_) | Trigger::Event(_)) && !keeps_slot;
    let is_own = |run: &RunRecord| run.is_live() && record.is_own(&run.run);
    let live = state.runs_of(record).find(|(_, run)| is_own(run));
    if let Some((_, run)) = live.filter(|_| is_single || schedule.policy().overlap == Overlap::Skip) {
        // A run that failed and waits for its next attempt makes it now.
        if run.waits_to_retry() && !keeps_slot {
            try_again_for(step, run, &which.by);
            return Ok(());
        }
        let run = state.run_id(run).unwrap_or_else(|| record.run_id(run.run.slot));
        return Err(Refusal::Overlapping { run });
    }
    // Each is in the schedule's row, which is written again for each.
    if state.runs_of(record).filter(|(_, run)| is_own(run)).count() >= live_max(schedule.policy()) {
        return Err(Refusal::LimitReached { limit: limits::RUNS_LIVE });
    }
    if is_single {
        return bring_slot_forward(step, record, which);
    }
    // Run ids contain the slot, so a moment that a run or a slot has already is moved by a nanosecond.
    let mut slot = step.now.wall;
    while state.run(&record.run_id(slot)).is_some() || is_taken_slot(step, record, slot) {
        slot = slot.checked_add(Span::from_nanos(1)).ok_or(Refusal::BeyondCalendar)?;
    }
    let by_session = which.by.is_of_session();
    let occurrence = Occurrence { cause: Cause::Manual, by_session, ..Occurrence::of_slot(record, slot) };
    let time_up = time_up(step, schedule);
    let by = Some(Box::new(which.by));
    begin(
        step,
        &occurrence,
        Claim { cause: Cause::Manual, folded: 0, next: None, time_up, by, telling: None },
    );
    Ok(())
}

/// Makes now the slot of the schedule, and consumes it: it is the only run there will be.
fn bring_slot_forward(
    step: &mut StepBuilder<'_>,
    record: &ScheduleRecord,
    which: Which,
) -> Result<(), Refusal> {
    let slot = slot_now(step, record).ok_or(Refusal::BeyondCalendar)?;
    let next = match within_lifetime(step, &record.schedule, Some(slot)) {
        Next::Never { reason } => return Err(Refusal::NoSlot { reason }),
        // Due now, also if the slot had to move by a nanosecond.
        Next::Slot { slot, due } => Next::Slot { slot, due: due.map(|_| step.now.boot) },
        next @ (Next::AfterFinish | Next::AtEvent) => next,
    };
    let by = Some(Box::new(which.by));
    step.schedule_fact(&which.schedule, ScheduleFact::Armed { next, by: by.clone() });
    claim(step, record, Passed { latest: slot, count: 1 }, Cause::Manual, by);
    Ok(())
}

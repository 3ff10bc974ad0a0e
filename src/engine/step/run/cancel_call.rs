//! Transition: somebody cancels a call, whether it waits or is out. It has ended at once: its executor is told, and an outcome
//! that comes all the same is refused.

use crate::domain::{CallPurpose, Reason, Refusal, RunFact, RunState, ScheduleFact, TaskEnd};
use crate::engine::bulletin_text::Details;
use crate::engine::input::Which;
use crate::engine::record::{RunRecord, ScheduleRecord};
use crate::engine::state::State;
use crate::engine::step::lookup::lookup;
use crate::engine::step::run::bulletin::announce;
use crate::engine::step::run::cut_off::call_off;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step_builder::StepBuilder;

/// Cancels the call of a schedule's live run. The schedule goes on. Its session is told, unless it has asked for this itself.
/// A task that has not begun its call, because everything is held for instance, is cancelled with its slot.
pub(in crate::engine) fn cancel_call(step: &mut StepBuilder<'_>, which: Which) -> Result<(), Refusal> {
    let state = step.state;
    let (_, record) = lookup(state, &which)?;
    let live = state.runs_of(record).find(|(_, run)| run.is_live() && is_call(state, run));
    let found = live.and_then(|(_, run)| Some((run, Occurrence::of(state, run)?)));
    let Some((run, occurrence)) = found else {
        if record.next.is_some() && is_task(record) {
            let by = Some(Box::new(which.by));
            let fact = ScheduleFact::Cancelled { reason: Reason::Cancelled, by };
            step.schedule_fact(&which.schedule, fact);
            return Ok(());
        }
        return Err(Refusal::NotCancellable { schedule: which.schedule, status: record.status });
    };
    // A session that cancels its own call knows of the end, and a caller that waits for the outcome gets it.
    let is_own = which.by.scope.session() == Some(&record.schedule.owner);
    let has_it = is_own || step.is_awaited(&which.schedule);
    if let Some(call) = occurrence.schedule.payload.call().filter(|_| !has_it) {
        announce(step, &occurrence, call, TaskEnd::Cancelled, Details::default());
    }
    call_off(step, run);
    occurrence.end(step, RunFact::Cancelled { reason: Reason::Cancelled });
    Ok(())
}

/// Cancels the calls of a schedule that are out. Comes after the fact that cancels the schedule, and what of it waits.
pub(in crate::engine::step) fn cancel_calls_out(step: &mut StepBuilder<'_>, record: &ScheduleRecord) {
    let state = step.state;
    for (_, run) in state.runs_of(record).filter(|(_, run)| is_out(state, run)) {
        if let Some(id) = state.run_id(run) {
            call_off(step, run);
            step.run_fact(&id, RunFact::Cancelled { reason: Reason::Cancelled });
        }
    }
}

/// Returns whether all that is out of a schedule are calls, which can be cancelled, and not deliveries.
pub(in crate::engine::step) fn has_only_calls_out(state: &State, record: &ScheduleRecord) -> bool {
    let mut live = state.runs_of(record).map(|(_, run)| run).filter(|run| run.is_live());
    live.all(|run| run.run.state == RunState::Queued || is_out(state, run))
}

/// Returns whether one call is all that a schedule is for, so that its end is the end of the schedule.
fn is_task(record: &ScheduleRecord) -> bool {
    record.schedule.payload.call().is_some_and(|call| call.purpose == CallPurpose::Task)
}

fn is_out(state: &State, run: &RunRecord) -> bool {
    run.run.state == RunState::InFlight && is_call(state, run)
}

fn is_call(state: &State, run: &RunRecord) -> bool {
    state.definition_of(run).is_some_and(|asked| asked.payload.call().is_some())
}

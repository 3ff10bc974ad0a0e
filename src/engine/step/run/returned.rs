//! Transition: the call of a run ended, with an answer or an error.

use std::sync::Arc;

use crate::domain::{Call, Outcome, Phase, Reading, Reason, Refusal, RunFact, RunId, TaskEnd};
use crate::engine::bulletin_text::Details;
use crate::engine::state::Mode;
use crate::engine::step::run::bulletin::announce;
use crate::engine::step::run::check::check_returned;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::run::retry::{retry, wait_before_next};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn returned(
    step: &mut StepBuilder<'_>,
    run: &RunId,
    (outcome, line, reading): (Arc<Outcome>, &str, Option<Box<Reading>>),
    awaited: bool,
) -> Result<(), Refusal> {
    if step.state.mode == Mode::Abandoning {
        // Only durable runs are still in flight, and the next process recovers them.
        return Err(Refusal::Stopping);
    }
    let record = step.state.in_flight(run)?;
    let refused = || Refusal::NotInFlight { run: run.clone() };
    if record.run.phase != Some(Phase::Call) {
        return Err(refused());
    }
    // Only an answer of the tool is a report of the host. Any other call was ended or refused by this process.
    let is_answer = matches!(outcome.reason, None | Some(Reason::ToolFailed));
    let by = if is_answer { step.state.reporter_of(record) } else { None };
    let occurrence = Occurrence::of(step.state, record).ok_or_else(refused)?.reported_by(by);
    // A call that was not made may be made later, if the schedule's policy says so.
    if let Some(failure) = outcome.failure()
        && let Some(wait) = wait_before_next(&occurrence, &failure)
    {
        retry(step, &occurrence, failure, wait);
        return Ok(());
    }
    if occurrence.record.watch().is_some() && call_of(&occurrence).is_some_and(|call| call.filter.is_some()) {
        check_returned(step, &occurrence, (outcome, line, reading));
        return Ok(());
    }
    // A caller that waited for the outcome has it, so no bulletin tells of it.
    if let Some(call) = call_of(&occurrence).filter(|_| !awaited) {
        let end = if outcome.ok { TaskEnd::Completed } else { TaskEnd::Failed };
        announce(step, &occurrence, call, end, Details { lines: line, ..Details::default() });
    }
    occurrence.end(step, RunFact::Returned { outcome, check: None });
    Ok(())
}

fn call_of<'a>(occurrence: &Occurrence<'a>) -> Option<&'a Call> {
    occurrence.schedule.payload.call()
}

//! Transition: the call of a run ended, with an answer or an error.

use std::sync::Arc;

use crate::domain::{Outcome, Phase, Refusal, RunFact, RunId};
use crate::engine::bulletin_text::BulletinEnd;
use crate::engine::state::Mode;
use crate::engine::step::run::bulletin::announce;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::run::retry::{retry, wait_before_next};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn returned(
    step: &mut StepBuilder<'_>,
    run: &RunId,
    (outcome, line): (Arc<Outcome>, &str),
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
    let occurrence = Occurrence::of(step.state, record).ok_or_else(refused)?;
    // A call that was not made may be made later, if the schedule's policy says so.
    if let Some(failure) = outcome.failure()
        && let Some(wait) = wait_before_next(&occurrence, &failure)
    {
        retry(step, &occurrence, failure, wait);
        return Ok(());
    }
    // Whoever waited for the outcome has it, and is told nothing.
    if let Some(call) = occurrence.schedule.payload.call().filter(|_| !awaited) {
        let end = if outcome.ok { BulletinEnd::Completed } else { BulletinEnd::Failed };
        announce(step, &occurrence, call, end, line);
    }
    occurrence.end(step, RunFact::Returned { outcome });
    Ok(())
}

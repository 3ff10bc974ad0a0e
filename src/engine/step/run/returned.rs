//! Transition: the call of a run ended, with an answer or an error.

use std::sync::Arc;

use crate::domain::{Outcome, Phase, Refusal, RunFact, RunId};
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::run::retry::{retry, wait_before_next};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn returned(
    step: &mut StepBuilder<'_>,
    run: &RunId,
    outcome: Arc<Outcome>,
    _awaited: bool,
) -> Result<(), Refusal> {
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
    occurrence.finish(step, RunFact::Returned { outcome });
    Ok(())
}

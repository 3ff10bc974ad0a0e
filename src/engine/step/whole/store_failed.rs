//! Transition: the store has failed. Dispatches that were not committed are withdrawn, and durable
//! schedules stand still until the store's rows are loaded again.

use crate::domain::{RunId, RunState};
use crate::engine::local_fact::LocalFact;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn store_failed(step: &mut StepBuilder<'_>, unsent: Vec<RunId>, why: Box<str>) {
    let state = step.state;
    for run in unsent {
        if state.run(&run).is_some_and(|record| record.run.state == RunState::InFlight) {
            step.local_fact(LocalFact::Retracted(run));
        }
    }
    // A batch that was decided before the failure may fail after it. The first error says what is wrong.
    if !state.is_frozen() {
        step.local_fact(LocalFact::DurableFrozen { why });
    }
}

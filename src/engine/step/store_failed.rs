//! The store has failed: what waited for it is not handed over, and durable schedules stand still until they are loaded again.

use crate::domain::{RunId, RunState};
use crate::engine::draft::Draft;
use crate::engine::local_fact::LocalFact;

pub(in crate::engine) fn store_failed(draft: &mut Draft<'_>, unsent: Vec<RunId>) {
    let state = draft.state;
    for run in unsent {
        if state.run(&run).is_some_and(|record| record.run.state == RunState::InFlight) {
            draft.local_fact(LocalFact::Retracted(run));
        }
    }
    if !state.frozen {
        draft.local_fact(LocalFact::DurableFrozen);
    }
}

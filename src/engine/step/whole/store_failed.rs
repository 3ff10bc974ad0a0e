//! Transition: the store has failed. Dispatches that were not committed are withdrawn, commands that were not committed are
//! taken back, because their callers are told that nothing was changed, and durable schedules stand still until the store's
//! rows are loaded again.
//!
//! A schedule with a run that is with a host, or was when the command came, stays as it is until then: to take it back would
//! free the lane of that run, and let a second delivery into the session.

use std::collections::BTreeSet;

use crate::domain::{Run, RunId, RunState};
use crate::engine::local_fact::LocalFact;
use crate::engine::state::State;
use crate::engine::step_builder::StepBuilder;
use crate::engine::undo::Undo;

pub(in crate::engine) fn store_failed(
    step: &mut StepBuilder<'_>,
    unsent: Vec<RunId>,
    undone: Vec<Undo>,
    why: Box<str>,
) {
    let state = step.state;
    // Of several changes of one thing, the first was decided on what is stored.
    let mut touched = BTreeSet::new();
    let held_back: BTreeSet<&RunId> = unsent.iter().collect();
    let is_taken_back: Vec<bool> = undone
        .iter()
        .map(|undo| touched.insert(undo.touched()) && may_be_taken_back(state, undo, &held_back))
        .collect();
    for run in unsent {
        if state.run(&run).is_some_and(|record| record.run.state == RunState::InFlight) {
            step.local_fact(LocalFact::Retracted(run));
        }
    }
    for (undo, is_taken_back) in undone.into_iter().zip(is_taken_back) {
        if is_taken_back {
            step.local_fact(LocalFact::TakenBack(undo));
        }
    }
    // A batch that was decided before the failure may fail after it. The first error says what is wrong.
    if !state.is_frozen() {
        step.local_fact(LocalFact::DurableFrozen { why });
    }
}

fn may_be_taken_back(state: &State, undo: &Undo, unsent: &BTreeSet<&RunId>) -> bool {
    match undo {
        Undo::Schedule { id, row } => {
            let was_out = row.iter().flat_map(|row| &row.runs).any(is_with_host);
            let is_out = |record| {
                let mut out = state.runs_of(record).filter(|(_, run)| is_with_host(&run.run));
                out.any(|(_, run)| state.run_id(run).is_none_or(|id| !unsent.contains(&id)))
            };
            !was_out && !state.schedule(id).is_some_and(is_out)
        }
        // The session may have been closed, and another one opened under its id: that has changes of its own.
        Undo::Memory { session, opened, .. } => {
            state.session(session).is_some_and(|record| record.opened() == *opened)
        }
        Undo::Holds(_) | Undo::ChannelPauses(_) | Undo::Guard { .. } => true,
    }
}

fn is_with_host(run: &Run) -> bool {
    matches!(run.state, RunState::InFlight | RunState::Running)
}

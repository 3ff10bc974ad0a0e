//! Transitions: everything is held, and released. Pauses of single schedules are independent of
//! this.

use std::collections::BTreeSet;

use crate::domain::{Actor, EngineFact, Fact, Refusal};
use crate::engine::record::SessionRecord;
use crate::engine::slab::Key;
use crate::engine::state::Mode;
use crate::engine::step::run::dispatch::{dispatch_outside, dispatch_runs, dispatch_waiting};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn hold_all(
    step: &mut StepBuilder<'_>,
    by: Actor,
    reason: Option<Box<str>>,
) -> Result<(), Refusal> {
    // A second hold replaces the first: who holds everything, why and since when.
    step.fact(Fact::Engine(EngineFact::AllHeld { by, reason }));
    Ok(())
}

pub(in crate::engine) fn release_all(step: &mut StepBuilder<'_>, by: Actor) -> Result<(), Refusal> {
    // Releasing twice is harmless.
    if step.state.held().is_none() {
        return Ok(());
    }
    step.fact(Fact::Engine(EngineFact::AllReleased { by }));
    // Waiting runs go out in this same step, which must not see the hold any more.
    step.held = step.state.mode != Mode::Running;
    fill_lanes(step, &BTreeSet::new());
    Ok(())
}

/// Hands over waiting runs wherever a lane is free and not in `taken`, and all that need none.
pub(in crate::engine) fn fill_lanes(step: &mut StepBuilder<'_>, taken: &BTreeSet<Key>) {
    let waiting = step.state.sessions.iter();
    let has_any = |session: &SessionRecord| !session.waiting.is_empty() || session.has_strays();
    for (key, session) in waiting.filter(|(_, session)| session.hosted && has_any(session)) {
        let mut lane_taken = session.blocks_prompt().is_some() || taken.contains(&key);
        if session.has_strays() {
            // A restart has taken these out of the inbox, in this step.
            let waiting = step.state.in_delivery_order(session.left.iter().chain(&session.waiting));
            dispatch_runs(step, session, session.host, waiting, &mut lane_taken);
        } else {
            dispatch_waiting(step, session, session.host, &mut lane_taken);
        }
    }
    dispatch_outside(step);
}

//! Everything is held, and released: a layer above what is paused by itself.

use std::collections::BTreeSet;

use super::hand_over::hand_over_waiting;
use super::outside::hand_over_outside;
use crate::domain::{Actor, Fact, Refusal};
use crate::engine::draft::Draft;
use crate::engine::slab::Key;
use crate::engine::state::Mode;

pub(in crate::engine) fn hold_all(
    draft: &mut Draft<'_>,
    by: Actor,
    reason: Option<Box<str>>,
) -> Result<(), Refusal> {
    // Who holds what is held already says why anew; since when it is held stays true.
    draft.fact(Fact::Held { by, reason });
    Ok(())
}

pub(in crate::engine) fn release_all(draft: &mut Draft<'_>, by: Actor) -> Result<(), Refusal> {
    if draft.state.held.is_none() {
        return Ok(());
    }
    draft.fact(Fact::Released { by });
    draft.held = draft.state.mode != Mode::Running;
    fill_lanes(draft, &BTreeSet::new());
    Ok(())
}

/// Every lane that is free, and not taken in this step, takes what waits for it; what waits to go outside goes.
pub(in crate::engine) fn fill_lanes(draft: &mut Draft<'_>, taken: &BTreeSet<Key>) {
    let waiting = draft.state.sessions.iter();
    for (key, session) in waiting.filter(|(_, session)| session.hosted && !session.waiting.is_empty()) {
        let mut lane_taken = session.blocks_prompt().is_some() || taken.contains(&key);
        hand_over_waiting(draft, session, session.host, &mut lane_taken);
    }
    hand_over_outside(draft);
}

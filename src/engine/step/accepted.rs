//! A host has accepted a prompt: the receipt.

use super::finish_run::finish_run;
use super::hand_over::hand_over_next;
use super::occurrence::Occurrence;
use crate::domain::{EndsWith, Phase, Refusal, RunFact, RunId};
use crate::engine::draft::Draft;
use crate::engine::record::SessionRecord;

pub(in crate::engine) fn accepted(draft: &mut Draft<'_>, run: &RunId) -> Result<(), Refusal> {
    let state = draft.state;
    let record = state.in_flight(run)?;
    let refused = || Refusal::NotInFlight { run: run.clone() };
    let occurrence = Occurrence::of(state, record).ok_or_else(refused)?;
    match record.run.phase {
        Some(Phase::PromptSubmit) => {}
        // There is no turn of which we could hear, and no lane.
        Some(Phase::Outside) => {
            finish_run(draft, &occurrence, RunFact::Delivered);
            return Ok(());
        }
        Some(Phase::CreateSession) | None => return Err(refused()),
    }
    let lane = state.lane(record);
    let begins_turn = occurrence.schedule.payload.begins_turn();
    // The built-in host is idle again at once, and any host after a message that begins no turn. A connected one begins a
    // turn, and its end is the next transition; it may have come already, from a host that acknowledges after the fact.
    let at_once = |lane: &&SessionRecord| !begins_turn || !lane.host.is_attached() || lane.turn_ended;
    let idle = lane.filter(|lane| at_once(lane) && !lane.busy);
    // A host that took the session over meanwhile knows nothing of the turn, and a lost one reports no end.
    let is_theirs = lane.is_some_and(|lane| lane.hosted && record.run.host == Some(lane.host));
    let goes_on = begins_turn && is_theirs && idle.is_none();
    if goes_on && occurrence.schedule.policy().ends_with == EndsWith::Turn {
        draft.run_fact(run, RunFact::Accepted);
        return Ok(());
    }
    finish_run(draft, &occurrence, RunFact::Delivered);
    if let Some(lane) = idle {
        hand_over_next(draft, lane);
    }
    Ok(())
}

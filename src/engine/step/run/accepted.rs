//! Transition: a host accepted a prompt, or a channel a message: the receipt.

use crate::domain::{EndsWith, Phase, Refusal, RunFact, RunId};
use crate::engine::record::SessionRecord;
use crate::engine::step::run::dispatch::dispatch_next;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn accepted(step: &mut StepBuilder<'_>, run: &RunId) -> Result<(), Refusal> {
    let state = step.state;
    let record = state.in_flight(run)?;
    let refused = || Refusal::NotInFlight { run: run.clone() };
    let occurrence = Occurrence::of(state, record).ok_or_else(refused)?;
    match record.run.phase {
        Some(Phase::PromptSubmit) => {}
        // A message through a channel begins no turn that is reported, and occupies no lane.
        Some(Phase::Outside) => {
            occurrence.finish(step, RunFact::Delivered);
            return Ok(());
        }
        Some(Phase::CreateSession) | None => return Err(refused()),
    }
    let lane = state.lane(record);
    let begins_turn = occurrence.schedule.payload.begins_turn();
    // When is the session idle after this receipt? The built-in host at once, and any host after a
    // message that begins no turn. An attached host begins a turn, whose end is the next
    // transition. That end may have been reported already, by a host that acknowledges after the
    // fact.
    let at_once = |lane: &&SessionRecord| !begins_turn || !lane.host.is_attached() || lane.turn_ended;
    let idle = lane.filter(|lane| at_once(lane) && !lane.busy);
    // A host that took the session over meanwhile does not know the turn, and a lost host reports
    // no end. The run cannot wait for either.
    let is_theirs = lane.is_some_and(|lane| lane.hosted && record.run.host == Some(lane.host));
    let goes_on = begins_turn && is_theirs && idle.is_none();
    if goes_on && occurrence.schedule.policy().ends_with == EndsWith::Turn {
        step.run_fact(run, RunFact::Accepted);
        return Ok(());
    }
    occurrence.finish(step, RunFact::Delivered);
    if let Some(lane) = idle {
        dispatch_next(step, lane);
    }
    Ok(())
}

//! Transition: a host accepted a prompt, or a channel a message: the receipt.
//!
//! The built-in host accepts everything. In a session in which nobody listens that is no receipt: the message is left.

use crate::domain::{Cause, EndsWith, HostId, Phase, Reason, Refusal, RunFact, RunId};
use crate::engine::record::SessionRecord;
use crate::engine::step::run::bulletin::with_members;
use crate::engine::step::run::dispatch::{dispatch_next, dispatch_runs};
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn accepted(step: &mut StepBuilder<'_>, run: &RunId) -> Result<(), Refusal> {
    let state = step.state;
    let record = state.in_flight(run)?;
    let refused = || Refusal::NotInFlight { run: run.clone() };
    let by = state.reporter_of(record);
    let occurrence = Occurrence::of(state, record).ok_or_else(refused)?.reported_by(by.clone());
    match record.run.phase {
        Some(Phase::PromptSubmit) => {}
        // A message through a channel begins no turn that is reported, and occupies no lane.
        Some(Phase::Outside) => {
            occurrence.finish(step, RunFact::Delivered);
            return Ok(());
        }
        Some(Phase::CreateSession | Phase::Call) | None => return Err(refused()),
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
    // Nobody listened in the session when the run was handed over, so this is no receipt.
    if record.run.host == Some(HostId::INBOX) {
        match lane.filter(|lane| lane.host != HostId::INBOX) {
            Some(lane) => pass_on(step, run, lane),
            None => {
                occurrence.finish(step, RunFact::Left);
                if let Some(lane) = lane.filter(|lane| !lane.busy) {
                    dispatch_next(step, lane);
                }
            }
        }
        return Ok(());
    }
    // A bulletin ends with its receipt, and so do the other bulletins in its delivery.
    let is_bulletin = record.run.cause == Cause::Bulletin;
    let goes_on = begins_turn && is_theirs && idle.is_none() && !is_bulletin;
    if goes_on && occurrence.schedule.policy().ends_with == EndsWith::Turn {
        step.run_fact_by(run, RunFact::Accepted, by);
        return Ok(());
    }
    occurrence.finish(step, RunFact::Delivered);
    with_members(step, run, |step, member| {
        member.clone().reported_by(by.clone()).finish(step, RunFact::Delivered);
    });
    if let Some(lane) = idle {
        dispatch_next(step, lane);
    }
    Ok(())
}

/// A host took the session over before the message was left: the message is for that host. It is never left, because a run that
/// has ended may be forgotten at once.
fn pass_on(step: &mut StepBuilder<'_>, run: &RunId, lane: &SessionRecord) {
    let reason = Reason::DeliveryInFlight;
    step.run_fact(run, RunFact::Queued { reason });
    with_members(step, run, |step, member| step.run_fact(&member.id, RunFact::Queued { reason }));
    if lane.hosted && !lane.busy {
        // The state does not count this run among the waiting ones yet. It takes its place in their order here.
        let this = step.state.run_key(run);
        let runs = step.state.in_delivery_order(lane.waiting.iter().chain(&this));
        dispatch_runs(step, lane, lane.host, runs, &mut false);
    }
}

//! Laws about calls of tools, and about what sessions are told of them.

use crate::domain::{Cause, Cursor, Reason, RunFact, Sink};
use crate::testkit::checks::law::{LawResult, hold};
use crate::testkit::history::Observation;
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_facts::place_of;
use crate::testkit::reference::run_key::key_of;

/// What a call came to is told right before it ends, if somebody is to be told and nobody waits for it; and nothing else is. Of a
/// watch it is told exactly if the check was found to be worth it, but for the last word of one that is over or has no tool.
pub(in crate::testkit) fn what_a_call_came_to_is_told(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Some((run, fact)) = seen.run_fact() else { return Ok(()) };
    let sink = || {
        let asked = model.runs.get(&key_of(run)).and_then(|life| life.definition.payload.call());
        asked.map(|call| &call.sink)
    };
    match fact {
        RunFact::Claimed(claim) if claim.telling.is_some() => {
            let plan = model.schedules.get(&run.schedule).and_then(|plan| plan.schedule.payload.call());
            let told = plan.is_some_and(|call| call.sink != Sink::Nobody) && claim.cause == Cause::Bulletin;
            hold(told, || format!("{run} is a bulletin of what nobody is to be told"))
        }
        RunFact::Returned { .. } | RunFact::Failed(_) => {
            let Some(sink) = sink().filter(|sink| **sink != Sink::Nobody) else { return Ok(()) };
            if let RunFact::Failed(failure) = fact
                && matches!(failure.reason, Reason::SessionClosed | Reason::Shutdown)
            {
                return Ok(());
            }
            let plan = model.schedules.get(&run.schedule);
            let is_over = plan.is_some_and(|plan| plan.end.is_some());
            let is_told = model.told_last.as_ref() == Some(&run.schedule);
            if let RunFact::Returned { check: Some(check), .. } = fact {
                // A watch that finds no tool is paused, which is told at once.
                let is_paused = plan.is_some_and(|plan| plan.paused);
                let expires = plan.is_some_and(|plan| plan.schedule.lifetime().expires_at.is_some());
                return match check.weighed.told {
                    Some(why) => hold(is_told || is_over || is_paused, || {
                        format!("{run} is worth telling as {why:?}, and {sink:?} is not told")
                    }),
                    None => hold(!is_told || expires || is_paused, || {
                        format!("{run} is not worth telling, and {sink:?} is told: {fact:?}")
                    }),
                };
            }
            match model.waiting.awaits(&run.schedule) {
                Some(true) => {
                    hold(!is_told, || format!("somebody waits for {run}, and {sink:?} is told as well"))
                }
                Some(false) => {
                    hold(is_told || is_over, || format!("{run} ended, and {sink:?} is not told: {fact:?}"))
                }
                None => Ok(()),
            }
        }
        RunFact::Claimed(_)
        | RunFact::Queued { .. }
        | RunFact::Guard(_)
        | RunFact::Dispatched(_)
        | RunFact::Accepted
        | RunFact::Left
        | RunFact::Taken { .. }
        | RunFact::Delivered
        | RunFact::Folded(_)
        | RunFact::Joined { .. }
        | RunFact::Postponed { .. }
        | RunFact::Retrying { .. }
        | RunFact::Cancelled { .. } => Ok(()),
    }
}

/// Of a schedule that was replaced under its id only that goes on which somebody had already, and what is told of it.
pub(in crate::testkit) fn nothing_of_a_former_job_begins(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Some((run, RunFact::Dispatched(_))) = seen.run_fact() else { return Ok(()) };
    let key = key_of(run);
    let is_of_former = model.schedules.get(&run.schedule).is_some_and(|plan| plan.is_of_former(&key));
    let begins = model
        .runs
        .get(&key)
        .is_some_and(|life| life.dispatched_at == Cursor::START && life.cause != Cause::Bulletin);
    hold(!is_of_former || !begins, || format!("{run} begins, and its schedule was replaced before"))
}

/// A bulletin that waits takes in only what goes to the place in whose queue it is.
pub(in crate::testkit) fn a_bulletin_that_waits_keeps_its_place(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Some((run, RunFact::Folded(telling))) = seen.run_fact() else { return Ok(()) };
    let Some(plan) = model.schedules.get(&run.schedule) else { return Ok(()) };
    let Some(life) = model.runs.get(&key_of(run)) else { return Ok(()) };
    let goes_to = place_of(&plan.schedule.bulletin(telling));
    let waits_for = (life.into.clone(), life.channel.clone());
    hold(goes_to == waits_for, || {
        format!("{run} waits for {waits_for:?}, and takes in what goes to {goes_to:?}")
    })
}

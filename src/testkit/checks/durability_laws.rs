//! The law about durability: commit first, then act.

use crate::domain::{RunState, ScheduleId};
use crate::engine::LocalFact;
use crate::testkit::checks::law::{LawResult, StateView, hold};
use crate::testkit::history::{Observation, Seen};
use crate::testkit::reference::loading::Loading;
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_key::{RunKey, key_of};
use crate::testkit::reference::run_model::RunModel;
use crate::testkit::reference::schedule_model::ScheduleModel;

/// A durable run reaches its host only after the fact that dispatches it is committed.
pub(in crate::testkit) fn nothing_unkept_is_handed_over(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Seen::Received(reception) = &seen.seen else { return Ok(()) };
    let is_durable = model.schedules.get(&reception.run.schedule).is_some_and(ScheduleModel::is_durable);
    let (Some(kept), Some(life)) =
        (model.kept.filter(|_| is_durable), model.runs.get(&key_of(&reception.run)))
    else {
        return Ok(());
    };
    let at = life.dispatched_at;
    hold(at <= kept, || {
        format!("{} was handed over by fact {at}, and {kept} is the last one kept", reception.run)
    })
}

/// Only a dispatch that is not committed is withdrawn, and no host has received it.
pub(in crate::testkit) fn only_what_is_not_kept_is_retracted(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Seen::Local(LocalFact::Retracted(run)) = &seen.seen else { return Ok(()) };
    let key = key_of(run);
    let (Some(plan), Some(life)) = (model.schedules.get(&key.0), model.runs.get(&key)) else {
        return Err(format!("{run} was retracted, and nobody knows it"));
    };
    let reached = life.dispatched.as_ref().is_some_and(|it| life.received.contains(&(life.attempt, it.0)));
    let right = plan.is_durable() && life.state == RunState::InFlight && !reached && model.is_unkept(life);
    hold(right, || format!("{run} was retracted after {:?}: {life:?}", model.kept_at_failure))
}

/// Only what is not committed is taken back, to what it was before, and no schedule that has a run with a host.
pub(in crate::testkit) fn only_what_is_not_kept_is_taken_back(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Seen::Local(LocalFact::TakenBack(undo)) = &seen.seen else { return Ok(()) };
    let Some(before) = model.before_of(undo) else {
        return Err(format!("{undo:?} was never so after {:?}", model.kept_at_failure));
    };
    let out = before.schedule().and_then(|id| out_of(model, id));
    hold(!before.was_out() && out.is_none(), || format!("{undo:?} was taken back, and a host has {out:?}"))
}

/// A run of a schedule that a host has.
fn out_of<'a>(model: &'a ReferenceModel, id: &ScheduleId) -> Option<&'a RunKey> {
    let mut live = model.schedules.get(id).into_iter().flat_map(|plan| model.live_runs(plan));
    live.find(|(_, life)| life.state != RunState::Queued).map(|(key, _)| key)
}

/// All stored rows are loaded as they are, before anything else happens; and only by a process that
/// starts, or after a failure.
pub(in crate::testkit) fn what_is_stored_is_loaded(model: &ReferenceModel, seen: &Observation) -> LawResult {
    match &seen.seen {
        Seen::Local(LocalFact::Restored(row)) => {
            let awaited = model.loading.as_ref().is_some_and(|loading| loading.awaits(row));
            hold(awaited, || format!("nobody was to load {row:?}"))
        }
        Seen::Local(LocalFact::DurableDropped) => {
            hold(model.returning.is_some(), || "nobody was to load the store again".to_owned())
        }
        Seen::Fact(fact) => {
            let left = model.loading.as_ref().and_then(Loading::left);
            hold(left.is_none(), || format!("{left:?} was not loaded before {fact:?}"))
        }
        Seen::Local(_)
        | Seen::Received(_)
        | Seen::CancelAcknowledged { .. }
        | Seen::HostLost(_)
        | Seen::ShutDown
        | Seen::DiskFailed { .. } => Ok(()),
    }
}

/// While the store fails, no run counts as handed over whose dispatch was not committed when it
/// failed.
pub(in crate::testkit) fn nothing_is_out_that_is_not_kept(
    model: &ReferenceModel,
    _: &StateView<'_>,
) -> LawResult {
    let durable = |key: &RunKey| model.schedules.get(&key.0).is_some_and(ScheduleModel::is_durable);
    let out = model.runs.iter().filter(|(key, life)| life.state == RunState::InFlight && durable(key));
    // A host may report meanwhile that a fresh session exists. What follows from that is dropped on
    // reload.
    let waited = |life: &RunModel| model.frozen_at.is_some_and(|at| life.dispatched_at <= at);
    let left = out.filter(|(_, life)| waited(life)).find(|(_, life)| model.is_unkept(life));
    hold(left.is_none(), || format!("after {:?} there is still {left:?}", model.kept_at_failure))
}

/// While the store fails, no schedule is there whose creation was not committed, and none counts as cancelled whose cancel was
/// not: who asked was told that nothing was changed. One whose run was with a host meanwhile is put right when the store works.
pub(in crate::testkit) fn what_is_refused_is_not_so(model: &ReferenceModel, _: &StateView<'_>) -> LawResult {
    if model.frozen_at.is_none() || model.returning.is_some() {
        return Ok(());
    }
    let lost = || model.befores.iter().filter(|before| model.is_lost(before.cursor));
    let was_out = |id: &ScheduleId| lost().any(|before| before.schedule() == Some(id) && before.was_out());
    for before in lost() {
        let Some((id, plan)) = before.schedule().and_then(|id| model.schedules.get_key_value(id)) else {
            continue;
        };
        let is_so = before.is_creation() || before.is_cancel && plan.called_off;
        let is_right = !is_so || was_out(id) || out_of(model, id).is_some();
        hold(is_right, || format!("what {} said of {id} was refused, and is so", before.cursor))?;
    }
    Ok(())
}

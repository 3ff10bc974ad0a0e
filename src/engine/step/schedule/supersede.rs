//! Transition: a schedule is created under an id that may be in use. Then that schedule is defined anew, for the session that
//! asks: its slots, its runs and what is counted of it begin again. A run of the earlier definition that is out ends by itself,
//! and one that waits, for its session or for an approval, is cancelled.

use crate::domain::{
    Actor, Cause, Next, Reason, Redefinition, Refusal, Run, RunFact, RunState, ScheduleFact, Scope,
    SessionId, Via,
};
use crate::engine::new_schedule::NewSchedule;
use crate::engine::record::ScheduleRecord;
use crate::engine::state::Mode;
use crate::engine::step::schedule::create_schedule::{
    check_bytes, check_payload, check_settings, create_schedule, first_slot_in, is_full, join_chain, most_of,
    scheduled,
};
use crate::engine::step_builder::StepBuilder;
use crate::limits;

pub(in crate::engine) fn supersede(
    step: &mut StepBuilder<'_>,
    new: NewSchedule,
    of: Option<&SessionId>,
) -> Result<(), Refusal> {
    let state = step.state;
    let known = new.id.as_ref().and_then(|id| state.schedule(id));
    let Some(known) = known else { return create_schedule(step, new) };
    let id = known.schedule.id.clone();
    // Another's job is as little to be touched as one of another tool.
    if of.is_some_and(|of| known.schedule.owner != *of) {
        return Err(Refusal::ScheduleExists { schedule: id });
    }
    if known.schedule.dialect != new.dialect || known.schedule.durability != new.durability {
        return Err(Refusal::ScheduleExists { schedule: id });
    }
    if state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let Some(session) = state.session(&new.owner) else {
        return Err(Refusal::UnknownSession { session: new.owner });
    };
    // What is out goes by the earlier definition, but tells the owner of the schedule: there must be one for both.
    let moves = known.schedule.owner != new.owner;
    if moves && state.runs_of(known).any(|(_, run)| run.is_live()) {
        return Err(Refusal::WrongStatus { schedule: id, status: known.status });
    }
    // It takes one more place if it ended before, or was counted in another family.
    let is_counted = !known.status.is_terminal() && state.root_of(&known.schedule.owner) == session.root();
    let max = most_of(new.session_live_max);
    if !is_counted && is_full(step, session, new.dialect, max) {
        return Err(Refusal::SessionFull { max });
    }
    if known.status.is_terminal() && state.live_count() >= limits::SCHEDULES.value {
        return Err(Refusal::LimitReached { limit: limits::SCHEDULES });
    }
    let plain = || Actor {
        scope: Scope::Session(new.owner.clone()),
        via: Some(Via::Session),
        tool: None,
        as_model: false,
    };
    let by = new.made_by.as_deref().cloned().unwrap_or_else(plain);
    let mut schedule = scheduled(step, new)?;
    join_chain(step, session, &mut schedule)?;
    check_payload(&schedule)?;
    check_settings(&schedule)?;
    check_bytes(step, session, schedule.bytes())?;
    // Its present slots are in the budget of this session only if it is live there.
    let before = if moves || known.status.is_terminal() { 0 } else { known.schedule.slots_per_minute() };
    state.check_slots(&schedule, before)?;
    let next = first_slot_in(step, session, &schedule, step.now.wall);
    if let Next::Never { reason } = next {
        return Err(Refusal::NoSlot { reason });
    }
    let fact = Redefinition { schedule, by, retriggered: Some(next), revises: true };
    step.schedule_fact(&id, ScheduleFact::Changed(Box::new(fact)));
    withdraw_what_waits(step, known);
    Ok(())
}

/// Cancels the runs of the earlier definition that are with nobody. What is to be told of a run that was out is still told.
fn withdraw_what_waits(step: &mut StepBuilder<'_>, known: &ScheduleRecord) {
    let state = step.state;
    let waits = |run: &Run| run.state == RunState::Queued && run.cause != Cause::Bulletin;
    for (_, run) in state.runs_of(known).filter(|(_, run)| waits(&run.run)) {
        if let Some(id) = state.run_id(run) {
            step.run_fact(&id, RunFact::Cancelled { reason: Reason::Replaced });
        }
    }
}

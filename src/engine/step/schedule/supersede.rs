//! Transition: a schedule is created under an id that may be in use. Then that schedule is defined anew, for the session that
//! asks: its slots, its runs and what is counted of it begin again. A run of the earlier definition that is out ends by itself,
//! and one that waits, for its session or for an approval, is cancelled.

use crate::domain::{
    Actor, Cause, Next, Reason, Redefinition, Refusal, Run, RunFact, RunState, ScheduleFact, Scope,
    SessionId, Via,
};
use crate::engine::new_schedule::NewSchedule;
use crate::engine::record::{ScheduleRecord, SessionRecord};
use crate::engine::state::Mode;
use crate::engine::step::schedule::create_schedule::{
    check_bytes, check_payload, check_settings, create_schedule, join_chain, scheduled,
};
use crate::engine::step::schedule::next_slot::first_slot;
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
    // It takes one more place in the session if it ended before, or belonged to another session.
    if (moves || known.status.is_terminal()) && is_full(session, new.session_live_max) {
        return Err(Refusal::SessionFull { max: new.session_live_max });
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
    let next = first_slot(step, &schedule, step.now.wall);
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

fn is_full(session: &SessionRecord, max: u32) -> bool {
    session.live_count() as u64 >= u64::from(max).min(limits::SESSION_SCHEDULES.value)
}

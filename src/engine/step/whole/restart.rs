//! Transition: the engine starts on restored state.
//!
//! Slots before this moment count as missed. Runs that were with a host are recovered as their schedules' policies say: handed
//! over again, failed, or left active until their timeout. A turn in an agent's own conversation had its receipt, and no policy
//! repeats it. What the built-in host had not acknowledged has not happened, because its transcript and the receipt are committed
//! together. Volatile runs are not restored; of tasks among them, their sessions are told (`lost_tasks.rs`).
//!
//! If the process goes on after a failure of the store, it still has volatile runs, and they are not touched; nor are durable
//! runs that this process has handed over and that are out still (`engine::still_out`).

use std::collections::BTreeSet;

use crate::domain::{
    Downtime, EngineFact, Fact, HostId, LostSchedule, Phase, Reason, Recovery, RunFact, RunState, Schedule,
    Status,
};
use crate::engine::record::{RunRecord, SessionRecord};
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::engine::step::run::bulletin::with_members;
use crate::engine::step::run::cut_off::{call_off, failure_in_flight, is_with_agent};
use crate::engine::step::run::dispatch::{cancel_stale, dispatch};
use crate::engine::step::run::failed::fail_unanswered;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::run::retry::fail;
use crate::engine::step::session::host_sessions::lose_turn;
use crate::engine::step::session::job_ready::arm_what_stood_still;
use crate::engine::step::whole::hold::fill_lanes;
use crate::engine::step::whole::lost_tasks::tell_of_lost_tasks;
use crate::engine::step_builder::StepBuilder;
use crate::engine::timers::Timer;

pub(in crate::engine) fn restart(
    step: &mut StepBuilder<'_>,
    (lost, named): (u64, &[LostSchedule]),
    downs: &[Downtime],
) {
    let state = step.state;
    let restarted = EngineFact::Restarted { lost, downs: downs.into(), named: named.into() };
    // Recorded first, because `StepBuilder::downs` reads it there.
    step.fact(Fact::Engine(restarted));
    tell_of_lost_tasks(step, named, downs);
    let is_restored = |run: &RunRecord| state.definition_of(run).is_some_and(Schedule::is_durable);
    let is_with_host = |run: &RunRecord| matches!(run.run.state, RunState::InFlight | RunState::Running);
    // A process that goes on after a failure of its store was not down.
    let goes_on = downs.is_empty();
    // This process handed it over: before the rows were loaded, or since, after a repeated report. No receipt is expected for a
    // run that a former process handed over.
    let is_out = |key: Key, run: &RunRecord| {
        goes_on && (state.still_at(run).is_some() || state.timers.deadline(Timer::Receipt(key)).is_some())
    };
    let with_host = state.runs.iter().filter(|(_, run)| is_with_host(run) && is_restored(run));
    // Lanes taken by this step. The state is the one before the step, so it still shows them as
    // free.
    let mut taken = BTreeSet::new();
    for (key, run) in with_host {
        if let Some(occurrence) = Occurrence::of(state, run).filter(|_| state.was_delivered(run)) {
            // Its turn has ended while that could not be stored.
            occurrence.finish(step, RunFact::Delivered);
        } else if let Some(session) = taken_over_idle(state, key, run) {
            lose_turn(step, session);
        } else if !is_out(key, run) {
            recover_run(step, key, run, &mut taken);
        }
    }
    empty_inboxes(step);
    arm_what_stood_still(step);
    fill_lanes(step, &taken);
}

/// Returns the session in which the turn of a run goes on, if a host that knows of no turn took it over while that could not be
/// stored.
fn taken_over_idle<'a>(state: &'a State, key: Key, run: &RunRecord) -> Option<&'a SessionRecord> {
    state.still_at(run).filter(|_| run.run.state == RunState::Running)?;
    let session = state.sessions.get(run.lane?)?;
    let is_others = session.hosted && session.host != HostId::AGENTS && run.run.host != Some(session.host);
    let is_idle = !session.busy && !session.turn_starting;
    Some(session).filter(|session| session.turn_of == Some(key) && is_others && is_idle)
}

/// Takes durable messages out of the inboxes of sessions that a host took over while that could not be stored. They go out with
/// what waits (`fill_lanes`).
fn empty_inboxes(step: &mut StepBuilder<'_>) {
    let state = step.state;
    for (_, session) in state.sessions.iter().filter(|(_, session)| session.has_strays()) {
        let reason = session.blocks_prompt().unwrap_or(Reason::DeliveryInFlight);
        for run in state.inbox(session).into_iter().filter_map(|run| state.run_id(run)) {
            step.run_fact(&run, RunFact::Queued { reason });
        }
    }
}

fn recover_run(step: &mut StepBuilder<'_>, key: Key, run: &RunRecord, taken: &mut BTreeSet<Key>) {
    // It ends with the delivery that it is in, and that one is recovered.
    let lead = run.run.lead.as_ref().and_then(|lead| step.state.run(lead));
    if lead.is_some_and(|lead| lead.run.state == RunState::InFlight) {
        return;
    }
    let is_call = run.run.phase == Some(Phase::Call);
    // The agent's own conversation shows whether the prompt got there, and its host reports that. A call is not in it.
    if run.run.host == Some(HostId::AGENTS) && run.run.state == RunState::InFlight && !is_call {
        return;
    }
    let Some(occurrence) = Occurrence::of(step.state, run) else { return };
    // The receipt says that the agent has the prompt, and nobody comes back to report the end of the turn.
    if run.run.state == RunState::Running && is_with_agent(step, run) {
        occurrence.finish(step, RunFact::Delivered);
        return;
    }
    let policy = occurrence.schedule.policy();
    let may_be_active = run.run.host.is_some_and(HostId::is_attached);
    // The turn may go on at the host, which may come back and report its end. The timeout bounds
    // the wait.
    if may_be_active && !is_call && policy.recovery == Recovery::Fail && policy.timeout.is_some() {
        return;
    }
    let text = "the process ended, or its store failed, while the run was with its host";
    let failure = failure_in_flight(run, Reason::Crashed, text);
    let is_cancelled = occurrence.record.status == Status::Cancelled;
    // An existing fresh session is not created a second time, a message that was on its way out may
    // have arrived and a call may have been made, and a cancelled run is not repeated.
    let may_be_done = is_call || run.run.phase == Some(Phase::Outside);
    if is_call {
        // In a process that goes on after a failure of the store, the executor still has it.
        call_off(step, run);
    }
    if may_be_active || run.run.session_created || may_be_done || is_cancelled {
        with_members(step, &occurrence.id, |step, member| _ = fail(step, member, failure.clone()));
        fail_unanswered(step, run, failure, None);
        return;
    }
    let (at, due) = (step.now.wall, step.now.boot);
    with_members(step, &occurrence.id, |step, member| {
        step.run_fact(&member.id, RunFact::Retrying { failure: Box::new(failure.clone()), at, due });
    });
    step.run_fact(&occurrence.id, RunFact::Retrying { failure: Box::new(failure), at, due });
    // The run was already at the head of its lane and stays there, before anything that is due by
    // now, unless its own timeout is over too.
    let time_up = step.state.timers.deadline(Timer::TimeUp(key)).is_some_and(|end| end <= due);
    let waits = time_up || step.held || occurrence.is_paused() || occurrence.is_frozen(step.state);
    let place = occurrence.destination(step.state);
    // In a process that goes on, a volatile run may occupy the lane.
    let waits = waits || place.blocks().is_some();
    let lane = place.lane();
    let is_free = lane.is_none_or(|lane| !taken.contains(&lane));
    if !waits && is_free && !cancel_stale(step, &occurrence) && dispatch(step, &occurrence) {
        taken.extend(lane);
    }
}

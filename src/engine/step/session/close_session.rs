//! Transition: a session is closed. Schedules that die with it are cancelled, runs that go into it
//! fail, and its records are dropped.

use std::collections::BTreeSet;

use crate::domain::{
    Actor, Cause, Phase, Reason, Refusal, RunFact, RunId, RunState, ScheduleFact, SessionFact, SessionId,
};
use crate::engine::effect::Effect;
use crate::engine::record::{RunRecord, ScheduleRecord, SessionRecord};
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::engine::step::run::bulletin::await_session;
use crate::engine::step::run::cut_off::{call_off, failure_in_flight};
use crate::engine::step::run::dispatch::dispatch_runs;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn close_session(
    step: &mut StepBuilder<'_>,
    session: &SessionId,
    by: Option<Actor>,
) -> Result<(), Refusal> {
    let state = step.state;
    let Some((key, record)) =
        state.session_key(session).and_then(|key| Some((key, state.sessions.get(key)?)))
    else {
        return Err(Refusal::UnknownSession { session: session.clone() });
    };
    close(step, key, record, None, by);
    Ok(())
}

/// Closes a session. `ended` is a run that this step has ended already.
pub(in crate::engine::step) fn close(
    step: &mut StepBuilder<'_>,
    key: Key,
    record: &SessionRecord,
    ended: Option<&RunId>,
    by: Option<Actor>,
) {
    let (state, session) = (step.state, &record.id);
    // Runs come first: those of the session's schedules, and those of others that go into it.
    let (concerned, mut freed) = (runs_concerned(state, key, record), Vec::new());
    for run in &concerned {
        let Some(run) = state.runs.get(*run) else { continue };
        let Some(mut occurrence) = Occurrence::of(state, run) else { continue };
        if ended == Some(&occurrence.id) {
            continue;
        }
        if dies(occurrence.record, key) {
            if run.run.state == RunState::Queued && !occurrence.record.status.is_terminal() {
                // The cancellation of its schedule below includes it. A schedule that has ended is not cancelled, but its
                // message may wait for a host that took the inbox over.
                continue;
            }
            // The schedule ends here, so no slot may be armed by the end of its run.
            occurrence.arms = false;
        } else if run.run.state == RunState::Queued && occurrence.cause == Cause::Bulletin {
            // Its schedule goes on without the session, and so does what there is to tell.
            await_session(step, &occurrence.id);
            continue;
        }
        occurrence.finish(step, cancelled(run));
        if run.run.state == RunState::InFlight {
            // The lane of another session may have become free.
            freed.extend(state.lane(run).filter(|lane| lane.id != *session && lane.hosted && !lane.busy));
        }
        // Its host may still be creating a session for the run.
        call_off(step, run);
    }
    for schedule in record.live.iter().filter_map(|key| state.schedules.get(*key)) {
        // A schedule without slots and waiting runs ended with the last run above.
        if dies(schedule, key) && has_more(state, schedule) {
            let cancelled = ScheduleFact::Cancelled { reason: Reason::SessionClosed, by: None };
            step.schedule_fact(&schedule.schedule.id, cancelled);
        }
    }
    for lane in freed {
        // In the state, the runs that end with the session are still in that queue.
        let stay = lane.waiting.iter().filter(|run| !concerned.contains(*run));
        dispatch_runs(step, lane, lane.host, state.in_delivery_order(stay), &mut false);
    }
    step.session_fact_by(session, SessionFact::Closed, by);
    step.effect(Effect::ForgetSession { host: record.host, session: session.clone() });
}

/// Returns whether anything is left of a schedule once its runs with hosts have ended.
fn has_more(state: &State, schedule: &ScheduleRecord) -> bool {
    let progress = schedule.progress();
    let waits = || state.runs_of(schedule).any(|(_, run)| run.run.state == RunState::Queued);
    schedule.next.is_some() || progress.awaits() || waits()
}

/// Returns whether a schedule ends with this session.
fn dies(schedule: &ScheduleRecord, session: Key) -> bool {
    let is_its = schedule.owner == Some(session);
    is_its && (schedule.schedule.lifetime().dies_with_session || !schedule.schedule.is_durable())
}

/// Returns the runs that cannot outlive a session: those of schedules that die with it, those that
/// wait for it or are with it, and those whose fresh session is being created, because it inherits
/// from this one.
fn runs_concerned(state: &State, key: Key, session: &SessionRecord) -> BTreeSet<Key> {
    let own = session.schedule_keys().filter_map(|key| state.schedules.get(key));
    let own = own.flat_map(|schedule| {
        let dies = dies(schedule, key);
        let creates = |run: &RunRecord| run.run.phase == Some(Phase::CreateSession);
        let tells = |run: &RunRecord| run.run.cause == Cause::Bulletin;
        state.runs_of(schedule).filter(move |(_, run)| run.is_live() && (dies || creates(run) || tells(run)))
    });
    let own = own.map(|(run, _)| run);
    // Runs that wait for this session, are out to it, or whose turn goes on in it. Their schedules may be those of others.
    let lane = session.waiting.iter().chain(&session.in_flight).chain(&session.turn_of).copied();
    own.chain(lane).collect()
}

fn cancelled(run: &RunRecord) -> RunFact {
    let text = match run.run.state {
        RunState::Queued => return RunFact::Cancelled { reason: Reason::SessionClosed },
        RunState::Running => "the session was closed while the turn went on",
        RunState::InFlight
        | RunState::Left
        | RunState::Delivered
        | RunState::Cancelled
        | RunState::Failed => "the session was closed while the delivery was out",
    };
    RunFact::Failed(Box::new(failure_in_flight(run, Reason::SessionClosed, text)))
}

//! A session is closed: what dies with it is called off, what goes into it fails, and its records go.

use std::collections::BTreeSet;

use super::failed::{failure_in_flight, forget_orphan};
use super::finish_run::finish_run;
use super::hand_over::hand_over_next;
use super::occurrence::Occurrence;
use crate::domain::{Phase, Reason, Refusal, RunFact, RunState, ScheduleFact, SessionFact, SessionId};
use crate::engine::draft::Draft;
use crate::engine::effect::Effect;
use crate::engine::record::{RunRecord, ScheduleRecord, SessionRecord};
use crate::engine::slab::Key;
use crate::engine::state::State;

pub(in crate::engine) fn close_session(draft: &mut Draft<'_>, session: &SessionId) -> Result<(), Refusal> {
    let state = draft.state;
    let Some((key, record)) =
        state.session_key(session).and_then(|key| Some((key, state.sessions.get(key)?)))
    else {
        return Err(Refusal::UnknownSession { session: session.clone() });
    };
    // First the runs, wherever they go: those of this session's schedules, and those that go into it.
    for run in runs_concerned(state, key, record) {
        let Some(run) = state.runs.get(run) else { continue };
        let Some(mut occurrence) = Occurrence::of(state, run) else { continue };
        if dies(occurrence.record, key) {
            if run.run.state == RunState::Queued {
                // Called off with its schedule.
                continue;
            }
            // Nothing counts from its end: the schedule goes too, and only once.
            occurrence.arms = false;
        }
        finish_run(draft, &occurrence, call_off(run));
        // The lane of another session may have become free.
        let lane = state.lane(run).filter(|lane| lane.id != *session && lane.hosted && !lane.busy);
        if let Some(lane) = lane.filter(|_| run.run.state == RunState::InFlight) {
            hand_over_next(draft, lane);
        }
        forget_orphan(draft, run);
    }
    for schedule in record.live.iter().filter_map(|key| state.schedules.get(*key)) {
        if dies(schedule, key) && has_more(state, schedule) {
            let reason = Reason::SessionClosed;
            draft.schedule_fact(&schedule.schedule.id, ScheduleFact::Cancelled { reason, by: None });
        }
    }
    draft.session_fact(session, SessionFact::Closed);
    draft.effect(Effect::ForgetSession { host: record.host, session: session.clone() });
    Ok(())
}

/// Whether anything is left of a schedule once its runs with hosts have ended.
fn has_more(state: &State, schedule: &ScheduleRecord) -> bool {
    let course = schedule.course();
    let waits = || state.runs_of(schedule).any(|(_, run)| run.run.state == RunState::Queued);
    schedule.next.is_some() || course.awaits() || waits()
}

/// Whether a schedule ends with the session of this number.
fn dies(schedule: &ScheduleRecord, session: Key) -> bool {
    let is_its = schedule.owner == Some(session);
    is_its && (schedule.schedule.lifetime().dies_with_session || !schedule.schedule.is_durable())
}

/// The runs that cannot outlive a session: of the schedules that die with it, those that wait for it or are with it, and
/// those whose fresh session is being created, which takes after this one.
fn runs_concerned(state: &State, key: Key, session: &SessionRecord) -> BTreeSet<Key> {
    let own = session.schedule_keys().filter_map(|key| state.schedules.get(key));
    let own = own.flat_map(|schedule| {
        let dies = dies(schedule, key);
        let creates = |run: &RunRecord| run.run.phase == Some(Phase::CreateSession);
        state.runs_of(schedule).filter(move |(_, run)| run.is_live() && (dies || creates(run)))
    });
    let own = own.map(|(run, _)| run);
    let lane = session.waiting.iter().chain(&session.in_flight).chain(&session.turn_of).copied();
    own.chain(lane).collect()
}

fn call_off(run: &RunRecord) -> RunFact {
    let text = match run.run.state {
        RunState::Queued => return RunFact::Cancelled { reason: Reason::SessionClosed },
        RunState::Running => "the session was closed while the turn went on",
        RunState::InFlight | RunState::Delivered | RunState::Cancelled | RunState::Failed => {
            "the session was closed while the delivery was out"
        }
    };
    RunFact::Failed(Box::new(failure_in_flight(run, Reason::SessionClosed, text)))
}

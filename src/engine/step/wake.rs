//! Time passed: the earliest deadline, if it is due, is dealt with. One deadline, one step.

use super::answered::unanswered;
use super::busy::end_turn;
use super::failed::{fail_in_flight, failure_in_flight, forget_orphan};
use super::finish_run::finish_run;
use super::fire::fire;
use super::hand_over::{call_off_stale, hand_over, hand_over_next};
use super::occurrence::Occurrence;
use super::settle::settle;
use crate::domain::{Reason, RunFact, RunState, SessionFact};
use crate::engine::draft::Draft;
use crate::engine::place::Place;
use crate::engine::record::{RunRecord, SessionRecord};
use crate::engine::state::Mode;
use crate::engine::timers::Timer;

pub(in crate::engine) fn wake(draft: &mut Draft<'_>) {
    let state = draft.state;
    if state.mode != Mode::Running && settle(draft) {
        return;
    }
    let due = state.first_timer(draft.now).filter(|(deadline, _)| *deadline <= draft.now.boot);
    match due.map(|(_, timer)| timer) {
        None => {}
        Some(Timer::Slot(key)) => {
            if let Some(record) = state.schedules.get(key) {
                fire(draft, record);
            }
        }
        Some(Timer::Receipt(key)) => with_run(draft, key, give_up),
        Some(Timer::Retry(key)) => with_run(draft, key, try_again),
        Some(Timer::Word(key)) => with_run(draft, key, unanswered),
        Some(Timer::TimeUp(key)) => with_run(draft, key, time_up),
        Some(Timer::Turn(key)) => {
            if let Some(session) = state.sessions.get(key) {
                presume_idle(draft, session);
            }
        }
    }
}

fn with_run(draft: &mut Draft<'_>, key: crate::engine::slab::Key, then: fn(&mut Draft<'_>, &RunRecord)) {
    if let Some(run) = draft.state.runs.get(key) {
        then(draft, run);
    }
}

/// The host has not answered in time.
fn give_up(draft: &mut Draft<'_>, record: &RunRecord) {
    let text = "the host did not acknowledge the delivery in time";
    forget_orphan(draft, record);
    fail_in_flight(draft, record, failure_in_flight(record, Reason::ReceiptOverdue, text));
}

/// The wait before the next attempt is over.
pub(super) fn try_again(draft: &mut Draft<'_>, record: &RunRecord) {
    if let Some(occurrence) = Occurrence::of(draft.state, record) {
        try_again_as(draft, &occurrence);
    }
}

/// A run that waited with nobody goes its way again: to its host, or to where it waits for that.
pub(super) fn try_again_as(draft: &mut Draft<'_>, occurrence: &Occurrence<'_>) {
    match occurrence.blocked(draft) {
        Some(reason) => draft.run_fact(&occurrence.id, RunFact::Queued { reason }),
        None => {
            // One that goes nowhere fails, and says so.
            let goes = !matches!(occurrence.place(draft.state), Place::Nowhere(_));
            if !(goes && call_off_stale(draft, occurrence)) {
                hand_over(draft, occurrence);
            }
        }
    }
}

/// A run has not ended within its time. Nobody stops the turn that it may have begun; what its host says later is not heard.
fn time_up(draft: &mut Draft<'_>, record: &RunRecord) {
    let state = draft.state;
    let Some(occurrence) = Occurrence::of(state, record) else { return };
    let allowed = occurrence.schedule.policy().timeout.map_or(0, crate::domain::Span::millis);
    let text = format!("timed out after {} seconds", allowed as f64 / 1_000.0);
    forget_orphan(draft, record);
    finish_run(
        draft,
        &occurrence,
        RunFact::Failed(Box::new(failure_in_flight(record, Reason::TimedOut, &text))),
    );
    let lane = state.lane(record).filter(|lane| lane.hosted && !lane.busy);
    if let Some(lane) = lane.filter(|_| record.run.state == RunState::InFlight) {
        hand_over_next(draft, lane);
    }
}

/// The host has reported no turn: the session is idle again.
fn presume_idle(draft: &mut Draft<'_>, session: &SessionRecord) {
    draft.session_fact(&session.id, SessionFact::TurnUnreported);
    if !session.busy {
        end_turn(draft, session);
    }
}

//! Transition: time passed. The earliest deadline, if it is due, is handled. One deadline, one
//! step.

use crate::domain::{Phase, Reason, RunFact, RunState, SessionFact};
use crate::engine::record::{RunRecord, SessionRecord};
use crate::engine::state::Mode;
use crate::engine::step::run::cut_off::{call_off, failure_in_flight};
use crate::engine::step::run::dispatch::{dispatch_next, try_again};
use crate::engine::step::run::failed::fail_in_flight;
use crate::engine::step::run::fire::fire;
use crate::engine::step::run::guard_answered::guard_timed_out;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::session::busy::end_turn;
use crate::engine::step::whole::drain::drain;
use crate::engine::step_builder::StepBuilder;
use crate::engine::timers::Timer;
use crate::limits;

pub(in crate::engine) fn wake(step: &mut StepBuilder<'_>) {
    let state = step.state;
    // Cancelling comes first. After that only receipts and other deadlines are left.
    if state.mode != Mode::Running && drain(step) {
        return;
    }
    let due = state.first_timer(step.now).filter(|(deadline, _)| *deadline <= step.now.boot);
    match due.map(|(_, timer)| timer) {
        None => {}
        Some(Timer::Slot(key)) => {
            if let Some(record) = state.schedules.get(key) {
                fire(step, record);
            }
        }
        Some(Timer::Receipt(key)) => with_run(step, key, give_up),
        Some(Timer::Retry(key)) => with_run(step, key, try_again),
        Some(Timer::Approval(key)) => with_run(step, key, guard_timed_out),
        Some(Timer::TimeUp(key)) => with_run(step, key, time_up),
        Some(Timer::Turn(key)) => {
            if let Some(session) = state.sessions.get(key) {
                presume_idle(step, session);
            }
        }
    }
}

fn with_run(
    step: &mut StepBuilder<'_>,
    key: crate::engine::slab::Key,
    then: fn(&mut StepBuilder<'_>, &RunRecord),
) {
    if let Some(run) = step.state.runs.get(key) {
        then(step, run);
    }
}

/// Ends an attempt whose receipt is overdue.
fn give_up(step: &mut StepBuilder<'_>, record: &RunRecord) {
    // A call has no receipt. This timer is the end of its time.
    if record.run.phase == Some(Phase::Call) {
        return time_up(step, record);
    }
    let text = "the host did not acknowledge the delivery in time";
    // The host may still be creating the session. Nobody would close it.
    call_off(step, record);
    fail_in_flight(step, record, failure_in_flight(record, Reason::ReceiptOverdue, text), None);
}

/// Fails a run that has reached its timeout. A turn that it may have begun is not stopped, a call is if
/// its executor can, and later reports about the run are refused.
fn time_up(step: &mut StepBuilder<'_>, record: &RunRecord) {
    let state = step.state;
    let Some(occurrence) = Occurrence::of(state, record) else { return };
    let is_call = record.run.phase == Some(Phase::Call);
    // For the text alone: a call without a timeout of its own has the general bound.
    let plain = if is_call { limits::CALL_MS.value } else { 0 };
    let allowed = occurrence.schedule.policy().timeout.map_or(plain, crate::domain::Span::millis);
    let text = format!("timed out after {} seconds", allowed as f64 / 1_000.0);
    call_off(step, record);
    occurrence.finish(step, RunFact::Failed(Box::new(failure_in_flight(record, Reason::TimedOut, &text))));
    // If its receipt was outstanding, the lane is free now.
    let lane = state.lane(record).filter(|lane| lane.hosted && !lane.busy);
    if let Some(lane) = lane.filter(|_| record.run.state == RunState::InFlight) {
        dispatch_next(step, lane);
    }
}

/// Treats a session as idle again, because its host did not report the presumed turn in time.
fn presume_idle(step: &mut StepBuilder<'_>, session: &SessionRecord) {
    step.session_fact(&session.id, SessionFact::TurnUnreported);
    // A turn that the host did report goes on, so nothing is handed over.
    if !session.busy {
        end_turn(step, session, None);
    }
}

//! Time passed: the earliest deadline, if it is due, is dealt with. One deadline, one step.

use super::failed::{fail, failure_in_flight, forget_orphan};
use super::hand_over::{hand_over, hand_over_next};
use super::settle::settle;
use crate::domain::{Cause, Reason, RunFact, SessionFact, Status};
use crate::engine::draft::Draft;
use crate::engine::record::{ScheduleRecord, SessionRecord};
use crate::engine::state::Mode;
use crate::engine::timers::Timer;

pub(in crate::engine) fn wake(draft: &mut Draft<'_>) {
    let state = draft.state;
    if state.mode != Mode::Running && settle(draft) {
        return;
    }
    let hurry = state.mode == Mode::Abandoning;
    let due = state.timers.first().filter(|(deadline, _)| *deadline <= draft.now.boot || hurry);
    match due.map(|(_, timer)| timer) {
        None => {}
        Some(Timer::Slot(key)) => {
            if let Some(record) = state.schedules.get(key) {
                fire(draft, record);
            }
        }
        Some(Timer::Receipt(key)) => {
            if let Some(record) = state.schedules.get(key) {
                give_up(draft, record);
            }
        }
        Some(Timer::Turn(key)) => {
            if let Some(session) = state.sessions.get(key) {
                presume_idle(draft, session);
            }
        }
    }
}

/// A slot has come: it is claimed, and its run is handed over or waits.
fn fire(draft: &mut Draft<'_>, record: &ScheduleRecord) {
    debug_assert_eq!(
        record.status,
        Status::Pending,
        "only pending schedules can fire: {}",
        record.schedule.id
    );
    let Some(owner) = draft.state.sessions.get(record.owner) else {
        return;
    };
    let id = &record.schedule.id;
    let slot = record.schedule.trigger.first_slot();
    draft.run_fact(id, RunFact::Claimed { slot, cause: Cause::Slot });
    match owner.blocks(record.schedule.target()) {
        Some(reason) => draft.run_fact(id, RunFact::Queued { reason }),
        None => hand_over(draft, record, owner, owner.host),
    }
}

/// The host has not answered in time.
fn give_up(draft: &mut Draft<'_>, record: &ScheduleRecord) {
    let text = "the host did not acknowledge the delivery in time";
    forget_orphan(draft, record);
    fail(draft, record, failure_in_flight(record, Reason::ReceiptOverdue, text));
}

/// The host has reported no turn: the session is idle again.
fn presume_idle(draft: &mut Draft<'_>, session: &SessionRecord) {
    draft.session_fact(&session.id, SessionFact::TurnUnreported);
    if session.hosted && !session.busy && session.in_flight.is_none() {
        hand_over_next(draft, session);
    }
}

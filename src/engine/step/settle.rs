//! A stopping engine calls off what waits: one session's schedules, or one receipt given up, per wake-up.

use super::failed::{failure_in_flight, forget_orphan};
use crate::domain::{Reason, RunFact, Status};
use crate::engine::draft::Draft;
use crate::engine::state::Mode;
use crate::engine::timers::Timer;

/// Whether there was something left to call off.
pub(super) fn settle(draft: &mut Draft<'_>) -> bool {
    let state = draft.state;
    if let Some(session) = state.unstarted.first().and_then(|key| state.sessions.get(*key)) {
        for record in session.live.iter().filter_map(|key| state.schedules.get(*key)) {
            if matches!(record.status, Status::Pending | Status::Queued) {
                draft.run_fact(&record.schedule.id, RunFact::Cancelled { reason: Reason::Shutdown });
            }
        }
        return true;
    }
    let first = state.timers.first().filter(|_| state.mode == Mode::Abandoning);
    let Some((_, Timer::Receipt(key))) = first else {
        return false;
    };
    let Some(record) = state.schedules.get(key) else {
        return false;
    };
    let failure = failure_in_flight(record, Reason::Shutdown, "the engine stopped before the receipt came");
    forget_orphan(draft, record);
    draft.run_fact(&record.schedule.id, RunFact::Failed(Box::new(failure)));
    true
}

//! A stopping engine calls off what is in memory only: one session's schedules, or one receipt given up, per wake-up. What is
//! on disk stays as it is, for whoever starts next.

use super::failed::{failure_in_flight, forget_orphan};
use super::finish_run::finish_run;
use super::occurrence::Occurrence;
use crate::domain::{Reason, RunFact, ScheduleFact};
use crate::engine::draft::Draft;
use crate::engine::record::RunRecord;
use crate::engine::state::Mode;

/// Whether there was something left to call off.
pub(super) fn settle(draft: &mut Draft<'_>) -> bool {
    let state = draft.state;
    if let Some(session) = state.unstarted.first().and_then(|key| state.sessions.get(*key)) {
        let live = session.live.iter().filter_map(|key| state.schedules.get(*key));
        for record in live.filter(|record| record.is_unstarted() && !record.schedule.is_durable()) {
            let reason = Reason::Shutdown;
            draft.schedule_fact(&record.schedule.id, ScheduleFact::Cancelled { reason, by: None });
        }
        return true;
    }
    if let Some(run) = state.turns.first().and_then(|key| state.runs.get(*key)) {
        give_up(draft, run, "the engine stopped while the turn went on");
        return true;
    }
    let first = state.timers.first_receipt().filter(|_| state.mode == Mode::Abandoning);
    let Some(run) = first.and_then(|key| state.runs.get(key)) else {
        return false;
    };
    give_up(draft, run, "the engine stopped before the receipt came");
    true
}

fn give_up(draft: &mut Draft<'_>, run: &RunRecord, text: &str) {
    let Some(occurrence) = Occurrence::of(draft.state, run) else { return };
    forget_orphan(draft, run);
    let failure = failure_in_flight(run, Reason::Shutdown, text);
    finish_run(draft, &occurrence, RunFact::Failed(Box::new(failure)));
}

//! Shutdown: a stopping engine cancels volatile work, one session's schedules or one run per
//! wake-up. Durable work stays as it is, for the next process.

use crate::domain::{Reason, RunFact, ScheduleFact};
use crate::engine::record::RunRecord;
use crate::engine::state::Mode;
use crate::engine::step::run::bulletin::with_members;
use crate::engine::step::run::cut_off::{call_off, failure_in_flight};
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step_builder::StepBuilder;

/// Takes one step of the shutdown; returns whether there was anything left to cancel.
pub(in crate::engine::step) fn drain(step: &mut StepBuilder<'_>) -> bool {
    let state = step.state;
    if let Some(session) = state.unstarted.first().and_then(|key| state.sessions.get(*key)) {
        let live = session.live.iter().filter_map(|key| state.schedules.get(*key));
        for record in live.filter(|record| record.is_unstarted() && !record.schedule.is_durable()) {
            let reason = Reason::Shutdown;
            step.schedule_fact(&record.schedule.id, ScheduleFact::Cancelled { reason, by: None });
        }
        return true;
    }
    // No volatile schedule is left to cancel. What goes on is with hosts.
    if let Some(run) = state.turns.first().and_then(|key| state.runs.get(*key)) {
        give_up(step, run, "the engine stopped while the turn went on");
        return true;
    }
    let first = state.timers.first_receipt().filter(|_| state.mode == Mode::Abandoning);
    let Some(run) = first.and_then(|key| state.runs.get(key)) else {
        return false;
    };
    give_up(step, run, "the engine stopped before the receipt came");
    true
}

fn give_up(step: &mut StepBuilder<'_>, run: &RunRecord, text: &str) {
    let Some(occurrence) = Occurrence::of(step.state, run) else { return };
    call_off(step, run);
    let failure = failure_in_flight(run, Reason::Shutdown, text);
    with_members(step, &occurrence.id, |step, member| {
        member.finish(step, RunFact::Failed(Box::new(failure.clone())));
    });
    occurrence.finish(step, RunFact::Failed(Box::new(failure)));
}

//! Transition: a host reports that a turn began, or that nothing runs any more.

use std::sync::Arc;

use crate::domain::{Actor, Refusal, RunFact, SessionFact, SessionId};
use crate::engine::record::SessionRecord;
use crate::engine::step::run::dispatch::dispatch_next;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn busy(
    step: &mut StepBuilder<'_>,
    session: SessionId,
    busy: bool,
    by: Option<Actor>,
) -> Result<(), Refusal> {
    let Some(record) = step.state.session(&session) else {
        return Err(Refusal::UnknownSession { session });
    };
    // A repeated report is not a transition. Acting on it would hand over a second delivery.
    if record.busy == busy && !record.turn_starting {
        return Ok(());
    }
    // The actor is copied only if a run ends with this report.
    let has_turn = !busy && record.turn_of.is_some();
    let reporter = by.as_ref().filter(|_| has_turn).cloned().map(Arc::new);
    step.session_fact_by(&session, if busy { SessionFact::Busy } else { SessionFact::Idle }, by);
    if !busy {
        end_turn(step, record, reporter);
    }
    Ok(())
}

/// Ends the turn of a session, as this actor reported: its run is finished, and the next run is handed over.
pub(in crate::engine::step) fn end_turn(
    step: &mut StepBuilder<'_>,
    session: &SessionRecord,
    by: Option<Arc<Actor>>,
) {
    finish_turn(step, session, by);
    if session.hosted && session.in_flight.is_none() {
        dispatch_next(step, session);
    }
}

/// Finishes the run that waited for the end of the session's turn, if there is one, as this actor reported.
pub(in crate::engine::step) fn finish_turn(
    step: &mut StepBuilder<'_>,
    session: &SessionRecord,
    by: Option<Arc<Actor>>,
) {
    let run = session.turn_of.and_then(|key| step.state.runs.get(key));
    if let Some(occurrence) = run.and_then(|run| Occurrence::of(step.state, run)) {
        occurrence.reported_by(by).finish(step, RunFact::Delivered);
    }
}

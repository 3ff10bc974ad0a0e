//! A host reports that a turn began or that nothing runs any more.

use super::finish_run::finish_run;
use super::hand_over::hand_over_next;
use super::occurrence::Occurrence;
use crate::domain::{Refusal, RunFact, SessionFact, SessionId};
use crate::engine::draft::Draft;
use crate::engine::record::SessionRecord;

pub(in crate::engine) fn busy(draft: &mut Draft<'_>, session: SessionId, busy: bool) -> Result<(), Refusal> {
    let Some(record) = draft.state.session(&session) else {
        return Err(Refusal::UnknownSession { session });
    };
    // A repeated report is no transition: it must not let a second delivery out.
    if record.busy == busy && !record.turn_starting {
        return Ok(());
    }
    draft.session_fact(&session, if busy { SessionFact::Busy } else { SessionFact::Idle });
    if !busy {
        end_turn(draft, record);
    }
    Ok(())
}

/// The turn of a session has ended: so has the run that waited for that, and the next may come.
pub(super) fn end_turn(draft: &mut Draft<'_>, session: &SessionRecord) {
    finish_turn(draft, session);
    if session.hosted && session.in_flight.is_none() {
        hand_over_next(draft, session);
    }
}

/// The run that waited for the end of a session's turn has it.
pub(super) fn finish_turn(draft: &mut Draft<'_>, session: &SessionRecord) {
    let run = session.turn_of.and_then(|key| draft.state.runs.get(key));
    if let Some(occurrence) = run.and_then(|run| Occurrence::of(draft.state, run)) {
        finish_run(draft, &occurrence, RunFact::Delivered);
    }
}

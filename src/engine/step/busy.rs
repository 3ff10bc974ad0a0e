//! A host reports that a turn began or that nothing runs any more.

use super::hand_over::hand_over_next;
use crate::domain::{Refusal, SessionFact, SessionId};
use crate::engine::draft::Draft;

pub(in crate::engine) fn busy(draft: &mut Draft<'_>, session: SessionId, busy: bool) -> Result<(), Refusal> {
    let Some(record) = draft.state.session(&session) else {
        return Err(Refusal::UnknownSession { session });
    };
    // A repeated report is no transition: it must not let a second delivery out.
    if record.busy == busy && !record.turn_starting {
        return Ok(());
    }
    draft.session_fact(&session, if busy { SessionFact::Busy } else { SessionFact::Idle });
    if !busy && record.hosted && record.in_flight.is_none() {
        hand_over_next(draft, record);
    }
    Ok(())
}

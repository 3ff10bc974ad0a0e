//! A connected host takes sessions over: built-in ones, or ones whose host is gone. All of them or none.

use super::busy::finish_turn;
use super::hand_over::hand_over_waiting;
use crate::domain::{HostId, Refusal, SessionFact, SessionId};
use crate::engine::draft::Draft;

pub(in crate::engine) fn host_sessions(
    draft: &mut Draft<'_>,
    host: HostId,
    sessions: &[SessionId],
) -> Result<(), Refusal> {
    let state = draft.state;
    state.check_host(host)?;
    for (place, id) in sessions.iter().enumerate() {
        let record = state.session(id).ok_or_else(|| Refusal::UnknownSession { session: id.clone() })?;
        let theirs_already = record.host == host && record.hosted;
        if theirs_already || sessions[..place].contains(id) {
            continue;
        }
        if record.hosted && record.host.is_attached() {
            return Err(Refusal::HostedElsewhere { session: id.clone(), host: record.host });
        }
        if record.hosted {
            // The built-in host's turn is over: the new one knows nothing of it.
            finish_turn(draft, record);
        }
        draft.session_fact(id, SessionFact::Hosted { host });
        // Every run for a fresh session needed only a host; of the others the first gets the lane.
        hand_over_waiting(draft, record, host, &mut record.in_flight.is_some());
    }
    Ok(())
}

//! A connected host takes sessions over: built-in ones, or ones whose host is gone. All of them or none.

use super::hand_over::hand_over;
use crate::domain::{HostId, Refusal, SessionFact, SessionId, Target};
use crate::engine::draft::Draft;
use crate::engine::record::SessionRecord;
use crate::engine::state::Mode;

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
        draft.session_fact(id, SessionFact::Hosted { host });
        hand_over_what_waited(draft, record, host);
    }
    Ok(())
}

/// Every run for a fresh session needed only a host; of the others the first gets the lane.
fn hand_over_what_waited(draft: &mut Draft<'_>, session: &SessionRecord, host: HostId) {
    if draft.state.mode != Mode::Running {
        return;
    }
    let mut lane_taken = session.in_flight.is_some();
    for record in draft.state.waiting(session) {
        let takes_lane = record.schedule.target() == Target::Owner;
        if takes_lane && lane_taken {
            continue;
        }
        lane_taken |= takes_lane;
        hand_over(draft, record, session, host);
    }
}

//! A session is closed: what it owns is called off, nothing fires for it later, and its records go.

use std::collections::BTreeSet;

use super::failed::{failure_in_flight, forget_orphan};
use super::hand_over::hand_over_next;
use crate::domain::{Reason, Refusal, RunFact, SessionFact, SessionId, Status};
use crate::engine::draft::Draft;
use crate::engine::effect::Effect;
use crate::engine::record::ScheduleRecord;

pub(in crate::engine) fn close_session(draft: &mut Draft<'_>, session: &SessionId) -> Result<(), Refusal> {
    let state = draft.state;
    let Some(record) = state.session(session) else {
        return Err(Refusal::UnknownSession { session: session.clone() });
    };
    // A delivery into this session may belong to another session's schedule, which opened this one.
    let keys: BTreeSet<_> = record.live.iter().chain(&record.in_flight).copied().collect();
    for schedule in keys.into_iter().filter_map(|key| state.schedules.get(key)) {
        draft.run_fact(&schedule.schedule.id, call_off(schedule));
        // The lane of another session may have become free.
        if let Some(lane) =
            state.lane(schedule).filter(|lane| lane.id != *session && lane.hosted && !lane.busy)
        {
            hand_over_next(draft, lane);
        }
        forget_orphan(draft, schedule);
    }
    draft.session_fact(session, SessionFact::Closed);
    draft.effect(Effect::ForgetSession { host: record.host, session: session.clone() });
    Ok(())
}

fn call_off(record: &ScheduleRecord) -> RunFact {
    if record.status == Status::InFlight {
        let text = "the session was closed while the delivery was out";
        RunFact::Failed(Box::new(failure_in_flight(record, Reason::SessionClosed, text)))
    } else {
        RunFact::Cancelled { reason: Reason::SessionClosed }
    }
}

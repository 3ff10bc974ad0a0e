//! A connected host is gone: what it was working on has failed; what waits stays queued, visibly.

use std::collections::BTreeSet;

use super::failed::failure_in_flight;
use crate::domain::{Fact, HostFact, HostId, Reason, RunFact, SessionFact, Status};
use crate::engine::draft::Draft;

pub(in crate::engine) fn host_lost(draft: &mut Draft<'_>, host: HostId) {
    let state = draft.state;
    let sessions = state.hosts.get(&host).into_iter().flatten();
    let sessions: Vec<_> = sessions.filter_map(|key| state.sessions.get(*key)).collect();
    let keys: BTreeSet<_> =
        sessions.iter().flat_map(|session| session.live.iter().chain(&session.in_flight)).collect();
    for record in keys.into_iter().filter_map(|key| state.schedules.get(*key)) {
        let handed = record.run().is_some_and(|run| run.host == Some(host));
        if handed && record.status == Status::InFlight {
            let text = "the host's connection was lost while the delivery was out";
            let failure = failure_in_flight(record, Reason::HostLost, text);
            draft.run_fact(&record.schedule.id, RunFact::Failed(Box::new(failure)));
        }
    }
    for session in sessions {
        draft.session_fact(&session.id, SessionFact::Unhosted);
    }
    if state.hosts.contains_key(&host) {
        draft.fact(Fact::Host(host, HostFact::Lost));
    }
}

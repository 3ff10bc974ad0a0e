//! A connected host is gone: what it was working on has failed or is tried again; what waits stays queued, visibly.

use std::collections::BTreeSet;

use super::failed::{fail_unanswered, failure_in_flight};
use crate::domain::{Fact, HostFact, HostId, Reason, Recovery, RunState, SessionFact};
use crate::engine::draft::Draft;
use crate::engine::record::{RunRecord, SessionRecord};

pub(in crate::engine) fn host_lost(draft: &mut Draft<'_>, host: HostId) {
    let state = draft.state;
    let sessions = state.hosts.get(&host).into_iter().flatten();
    let sessions: Vec<&SessionRecord> = sessions.filter_map(|key| state.sessions.get(*key)).collect();
    let schedules = sessions.iter().flat_map(|session| session.schedule_keys());
    let schedules: BTreeSet<_> = schedules.collect();
    let own = schedules.into_iter().filter_map(|key| state.schedules.get(key));
    let own = own.flat_map(|schedule| state.runs_of(schedule).map(|(key, _)| key));
    let lanes = sessions.iter().flat_map(|session| session.in_flight.iter().chain(&session.turn_of)).copied();
    let runs: BTreeSet<_> = own.chain(lanes).collect();
    for run in runs.into_iter().filter_map(|key| state.runs.get(key)) {
        if run.run.host == Some(host) && is_lost(draft, run) {
            lose(draft, run);
        }
    }
    for session in sessions {
        draft.session_fact(&session.id, SessionFact::Unhosted);
    }
    if state.hosts.contains_key(&host) {
        draft.fact(Fact::Host(host, HostFact::Lost));
    }
}

/// A prompt without a receipt is lost. A turn that was begun counts as going on, if it is not to be repeated and its time is
/// limited: the host may come back and report its end.
fn is_lost(draft: &Draft<'_>, run: &RunRecord) -> bool {
    match run.run.state {
        RunState::InFlight => true,
        RunState::Running => draft.state.asked(run).is_none_or(|schedule| {
            schedule.policy().recovery == Recovery::Redeliver || schedule.policy().timeout.is_none()
        }),
        RunState::Queued | RunState::Delivered | RunState::Cancelled | RunState::Failed => false,
    }
}

fn lose(draft: &mut Draft<'_>, run: &RunRecord) {
    let text = if run.run.state == RunState::Running {
        "the host's connection was lost while the turn went on"
    } else {
        "the host's connection was lost while the delivery was out"
    };
    fail_unanswered(draft, run, failure_in_flight(run, Reason::HostLost, text), run.run.host);
}

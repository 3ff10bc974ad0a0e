//! Transition: a connected host is gone. Runs that it was working on fail or are tried again, and the
//! one whose turn an agent's window was in counts as delivered; waiting runs stay queued.

use std::collections::BTreeSet;

use crate::domain::{Fact, HostFact, HostId, Reason, Recovery, RunFact, RunState, SessionFact};
use crate::engine::record::{RunRecord, SessionRecord};
use crate::engine::state::State;
use crate::engine::step::run::cut_off::{call_off, failure_in_flight, is_with_agent};
use crate::engine::step::run::failed::fail_unanswered;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn host_lost(step: &mut StepBuilder<'_>, host: HostId) {
    go(step, host, is_lost);
}

/// Returns the sessions of a connected host.
pub(in crate::engine::step) fn sessions_of(state: &State, host: HostId) -> Vec<&SessionRecord> {
    let sessions = state.hosts.get(&host).into_iter().flat_map(|record| &record.sessions);
    sessions.filter_map(|key| state.sessions.get(*key)).collect()
}

/// Takes a host away from its sessions, with those of its runs that are lost.
pub(in crate::engine::step) fn go(
    step: &mut StepBuilder<'_>,
    host: HostId,
    is_lost: impl Fn(&StepBuilder<'_>, &RunRecord) -> bool,
) {
    let state = step.state;
    let (sessions, by) = (sessions_of(state, host), state.connector_of(host));
    let schedules = sessions.iter().flat_map(|session| session.schedule_keys());
    let schedules: BTreeSet<_> = schedules.collect();
    let own = schedules.into_iter().filter_map(|key| state.schedules.get(key));
    let own = own.flat_map(|schedule| state.runs_of(schedule).map(|(key, _)| key));
    // A run in one of the sessions may belong to a schedule of another session.
    let lanes = sessions.iter().flat_map(|session| session.in_flight.iter().chain(&session.turn_of)).copied();
    // A set, because a run of a session's own schedule may also be in its lane.
    let runs: BTreeSet<_> = own.chain(lanes).collect();
    for run in runs.into_iter().filter_map(|key| state.runs.get(key)) {
        if run.run.host == Some(host) && is_lost(step, run) {
            lose(step, run);
        }
    }
    for session in sessions {
        let by = by.as_deref().cloned();
        step.session_fact_by(&session.id, SessionFact::HostDetached { why: None }, by);
    }
    if state.hosts.contains_key(&host) {
        step.fact(Fact::Host(host, HostFact::Lost, by));
    }
}

/// Returns whether a run is lost with its host. A prompt without a receipt is. A turn that began is
/// not, if it is not to be repeated and has a timeout: the host may come back and report its end.
fn is_lost(step: &StepBuilder<'_>, run: &RunRecord) -> bool {
    match run.run.state {
        RunState::InFlight => true,
        RunState::Running => step.state.definition_of(run).is_none_or(|schedule| {
            schedule.policy().recovery == Recovery::Redeliver || schedule.policy().timeout.is_none()
        }),
        RunState::Queued | RunState::Left | RunState::Delivered | RunState::Cancelled | RunState::Failed => {
            false
        }
    }
}

fn lose(step: &mut StepBuilder<'_>, run: &RunRecord) {
    // The receipt says that the agent has the prompt, and no policy repeats its turn, as after a restart of the process.
    if run.run.state == RunState::Running && is_with_agent(step, run) {
        if let Some(occurrence) = Occurrence::of(step.state, run) {
            occurrence.finish(step, RunFact::Delivered);
        }
        return;
    }
    let text = if run.run.state == RunState::Running {
        "the host's connection was lost while the turn went on"
    } else {
        "the host's connection was lost while the delivery was in flight"
    };
    call_off(step, run);
    fail_unanswered(step, run, failure_in_flight(run, Reason::HostLost, text), run.run.host);
}

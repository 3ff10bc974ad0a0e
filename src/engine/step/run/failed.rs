//! Transition: a host could not do what it was asked to. The failure is recorded with its phase,
//! and with the fresh session if one exists; the policy decides whether there is another attempt.

use std::sync::Arc;

use crate::domain::{Actor, Failure, HostId, Phase, Reason, Refusal, RunFact, RunId, Span};
use crate::engine::record::RunRecord;
use crate::engine::step::run::bulletin::with_members;
use crate::engine::step::run::channel_delivery::disable;
use crate::engine::step::run::dispatch::{dispatch_next, fresh_session};
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::run::retry::fail;
use crate::engine::step::session::close_session::close;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn failed(
    step: &mut StepBuilder<'_>,
    run: &RunId,
    failure: Failure,
) -> Result<(), Refusal> {
    let record = step.state.in_flight(run)?;
    if record.run.phase == Some(Phase::Call) {
        // A call is not with a host: it ends with its outcome, or is called off.
        return Err(Refusal::NotInFlight { run: run.clone() });
    }
    let by = step.state.reporter_of(record);
    fail_in_flight(step, record, failure, by.as_ref());
    Ok(())
}

/// Ends an attempt in flight with a failure that this actor reported, and hands over the next run if the session is idle.
pub(in crate::engine::step) fn fail_in_flight(
    step: &mut StepBuilder<'_>,
    record: &RunRecord,
    mut failure: Failure,
    by: Option<&Arc<Actor>>,
) {
    let state = step.state;
    let Some(occurrence) = Occurrence::of(state, record) else { return };
    let occurrence = occurrence.reported_by(by.cloned());
    let run = &record.run;
    let fresh = fresh_session(state, record).filter(|fresh| state.session(&fresh.id).is_none());
    if denies_creation(record, &failure) {
        if !failure.session_exists {
            fail_without_session(step, &occurrence, failure);
            return;
        }
    } else {
        // A host may be wrong about how far it got; the record is not.
        failure.phase = run.phase.unwrap_or(failure.phase);
        failure.session_exists = run.session_created || failure.session_exists && fresh.is_some();
    }
    // A session that was created and could not be configured exists. Without this fact nobody could
    // close it.
    if failure.session_exists
        && let Some(fresh) = fresh
    {
        step.session_fact_by(&fresh.id, fresh.opened(), by.map(|by| Actor::clone(by)));
    }
    if failure.reason == Reason::ChannelDisabled {
        disable(step, &occurrence);
    }
    with_members(step, &occurrence.id, |step, member| {
        let member = member.clone().reported_by(by.cloned());
        fail(step, &member, failure.clone());
    });
    fail(step, &occurrence, failure);
    // The state is the one before the step, so the run still has its lane there.
    if let Some(lane) = state.lane(record)
        && lane.hosted
        && !lane.busy
    {
        dispatch_next(step, lane);
    }
}

/// Returns whether a host says, when it got the prompt, that it could not create the fresh session. A connected host does not
/// acknowledge a creation, so this is its first opportunity.
fn denies_creation(record: &RunRecord, failure: &Failure) -> bool {
    record.run.session_created
        && record.run.phase == Some(Phase::PromptSubmit)
        && failure.phase == Phase::CreateSession
}

/// Ends an attempt whose fresh session was never created, and closes the session that was opened for it.
fn fail_without_session(step: &mut StepBuilder<'_>, occurrence: &Occurrence<'_>, failure: Failure) {
    let state = step.state;
    let opened = state.run(&occurrence.id).and_then(|record| state.session_key(record.run.session.as_ref()?));
    fail(step, occurrence, failure);
    if let Some((key, session)) = opened.and_then(|key| Some((key, state.sessions.get(key)?))) {
        close(step, key, session, Some(&occurrence.id), None);
    }
}

/// Ends an attempt that nobody can answer any more. If its session has no host, or is about to lose
/// it (`lost`), a run that would be retried at once is queued for the host instead. It keeps its
/// place ahead of the runs that queued behind it.
pub(in crate::engine::step) fn fail_unanswered(
    step: &mut StepBuilder<'_>,
    record: &RunRecord,
    failure: Failure,
    lost: Option<HostId>,
) {
    let Some(occurrence) = Occurrence::of(step.state, record) else { return };
    // Only an attempt that would follow at once has to wait for the host. A later one finds out when its time comes.
    let is_again_at_once = fail(step, &occurrence, failure) == Some(Span::ZERO);
    let place = occurrence.destination(step.state);
    if let Some(session) = place.session()
        && is_again_at_once
        && (!session.hosted || lost == Some(session.host))
    {
        step.run_fact(&occurrence.id, RunFact::Queued { reason: Reason::HostGone });
    }
}

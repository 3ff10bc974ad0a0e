//! A host could not do what it was asked to: visible, with the phase, and with the fresh session if one exists.

use super::hand_over::{fresh_session, hand_over_next};
use crate::domain::{Failure, Phase, Reason, Refusal, RunFact, RunId};
use crate::engine::draft::Draft;
use crate::engine::effect::Effect;
use crate::engine::record::ScheduleRecord;

pub(in crate::engine) fn failed(draft: &mut Draft<'_>, run: &RunId, failure: Failure) -> Result<(), Refusal> {
    let record = draft.state.in_flight(run)?;
    fail(draft, record, failure);
    Ok(())
}

/// Ends a run in flight with a failure, and lets the lane go on if its session is idle.
pub(super) fn fail(draft: &mut Draft<'_>, record: &ScheduleRecord, mut failure: Failure) {
    // Hosts may err about how far they came; the record does not.
    let run = record.run();
    failure.phase = run.and_then(|run| run.phase).unwrap_or(failure.phase);
    let fresh = fresh_session(draft.state, record).filter(|fresh| draft.state.session(&fresh.id).is_none());
    let exists = run.is_some_and(|run| run.session_created);
    failure.session_exists = exists || failure.session_exists && fresh.is_some();
    // A session that was created but not configured is a session all the same, and must not be an orphan.
    if failure.session_exists
        && let Some(fresh) = fresh
    {
        draft.session_fact(&fresh.id, fresh.opened());
    }
    draft.run_fact(&record.schedule.id, RunFact::Failed(Box::new(failure)));
    if let Some(lane) = draft.state.lane(record)
        && lane.hosted
        && !lane.busy
    {
        hand_over_next(draft, lane);
    }
}

/// Lets the host forget a session that it may be creating for a run nobody will ask about any more.
pub(super) fn forget_orphan(draft: &mut Draft<'_>, record: &ScheduleRecord) {
    let creating = record.run().filter(|run| run.phase == Some(Phase::CreateSession));
    if let Some((host, session)) = creating.and_then(|run| run.host.zip(run.session.clone())) {
        draft.effect(Effect::ForgetSession { host, session });
    }
}

/// The failure of a run in flight, in the phase that it is in.
pub(super) fn failure_in_flight(record: &ScheduleRecord, reason: Reason, message: &str) -> Failure {
    let phase = record.run().and_then(|run| run.phase).unwrap_or(Phase::PromptSubmit);
    Failure::new(phase, reason, message)
}

//! Transition: the host of an agent's conversation cannot put a prompt there now, and has not. The run waits, and the session has
//! no host until the conversation can be reached again.

use crate::domain::{Phase, Reason, Refusal, RunFact, RunId, SessionFact};
use crate::engine::step::run::bulletin::with_members;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn unreached(
    step: &mut StepBuilder<'_>,
    run: &RunId,
    reason: Reason,
) -> Result<(), Refusal> {
    let state = step.state;
    let record = state.in_flight(run)?;
    if record.run.phase != Some(Phase::PromptSubmit) {
        return Err(Refusal::NotInFlight { run: run.clone() });
    }
    step.run_fact(run, RunFact::Queued { reason });
    with_members(step, run, |step, member| step.run_fact(&member.id, RunFact::Queued { reason }));
    let session = record.run.session.as_ref().and_then(|id| state.session(id));
    // Another host may have taken the session over meanwhile: the run is for that host then.
    if let Some(session) = session.filter(|session| session.hosted && record.run.host == Some(session.host)) {
        step.session_fact(&session.id, SessionFact::HostDetached { why: Some(reason) });
    }
    Ok(())
}

//! What transitions say of a run that they cut off in flight, because its session, its host or its time is over.

use crate::domain::{Failure, HostId, Phase, Reason, RunState};
use crate::engine::effect::Effect;
use crate::engine::record::RunRecord;
use crate::engine::step_builder::StepBuilder;

/// Tells the host to drop a session that it may be creating for a run that is over, or the executor that nobody waits for its
/// call.
pub(in crate::engine::step) fn call_off(step: &mut StepBuilder<'_>, record: &RunRecord) {
    let run = &record.run;
    match run.phase {
        Some(Phase::CreateSession) => {
            if let Some((host, session)) = run.host.zip(run.session.clone()) {
                step.effect(Effect::ForgetSession { host, session });
            }
        }
        // No executor has a call that still waits.
        Some(Phase::Call) if run.state == RunState::InFlight => {
            if let Some(run) = step.state.run_id(record) {
                step.effect(Effect::CancelCall { run });
            }
        }
        Some(Phase::PromptSubmit | Phase::Outside | Phase::Call) | None => {}
    }
}

/// Creates the failure of a run in flight, in its current phase.
pub(in crate::engine::step) fn failure_in_flight(
    record: &RunRecord,
    reason: Reason,
    message: &str,
) -> Failure {
    let failure = Failure::new(record.run.phase.unwrap_or(Phase::PromptSubmit), reason, message);
    Failure { session_exists: record.run.session_created, ..failure }
}

/// Returns whether a run is in an agent's own conversation: the host of agents has it, or a window, whose session is named as its
/// conversation is.
pub(in crate::engine::step) fn is_with_agent(step: &StepBuilder<'_>, run: &RunRecord) -> bool {
    let session = run.run.session.as_ref().and_then(|id| step.state.session(id));
    let is_window = session.and_then(|session| {
        let address = session.config().address.as_ref()?;
        Some(session.id.as_str() == address.to_string())
    });
    run.run.host == Some(HostId::AGENTS) || is_window == Some(true)
}

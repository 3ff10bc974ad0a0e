//! What transitions say of a run that they cut off in flight, because its session, its host or its time is over.

use crate::domain::{Failure, Phase, Reason, RunState};
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

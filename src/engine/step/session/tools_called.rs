//! Transition: tools are called at once for a session. It only goes to the log, because these calls are no runs.

use crate::domain::{Actor, Refusal, SessionFact, SessionId, ToolName};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn tools_called(
    step: &mut StepBuilder<'_>,
    session: SessionId,
    tools: Vec<(ToolName, u32)>,
    by: Actor,
) -> Result<(), Refusal> {
    if step.state.session(&session).is_none() {
        return Err(Refusal::UnknownSession { session });
    }
    step.session_fact_by(&session, SessionFact::ToolsCalled { tools }, Some(by));
    Ok(())
}

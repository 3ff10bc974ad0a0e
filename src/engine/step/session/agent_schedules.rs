//! Transition: an agent has said which schedules it holds itself for its conversation, or that is not known any more. They are
//! shown; no other transition reads them.

use crate::domain::{AgentSchedules, Refusal, SessionId};
use crate::engine::local_fact::LocalFact;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn agent_schedules(
    step: &mut StepBuilder<'_>,
    session: SessionId,
    said: Option<AgentSchedules>,
) -> Result<(), Refusal> {
    if step.state.session(&session).is_none() {
        return Err(Refusal::UnknownSession { session });
    }
    step.local_fact(LocalFact::AgentSchedules { session, said });
    Ok(())
}

//! Transition: the agent behind a session cannot be started now. The session has no host until it can.

use crate::domain::{HostId, Reason, Refusal, SessionFact, SessionId};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn away(
    step: &mut StepBuilder<'_>,
    session: &SessionId,
    reason: Reason,
) -> Result<(), Refusal> {
    let unknown = || Refusal::UnknownSession { session: session.clone() };
    let record = step.state.session(session).ok_or_else(unknown)?;
    // Another host may have taken the session over meanwhile. A run that is under way tells by itself what becomes of it.
    if record.hosted && record.host == HostId::AGENTS && record.in_flight.is_none() {
        step.session_fact(session, SessionFact::HostDetached { why: Some(reason) });
    }
    Ok(())
}

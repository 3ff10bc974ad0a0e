//! Transition: a host reports which of its conversations a session is.

use crate::domain::{Address, Refusal, SessionFact, SessionId};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn addressed(
    step: &mut StepBuilder<'_>,
    session: SessionId,
    address: Address,
) -> Result<(), Refusal> {
    let Some(record) = step.state.session(&session) else {
        return Err(Refusal::UnknownSession { session });
    };
    if record.config.address.as_ref() != Some(&address) {
        step.session_fact(&session, SessionFact::Addressed { address: Box::new(address) });
    }
    Ok(())
}

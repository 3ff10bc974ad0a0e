//! Transitions: the guard policy is replaced, or a session's grant.
//!
//! Runs that were handed over are not affected. Waiting runs are checked by the new rules when
//! their turn comes.

use std::sync::Arc;

use crate::domain::{
    Actor, EngineFact, Fact, Grant, GrantChange, GuardPolicy, Refusal, SessionFact, SessionId,
};
use crate::engine::step_builder::StepBuilder;
use crate::limits;

pub(in crate::engine) fn set_guard(
    step: &mut StepBuilder<'_>,
    policy: Option<Arc<GuardPolicy>>,
    by: Actor,
) -> Result<(), Refusal> {
    let rules = policy.as_ref().map_or(0, |policy| policy.rules.len());
    if rules as u64 > limits::GUARD_RULES.value {
        return Err(Refusal::LimitReached { limit: limits::GUARD_RULES });
    }
    if step.state.guard != policy {
        step.fact(Fact::Engine(EngineFact::GuardPolicySet { policy, by }));
    }
    Ok(())
}

pub(in crate::engine) fn change_grant(
    step: &mut StepBuilder<'_>,
    session: SessionId,
    change: GrantChange,
    by: Actor,
) -> Result<(), Refusal> {
    let grant = change.applied_to(step.state.grant(&session));
    set_grant(step, session, grant, by)
}

pub(in crate::engine) fn set_grant(
    step: &mut StepBuilder<'_>,
    session: SessionId,
    grant: Grant,
    by: Actor,
) -> Result<(), Refusal> {
    let state = step.state;
    let present = state.grants.get(&session);
    // Durable schedules outlive their session, and its grant still applies to them.
    let is_known = state.session(&session).is_some() || state.ownerless.contains_key(&session);
    if !is_known && present.is_none() {
        return Err(Refusal::UnknownSession { session });
    }
    if present.is_none() && grant != Grant::FULL && state.grants.len() as u64 >= limits::GRANTS.value {
        return Err(Refusal::LimitReached { limit: limits::GRANTS });
    }
    if present.unwrap_or(&Grant::FULL) != &grant {
        step.session_fact_by(&session, SessionFact::Granted { grant }, Some(by));
    }
    Ok(())
}

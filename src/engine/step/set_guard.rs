//! What runs are measured by when they are about to be handed over is changed: the policy of all, or what one session may do.
//!
//! What is out already stays out. What waits is measured anew when its turn comes.

use std::sync::Arc;

use crate::domain::{Actor, Fact, Grant, GuardPolicy, Refusal, SessionFact, SessionId};
use crate::engine::draft::Draft;
use crate::limits;

pub(in crate::engine) fn set_guard(
    draft: &mut Draft<'_>,
    policy: Option<Arc<GuardPolicy>>,
    by: Actor,
) -> Result<(), Refusal> {
    let rules = policy.as_ref().map_or(0, |policy| policy.rules.len());
    if rules as u64 > limits::GUARD_RULES.value {
        return Err(Refusal::LimitReached { limit: limits::GUARD_RULES });
    }
    if draft.state.guard != policy {
        draft.fact(Fact::Guarded { policy, by });
    }
    Ok(())
}

pub(in crate::engine) fn set_grant(
    draft: &mut Draft<'_>,
    session: SessionId,
    grant: Grant,
    by: Actor,
) -> Result<(), Refusal> {
    let state = draft.state;
    let present = state.grants.get(&session);
    let is_known = state.session(&session).is_some() || state.ownerless.contains_key(&session);
    if !is_known && present.is_none() {
        return Err(Refusal::UnknownSession { session });
    }
    if present.is_none() && grant != Grant::FULL && state.grants.len() as u64 >= limits::GRANTS.value {
        return Err(Refusal::LimitReached { limit: limits::GRANTS });
    }
    if present.unwrap_or(&Grant::FULL) != &grant {
        draft.session_fact(&session, SessionFact::Granted { grant, by: Box::new(by) });
    }
    Ok(())
}

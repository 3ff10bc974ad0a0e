//! Transition: a caller opens a session. Sessions that schedules open are in `created.rs`.

use std::sync::Arc;

use crate::domain::{Actor, HostId, Refusal, SessionConfig, SessionFact, SessionId};
use crate::engine::effect::Effect;
use crate::engine::state::Mode;
use crate::engine::step_builder::StepBuilder;
use crate::limits;

pub(in crate::engine) fn open_session(
    step: &mut StepBuilder<'_>,
    session: Option<SessionId>,
    host: HostId,
    config: Arc<SessionConfig>,
    by: Option<Actor>,
) -> Result<(), Refusal> {
    if step.state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    step.state.check_host(host)?;
    if let Some(limit) = config.exceeds() {
        return Err(Refusal::LimitReached { limit });
    }
    let session = session.unwrap_or_else(|| SessionId::random(step.draw()));
    if step.state.session(&session).is_some() || step.state.creating.contains_key(&session) {
        return Err(Refusal::SessionExists { session });
    }
    if !step.state.has_room(0) {
        return Err(Refusal::LimitReached { limit: limits::SESSIONS });
    }
    let opened = SessionFact::Opened { host, config: config.clone(), provenance: None };
    step.session_fact_by(&session, opened, by);
    step.effect(Effect::OpenSession { host, session, config });
    Ok(())
}

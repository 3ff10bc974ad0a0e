//! A session is opened by somebody, not by a schedule.

use std::sync::Arc;

use crate::domain::{HostId, Refusal, SessionConfig, SessionFact, SessionId};
use crate::engine::draft::Draft;
use crate::engine::effect::Effect;
use crate::engine::state::Mode;
use crate::limits;

pub(in crate::engine) fn open_session(
    draft: &mut Draft<'_>,
    session: Option<SessionId>,
    host: HostId,
    config: Arc<SessionConfig>,
) -> Result<(), Refusal> {
    if draft.state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    draft.state.check_host(host)?;
    if let Some(limit) = config.exceeds() {
        return Err(Refusal::LimitReached { limit });
    }
    let session = session.unwrap_or_else(|| SessionId::random(draft.draw()));
    if draft.state.session(&session).is_some() || draft.state.creating.contains(&session) {
        return Err(Refusal::SessionExists { session });
    }
    if !draft.state.has_room(0) {
        return Err(Refusal::LimitReached { limit: limits::SESSIONS });
    }
    draft.session_fact(&session, SessionFact::Opened { host, config: config.clone(), provenance: None });
    draft.effect(Effect::OpenSession { host, session, config });
    Ok(())
}

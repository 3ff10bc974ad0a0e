//! Transition: a caller opens a session. Sessions that schedules open are in `created.rs`.

use std::sync::Arc;

use crate::domain::{
    Actor, Cause, HostId, Reason, Refusal, RunFact, RunState, SessionConfig, SessionFact, SessionId,
};
use crate::engine::effect::Effect;
use crate::engine::record::RunRecord;
use crate::engine::slab::Key;
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
    // A caller that acts for no session has this id in its scope, and must never find a session.
    if session.is_nobodys() {
        return Err(Refusal::UnknownSession { session });
    }
    if step.state.session(&session).is_some() || step.state.creating.contains_key(&session) {
        return Err(Refusal::SessionExists { session });
    }
    if !step.state.has_room(0) {
        return Err(Refusal::LimitReached { limit: limits::SESSIONS });
    }
    let opened = SessionFact::Opened { host, config: config.clone(), provenance: None };
    step.session_fact_by(&session, opened, by);
    bring_bulletins(step, &session);
    step.effect(Effect::OpenSession { host, session, config });
    Ok(())
}

/// Lets the bulletins go that wait for the session: the wake-up that follows hands over the first with the others. Durable ones
/// wait until their time while the store fails, so that the session can be opened.
fn bring_bulletins(step: &mut StepBuilder<'_>, session: &SessionId) {
    let state = step.state;
    let schedules = state.ownerless.get(session).into_iter().flatten();
    let schedules = schedules.filter_map(|key| state.schedules.get(*key));
    let runs = schedules.flat_map(|schedule| state.runs_of(schedule));
    let is_waiting = |run: &RunRecord| {
        run.run.cause == Cause::Bulletin && run.run.state == RunState::Queued && run.run.retry_at.is_some()
    };
    let goes = |run: &RunRecord| is_waiting(run) && !state.stands_still(run);
    let waiting: Vec<Key> = runs.filter(|(_, run)| goes(run)).map(|(key, _)| key).collect();
    for run in state.in_delivery_order(waiting.iter()).into_iter().filter_map(|run| state.run_id(run)) {
        let (at, due) = (step.now.wall, step.now.boot);
        step.run_fact(&run, RunFact::Postponed { reason: Reason::SessionAbsent, at, due });
    }
}

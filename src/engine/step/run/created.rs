//! Transition: a host created the fresh session of a run. The session exists from now on, and the
//! prompt is submitted to it.

use crate::domain::{Failure, Phase, Refusal, RunId};
use crate::engine::record::SessionRecord;
use crate::engine::state::Mode;
use crate::engine::step::run::authorize::authorize_prompt;
use crate::engine::step::run::dispatch::{fresh_session, submit_prompt};
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::run::retry::fail;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn created(step: &mut StepBuilder<'_>, run: &RunId) -> Result<(), Refusal> {
    let record = step.state.in_flight(run)?;
    if step.state.mode == Mode::Abandoning {
        // Only durable runs are still in flight, and the next process recovers them.
        return Err(Refusal::Stopping);
    }
    let fresh = fresh_session(step.state, record);
    let (Some(fresh), Some(occurrence)) = (fresh, Occurrence::of(step.state, record)) else {
        return Err(Refusal::NotInFlight { run: run.clone() });
    };
    // A host repeats a report whose commit failed. The session is open then: a volatile run may
    // occupy its lane, and another host may have taken it over.
    let session = step.state.session(&fresh.id);
    if let Some(reason) = session.and_then(SessionRecord::blocks_prompt) {
        let failure = Failure::new(Phase::PromptSubmit, reason, reason.doc()).with_session();
        fail(step, &occurrence, failure);
        return Ok(());
    }
    let host = session.map_or(fresh.host, SessionRecord::host);
    if session.is_none() {
        let by = step.state.reporter_of(record);
        step.session_fact_by(&fresh.id, fresh.opened(), by.as_deref().cloned());
    }
    if authorize_prompt(step, &occurrence) {
        submit_prompt(step, &occurrence, host, fresh.id);
    }
    Ok(())
}

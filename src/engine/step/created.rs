//! A host has created the fresh session of a run: it exists from here on, and the prompt goes into it.

use super::failed::fail;
use super::hand_over::{fresh_session, submit};
use super::occurrence::Occurrence;
use super::pass::goes_on;
use crate::domain::{Failure, Phase, Refusal, RunId};
use crate::engine::draft::Draft;
use crate::engine::record::SessionRecord;
use crate::engine::state::Mode;

pub(in crate::engine) fn created(draft: &mut Draft<'_>, run: &RunId) -> Result<(), Refusal> {
    let record = draft.state.in_flight(run)?;
    if draft.state.mode == Mode::Abandoning {
        // Only what is on disk is still in flight: it goes on with the next start.
        return Err(Refusal::Stopping);
    }
    let fresh = fresh_session(draft.state, record);
    let (Some(fresh), Some(occurrence)) = (fresh, Occurrence::of(draft.state, record)) else {
        return Err(Refusal::NotInFlight { run: run.clone() });
    };
    // What is said again, because it could not be kept the first time, is about a session that is open: something in memory may
    // have its lane by now, and another host the session.
    let session = draft.state.session(&fresh.id);
    if let Some(reason) = session.and_then(SessionRecord::blocks_prompt) {
        let failure = Failure::new(Phase::PromptSubmit, reason, reason.doc()).with_session();
        fail(draft, &occurrence, failure);
        return Ok(());
    }
    let host = session.map_or(fresh.host, SessionRecord::host);
    if session.is_none() {
        draft.session_fact(&fresh.id, fresh.opened());
    }
    if goes_on(draft, &occurrence) {
        submit(draft, &occurrence, host, fresh.id);
    }
    Ok(())
}

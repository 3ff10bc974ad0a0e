//! Transition: somebody takes messages out of a session's inbox. All or none, so that of two who ask at once one gets each.

use crate::domain::{Actor, Refusal, RunFact, RunId, SessionId};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn take_left(
    step: &mut StepBuilder<'_>,
    session: &SessionId,
    runs: &[RunId],
    by: Option<Actor>,
) -> Result<(), Refusal> {
    let state = step.state;
    let record =
        state.session(session).ok_or_else(|| Refusal::UnknownSession { session: session.clone() })?;
    let by = by.map(Box::new);
    // Each run is checked in turn: a refusal drops the facts that were recorded before it.
    for (place, run) in runs.iter().enumerate() {
        let is_left = state.run_key(run).is_some_and(|key| record.left.contains(&key));
        if !is_left || runs[..place].contains(run) {
            return Err(Refusal::NotLeft { run: run.clone() });
        }
        step.run_fact(run, RunFact::Taken { by: by.clone() });
    }
    Ok(())
}

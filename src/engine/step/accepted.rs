//! A host has accepted a prompt: the receipt.

use super::hand_over::hand_over_next;
use crate::domain::{Phase, Refusal, RunFact, RunId};
use crate::engine::draft::Draft;

pub(in crate::engine) fn accepted(draft: &mut Draft<'_>, run: &RunId) -> Result<(), Refusal> {
    let state = draft.state;
    let record = state.in_flight(run)?;
    let submitted = record.run().filter(|run| run.phase == Some(Phase::PromptSubmit));
    submitted.ok_or_else(|| Refusal::NotInFlight { run: run.clone() })?;
    draft.run_fact(&record.schedule.id, RunFact::Delivered);
    // The built-in host is idle again at once. A connected one begins a turn, and its end is the next transition; it may
    // have come already, from a host that acknowledges after the fact.
    if let Some(lane) = state.lane(record)
        && (!lane.host.is_attached() || lane.turn_ended)
        && !lane.busy
    {
        hand_over_next(draft, lane);
    }
    Ok(())
}

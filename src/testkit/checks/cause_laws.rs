//! The law about whose a run is: what a session causes uses the share of that session, and nothing of what operators have for
//! themselves.

use crate::domain::{RunId, RunState};
use crate::testkit::checks::law::{LawResult, StateView, hold};
use crate::testkit::reference::model::ReferenceModel;

/// A run is marked as caused by a session exactly if a session asked for it, armed its slot, ended the pause that it waited for,
/// or caused the call that it tells of; from its claim to its end, in each process.
pub(in crate::testkit) fn what_a_session_causes_is_its_own(
    model: &ReferenceModel,
    standing: &StateView<'_>,
) -> LawResult {
    for (key, life) in model.runs.iter().filter(|(_, life)| life.is_live() || life.state == RunState::Left) {
        let id = RunId { schedule: key.0.clone(), incarnation: key.1, slot: key.2 };
        let marked = standing.state.run(&id).map(|record| record.run().by_session);
        if let Some((marked, by_session)) = marked.zip(life.by_session) {
            hold(marked == by_session, || {
                format!("{id}: marked as caused by a session is {marked}, and right is {by_session}")
            })?;
        }
    }
    Ok(())
}

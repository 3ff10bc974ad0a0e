//! What became of the bulletin of a call, for the explanation of its slot.
//!
//! A bulletin is a run, and no slot of its schedule. Invariant: an explanation of a slot is about the run of that slot, and names
//! the bulletin beside it. A watch is the exception: what its checks told is its story, and most checks have no record.

use super::explain::Explainer;
use super::verdict::ToldOf;
use crate::domain::{Cause, Phase, Run, Sink, Target};
use crate::engine::record::RunRecord;

impl Explainer<'_> {
    /// Returns whether a run is a bulletin of a schedule whose explanations are about calls.
    pub(super) fn only_tells(&self, run: &Run) -> bool {
        let is_watch = self.record.is_some_and(|record| record.watch().is_some());
        run.cause == Cause::Bulletin && !is_watch
    }

    /// Returns what became of the bulletin about a call that has ended; `None` if the run is no such call, or nobody was told.
    pub(super) fn told_of(&self, run: &RunRecord) -> Option<ToldOf> {
        let record = self.record.filter(|record| record.watch().is_none())?;
        let call = record.schedule.payload.call().filter(|_| run.run.cause != Cause::Bulletin)?;
        let ended = run.run.ended_at?;
        // It was made in the step in which the call ended, or waited already and took that in.
        let has_it = |run: &Run| {
            run.cause == Cause::Bulletin
                && run.claimed_at <= ended
                && run.handed_at().or(run.ended_at).is_none_or(|at| at >= ended)
        };
        let (_, told) = self.state.runs_of(record).find(|(_, run)| has_it(&run.run))?;
        // Its definition is there only until it has ended.
        let asked = told.run.definition.as_deref();
        let is_outside = told.run.phase == Some(Phase::Outside)
            || asked.is_some_and(|asked| matches!(asked.target(), Target::Route(_)));
        let channel = match &call.sink {
            Sink::Channel(name) if is_outside => Some(name.clone()),
            Sink::Channel(_) | Sink::Session | Sink::Nobody => None,
        };
        let reason = self.state.run_waits_for(told).or(told.run.reason);
        Some(ToldOf { channel, state: told.run.state, at: told.run.ended_at, reason })
    }
}

//! Counters of what the engine has decided.
//!
//! Cost: a few additions per fact, under the lock that is held anyway. Lateness is measured when a run is dispatched:
//! from its slot to the moment at which it was first handed to its host, time in a queue included, on the wall clock.

use crate::domain::{Code, DecisionKind, Fact, GuardFact, Moment, Now, Reason, RunFact, RunId, ScheduleFact};
use crate::engine::State;

/// Upper bounds of the lateness buckets, in nanoseconds; one more bucket counts everything later.
pub const LATENESS_NS: [u64; 16] = [
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    50_000_000,
    100_000_000,
    500_000_000,
    1_000_000_000,
    10_000_000_000,
    60_000_000_000,
    600_000_000_000,
    3_600_000_000_000,
];

/// Counts since the engine was started.
#[derive(Clone, Debug)]
pub struct Counters {
    kinds: [u64; DecisionKind::ALL.len()],
    cancelled: [u64; Reason::ALL.len()],
    skipped: [u64; Reason::ALL.len()],
    failed: [u64; Reason::ALL.len()],
    refused: [u64; Code::ALL.len()],
    lateness: Lateness,
    /// The slot that was just claimed. Its run is dispatched in the same step, unless it has to wait.
    claimed: Option<Moment>,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            kinds: [0; DecisionKind::ALL.len()],
            cancelled: [0; Reason::ALL.len()],
            skipped: [0; Reason::ALL.len()],
            failed: [0; Reason::ALL.len()],
            refused: [0; Code::ALL.len()],
            lateness: Lateness::default(),
            claimed: None,
        }
    }
}

/// A histogram of how late runs were dispatched.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// Dispatches per bucket of [`LATENESS_NS`]; the last element counts those beyond all bounds.
    pub classes: [u64; LATENESS_NS.len() + 1],
    /// The sum over all dispatches, in nanoseconds.
    pub sum_ns: u128,
}

impl Counters {
    /// How many decisions of this kind were made.
    pub fn decided(&self, kind: DecisionKind) -> u64 {
        self.kinds[kind as usize]
    }

    /// How many runs and schedules were cancelled for this reason.
    pub fn cancelled_for(&self, reason: Reason) -> u64 {
        self.cancelled[reason as usize]
    }

    /// How many slots passed without a run of their own for this reason.
    pub fn skipped_for(&self, reason: Reason) -> u64 {
        self.skipped[reason as usize]
    }

    /// How many runs failed for this reason.
    pub fn failed_for(&self, reason: Reason) -> u64 {
        self.failed[reason as usize]
    }

    /// Slots that passed without a run of their own, by reason, in the order of [`Reason::ALL`].
    pub(crate) fn skipped(&self) -> &[u64] {
        &self.skipped
    }

    /// Runs and schedules that were cancelled, by reason, in the order of [`Reason::ALL`].
    pub(crate) fn cancelled(&self) -> &[u64] {
        &self.cancelled
    }

    /// Runs that failed, by reason, in the order of [`Reason::ALL`].
    pub(crate) fn failed(&self) -> &[u64] {
        &self.failed
    }

    /// How often the engine refused with this code.
    pub fn refused_with(&self, code: Code) -> u64 {
        self.refused[code as usize]
    }

    /// How late runs were dispatched.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Counts a fact that is about to be applied to `state`.
    pub(super) fn count(&mut self, fact: &Fact, state: &State, now: Now) {
        self.kinds[fact.kind() as usize] += 1;
        let (run, fact) = match fact {
            Fact::Run(run, fact, _) => (run, fact),
            Fact::Schedule(_, ScheduleFact::Cancelled { reason, .. }) => {
                self.cancelled[*reason as usize] += 1;
                return;
            }
            Fact::Schedule(_, ScheduleFact::Skipped(skip)) => {
                self.skipped[skip.reason as usize] += skip.count;
                return;
            }
            Fact::Schedule(..)
            | Fact::Session(..)
            | Fact::Created { .. }
            | Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Engine(_) => return,
        };
        match fact {
            RunFact::Claimed(claim) => {
                // Folded slots have no fact of their own. The claim of the run that stands for them is their only trace.
                self.skipped[Reason::Coalesced as usize] += claim.folded;
                // A manual run has no planned slot that it could be late for.
                self.claimed = (!claim.cause.is_beside_slots()).then_some(run.slot);
            }
            // The dispatch that follows is still the first one of this slot, so the slot stays noted.
            RunFact::Guard(
                GuardFact::Allowed { .. }
                | GuardFact::Approved { .. }
                | GuardFact::Denied { .. }
                | GuardFact::Answered(_),
            ) => {}
            // The run waits from here on. `unstarted_slot` finds its slot when it is dispatched.
            RunFact::Guard(GuardFact::Asked { .. } | GuardFact::Held(_)) => self.claimed = None,
            // Neither is a hand-over that could be late: a bulletin has no slot.
            RunFact::Folded(_) | RunFact::Joined { .. } => {}
            RunFact::Queued { .. }
            | RunFact::Postponed { .. }
            | RunFact::Left
            | RunFact::Taken { .. }
            | RunFact::Delivered
            | RunFact::Accepted
            | RunFact::Retrying { .. } => {
                self.claimed = None;
            }
            RunFact::Dispatched(_) => {
                // Most runs are dispatched in the step that claims them. Their slot needs no look-up.
                if let Some(slot) = self.claimed.take().or_else(|| unstarted_slot(state, run)) {
                    self.lateness.count(now.wall.since(slot).nanos());
                }
            }
            RunFact::Failed(failure) => {
                self.claimed = None;
                self.failed[failure.reason as usize] += 1;
            }
            RunFact::Returned { outcome, .. } => {
                self.claimed = None;
                if let Some(failure) = outcome.failure() {
                    self.failed[failure.reason as usize] += 1;
                }
            }
            RunFact::Cancelled { reason } => self.cancelled[*reason as usize] += 1,
        }
    }

    pub(super) fn count_refusal(&mut self, code: Code) {
        self.refused[code as usize] += 1;
    }
}

impl Lateness {
    fn count(&mut self, nanos: u64) {
        // A bucket includes its upper bound, as `le` demands in the metrics.
        self.classes[LATENESS_NS.partition_point(|end| *end < nanos)] += 1;
        self.sum_ns += u128::from(nanos);
    }
}

/// The slot of a run that has waited and was never dispatched before. The prompt of a fresh session follows its
/// creation and is not a second dispatch.
fn unstarted_slot(state: &State, run: &RunId) -> Option<Moment> {
    let run = state.run(run)?.run();
    (run.started_at.is_none() && !run.cause.is_beside_slots()).then_some(run.slot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_its_upper_end() {
        let mut lateness = Lateness::default();
        for nanos in [0, 50_000, 50_001, 3_600_000_000_000, 3_600_000_000_001] {
            lateness.count(nanos);
        }
        assert_eq!((lateness.classes[0], lateness.classes[1]), (2, 1));
        assert_eq!((lateness.classes[15], lateness.classes[16]), (1, 1));
    }
}

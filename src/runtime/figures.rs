//! What the engine has done, counted where it is decided.
//!
//! Cost: an addition for each fact, under the lock that is held anyway. Lateness is that of the hand-over: from the slot to
//! the moment at which the run was first given to its host, queueing included, on the wall clock.

use crate::domain::{Cause, Code, DecisionKind, Fact, Moment, Now, Reason, RunFact, RunId, ScheduleFact};
use crate::engine::State;
use crate::graph::view::Undelivered;

/// The upper ends of the classes of lateness, in nanoseconds; one more class holds what is later.
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
pub struct Figures {
    kinds: [u64; DecisionKind::ALL.len()],
    cancelled: [u64; Reason::ALL.len()],
    skipped: [u64; Reason::ALL.len()],
    failed: [u64; Reason::ALL.len()],
    refused: [u64; Code::ALL.len()],
    lateness: Lateness,
    /// The slot just claimed: its hand-over follows in the same step, unless the run has to wait.
    claimed: Option<Moment>,
}

impl Default for Figures {
    fn default() -> Figures {
        Figures {
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

/// How late hand-overs were.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// How many fell into each class of [`LATENESS_NS`], and how many were later than all of them.
    pub classes: [u64; LATENESS_NS.len() + 1],
    /// The sum of all, in nanoseconds.
    pub sum_ns: u128,
}

impl Figures {
    /// How often that was decided.
    pub fn decided(&self, kind: DecisionKind) -> u64 {
        self.kinds[kind as usize]
    }

    /// How many schedules were called off for that reason.
    pub fn cancelled_for(&self, reason: Reason) -> u64 {
        self.cancelled[reason as usize]
    }

    /// How many slots passed without a run of their own for that reason.
    pub fn skipped_for(&self, reason: Reason) -> u64 {
        self.skipped[reason as usize]
    }

    /// How many runs failed for that reason.
    pub fn failed_for(&self, reason: Reason) -> u64 {
        self.failed[reason as usize]
    }

    /// Slots without a delivery, by reason.
    pub(super) fn undelivered(&self) -> Undelivered<'_> {
        Undelivered { skipped: &self.skipped, cancelled: &self.cancelled, failed: &self.failed }
    }

    /// How often the engine refused with that code.
    pub fn refused_with(&self, code: Code) -> u64 {
        self.refused[code as usize]
    }

    /// How late hand-overs were.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Counts a fact that is about to be applied to `state`.
    pub(super) fn count(&mut self, fact: &Fact, state: &State, now: Now) {
        self.kinds[fact.kind() as usize] += 1;
        let (run, fact) = match fact {
            Fact::Run(run, fact) => (run, fact),
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
            | Fact::Held { .. }
            | Fact::Released { .. }
            | Fact::Guarded { .. }
            | Fact::Awoke { .. }
            | Fact::Stopping { .. } => return,
        };
        match fact {
            RunFact::Claimed(claim) => {
                self.skipped[Reason::Coalesced as usize] += claim.folded;
                self.claimed = (claim.cause != Cause::Manual).then_some(run.slot);
            }
            // The hand-over that follows an answer is that of the slot still.
            RunFact::Allowed { .. } | RunFact::Approved { .. } | RunFact::Denied { .. } => {}
            RunFact::Asked { .. } | RunFact::Held(_) => self.claimed = None,
            RunFact::Queued { .. } | RunFact::Delivered | RunFact::Accepted | RunFact::Retrying { .. } => {
                self.claimed = None;
            }
            RunFact::Dispatched(_) => {
                if let Some(slot) = self.claimed.take().or_else(|| unstarted_slot(state, run)) {
                    self.lateness.count(now.wall.since(slot).nanos());
                }
            }
            RunFact::Failed(failure) => {
                self.claimed = None;
                self.failed[failure.reason as usize] += 1;
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
        self.classes[LATENESS_NS.partition_point(|end| *end < nanos)] += 1;
        self.sum_ns += u128::from(nanos);
    }
}

/// The slot of a run that has waited and was never handed over: a fresh session's prompt follows its creation, and is no
/// second hand-over.
fn unstarted_slot(state: &State, run: &RunId) -> Option<Moment> {
    let run = state.run(run)?.run();
    (run.started_at.is_none() && run.cause != Cause::Manual).then_some(run.slot)
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

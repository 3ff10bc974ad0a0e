//! Counts of slots by outcome, computed from the facts independently of the engine's own ledger.

use std::collections::BTreeMap;

use crate::domain::{EngineFact, Fact, Next, RunFact, RunState, ScheduleFact, ScheduleId};
use crate::testkit::reference::run_key::{RunKey, key_of};
use crate::testkit::reference::run_model::RunModel;
use crate::testkit::reference::schedule_model::ScheduleModel;

/// The number of slots by outcome.
#[derive(Clone, Debug, Default)]
pub(in crate::testkit) struct Counts {
    pub(in crate::testkit) expected: u64,
    pub(in crate::testkit) delivered: u64,
    pub(in crate::testkit) left: u64,
    pub(in crate::testkit) skipped: u64,
    pub(in crate::testkit) cancelled: u64,
    pub(in crate::testkit) failed: u64,
    pub(in crate::testkit) lost: u64,
}

impl Counts {
    /// Counts a fact. `plans` and `crash` are those from before the fact.
    pub(in crate::testkit) fn enter(
        &mut self,
        fact: &Fact,
        plans: &BTreeMap<ScheduleId, ScheduleModel>,
        lives: &BTreeMap<RunKey, RunModel>,
    ) {
        match fact {
            Fact::Created { next, .. } => self.expect(*next),
            Fact::Schedule(id, fact) => {
                let Some(plan) = plans.get(id) else { return };
                self.enter_schedule(fact, plan, lives);
            }
            Fact::Run(id, fact, _) => {
                // Facts about unknown runs are left to `terminal_is_final`; counting them would
                // hide the cause.
                if matches!(fact, RunFact::Claimed(_)) || lives.contains_key(&key_of(id)) {
                    self.enter_run(fact, lives.get(&key_of(id)).map(|life| life.state));
                }
            }
            Fact::Engine(EngineFact::Restarted { lost, .. }) => {
                self.expected += lost;
                self.lost += lost;
            }
            Fact::Session(..)
            | Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Engine(
                EngineFact::Refused { .. }
                | EngineFact::AllHeld { .. }
                | EngineFact::AllReleased { .. }
                | EngineFact::GuardPolicySet { .. }
                | EngineFact::Stopping { .. },
            ) => {}
        }
    }

    fn enter_schedule(
        &mut self,
        fact: &ScheduleFact,
        plan: &ScheduleModel,
        lives: &BTreeMap<RunKey, RunModel>,
    ) {
        match fact {
            ScheduleFact::Changed(change) => {
                if let Some(next) = change.retriggered {
                    // A new trigger replaces the slot that was expected, which then counts as
                    // cancelled.
                    self.cancelled += u64::from(plan.next.is_some());
                    self.expect(next);
                }
            }
            ScheduleFact::Skipped(skip) => {
                // The first skipped slot was counted as expected when it was set; the others are
                // new.
                self.expected += skip.count - 1;
                self.skipped += skip.count;
                self.expect(skip.next);
            }
            ScheduleFact::Armed { next, .. } => {
                // The new slot replaces the event's latest slot, which was counted already.
                self.expected -= u64::from(plan.next.is_some());
                self.expect(*next);
            }
            ScheduleFact::Cancelled { .. } => {
                let queued = plan.runs.iter().filter_map(|run| lives.get(run));
                let queued = queued.filter(|life| life.state == RunState::Queued).count() as u64;
                self.cancelled += u64::from(plan.next.is_some()) + queued;
            }
            // The lifetime of a watch may have ended during the pause: the slot that was expected does not come.
            ScheduleFact::Resumed { next, .. } => {
                self.expected -= u64::from(plan.next.is_some() && next.slot().is_none());
            }
            ScheduleFact::Paused { .. } => {}
        }
    }

    /// Counts a fact about a run that was in this state before it.
    fn enter_run(&mut self, fact: &RunFact, before: Option<RunState>) {
        match fact {
            RunFact::Claimed(claim) => {
                // Missed slots that this run stands for were never counted: they are expected and
                // skipped at once.
                self.expected += claim.folded;
                self.skipped += claim.folded;
                match claim.next {
                    Some(next) => self.expect(next),
                    // A manual run consumes no slot, so it is counted as expected here.
                    None => self.expected += 1,
                }
            }
            RunFact::Delivered => self.delivered += 1,
            RunFact::Returned { outcome, .. } if outcome.ok => self.delivered += 1,
            RunFact::Returned { .. } => self.failed += 1,
            RunFact::Left => self.left += 1,
            RunFact::Taken { .. } => {
                self.left -= 1;
                self.delivered += 1;
            }
            // A host that takes the session over is to get what was left.
            RunFact::Queued { .. } => self.left -= u64::from(before == Some(RunState::Left)),
            RunFact::Failed(_) => self.failed += 1,
            RunFact::Cancelled { .. } => self.cancelled += 1,
            RunFact::Guard(_)
            | RunFact::Dispatched(_)
            | RunFact::Folded(_)
            | RunFact::Joined { .. }
            | RunFact::Postponed { .. }
            | RunFact::Accepted
            | RunFact::Retrying { .. } => {}
        }
    }

    fn expect(&mut self, next: Next) {
        self.expected += u64::from(next.slot().is_some());
    }

    /// The number of slots and runs that have no outcome yet.
    pub(in crate::testkit) fn pending(&self) -> u64 {
        let ended = self.delivered + self.left + self.skipped + self.cancelled + self.failed + self.lost;
        self.expected.saturating_sub(ended)
    }
}

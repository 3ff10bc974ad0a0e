//! Decisions that lie farther back than the feed: what a look lacked, and what was fetched for the next.
//!
//! A look holds the engine's lock, and a log is on a disk. So a look that misses something notes what, and is done again
//! with it in hand. What lives elsewhere: who fetches (`runtime`), who reads (`view`).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Decision, DecisionKind, Moment, ScheduleId};

/// What a log tells of schedules that were asked about.
#[derive(Debug, Default)]
pub struct Lookback {
    found: BTreeMap<ScheduleId, PastDecisions>,
    requested: RefCell<BTreeSet<ScheduleId>>,
}

/// What it tells of one.
#[derive(Debug, Default)]
pub struct PastDecisions {
    decisions: Vec<Decision>,
}

impl Lookback {
    /// What is told of a schedule, if it was fetched.
    pub(super) fn get(&self, schedule: &ScheduleId) -> Option<&PastDecisions> {
        self.found.get(schedule)
    }

    /// Notes that a look would have needed what is told of a schedule.
    pub(super) fn request(&self, schedule: &ScheduleId) {
        self.requested.borrow_mut().insert(schedule.clone());
    }

    /// Takes what was lacking.
    pub fn take_requests(&mut self) -> BTreeSet<ScheduleId> {
        std::mem::take(self.requested.get_mut())
    }

    /// Has something in hand for the next look.
    pub fn insert(&mut self, schedule: ScheduleId, told: PastDecisions) {
        self.found.insert(schedule, told);
    }
}

impl PastDecisions {
    /// Adds the next older decision.
    pub fn push(&mut self, decision: Decision) {
        self.decisions.push(decision);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.decisions.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.decisions.is_empty()
    }

    /// Whether it goes back to the schedule's creation.
    pub(crate) fn is_complete(&self) -> bool {
        self.decisions.last().is_some_and(|decision| decision.kind == DecisionKind::ScheduleCreated)
    }

    /// Newest first.
    pub(super) fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Decisions before this moment may be missing; `None` if none are.
    pub(super) fn since(&self) -> Option<Moment> {
        self.decisions.last().filter(|_| !self.is_complete()).map(|oldest| oldest.at)
    }
}

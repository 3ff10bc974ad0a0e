//! What only the log has: decisions that are older than the feed, and the accounts of earlier days.
//!
//! A query holds the engine's lock, and the log is on a disk, so a query cannot read the log itself. It records what it needs.
//! That is fetched without the lock, and the query runs again.
//! What lives elsewhere: fetching (`service/access.rs` and `service/history.rs`), reading (`view`).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::past_accounts::PastAccounts;
use crate::domain::{Cursor, Decision, DecisionKind, Moment, ScheduleId};

/// Older decisions by schedule, and the schedules whose decisions are missing.
#[derive(Debug, Default)]
pub struct Lookback {
    found: BTreeMap<ScheduleId, PastDecisions>,
    // Readers share the view, so a request has to be recorded through a shared reference.
    requested: RefCell<BTreeMap<ScheduleId, Reach>>,
    accounts: Option<PastAccounts>,
    accounts_requested: Cell<bool>,
}

/// Which part of the log a caller may have read for a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// All facts about it: the schedule exists for the caller.
    All,
    /// Nothing, unless it belonged to the caller's family: what is left of it is in the log alone.
    Family,
}

/// Decisions about one schedule from the log, newest first.
#[derive(Debug, Default)]
pub struct PastDecisions {
    decisions: Vec<Decision>,
}

impl Lookback {
    /// Returns the decisions about a schedule; `None` if they were not fetched.
    pub(super) fn get(&self, schedule: &ScheduleId) -> Option<&PastDecisions> {
        self.found.get(schedule)
    }

    /// Records that the query needs the decisions about a schedule.
    pub(super) fn request(&self, schedule: &ScheduleId, reach: Reach) {
        self.requested.borrow_mut().insert(schedule.clone(), reach);
    }

    /// Takes the schedules whose decisions were requested.
    pub fn take_requests(&mut self) -> BTreeMap<ScheduleId, Reach> {
        std::mem::take(self.requested.get_mut())
    }

    /// Returns the accounts of earlier days; `None`, and a request, if they were not fetched.
    pub(super) fn accounts(&self) -> Option<&PastAccounts> {
        self.accounts_requested.set(self.accounts.is_none());
        self.accounts.as_ref()
    }

    /// Takes the request for the accounts of earlier days.
    pub fn take_accounts_request(&mut self) -> bool {
        self.accounts_requested.take()
    }

    /// Adds the accounts of earlier days, for the next run of the query.
    pub fn insert_accounts(&mut self, accounts: PastAccounts) {
        self.accounts = Some(accounts);
    }

    /// Adds the decisions about a schedule, for the next run of the query.
    pub fn insert(&mut self, schedule: ScheduleId, told: PastDecisions) {
        self.found.insert(schedule, told);
    }
}

impl PastDecisions {
    /// Adds the next older decision.
    pub fn push(&mut self, decision: Decision) {
        self.decisions.push(decision);
    }

    /// Returns the number of decisions.
    pub fn len(&self) -> usize {
        self.decisions.len()
    }

    /// Returns whether there are no decisions.
    pub fn is_empty(&self) -> bool {
        self.decisions.is_empty()
    }

    /// Drops the decisions up to `gap`, between which some are missing: an explanation takes the rest for complete.
    pub fn end_at(&mut self, gap: Cursor) {
        self.decisions.retain(|decision| decision.cursor > gap);
    }

    /// Returns whether the decisions reach back to the schedule's creation.
    pub(crate) fn is_complete(&self) -> bool {
        // The log retains a limited history: unless its oldest decision is the creation, older ones may be pruned.
        self.decisions.last().is_some_and(|decision| decision.kind == DecisionKind::ScheduleCreated)
    }

    /// Returns the decisions, newest first.
    pub(super) fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Returns the moment before which decisions may be missing; `None` if none are.
    pub(super) fn since(&self) -> Option<Moment> {
        self.decisions.last().filter(|_| !self.is_complete()).map(|oldest| oldest.at)
    }
}

//! Counts of what happened in one or many worlds, printed after a run.

use std::fmt;
use std::ops::AddAssign;

use crate::domain::{Fact, RunFact, Scope, Why};

/// Counts over one world, or over several added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Steps, the world's end included.
    pub steps: u64,
    /// Facts.
    pub facts: u64,
    /// Claimed slots and manual runs.
    pub claims: u64,
    /// Deliveries that reached a host or a channel.
    pub hand_overs: u64,
    /// Delivered runs.
    pub deliveries: u64,
    /// Messages that were left in an inbox.
    pub left: u64,
    /// Attempts that failed and were retried.
    pub retries: u64,
    /// Crashes.
    pub crashes: u64,
    /// Simulated disk failures.
    pub disk_faults: u64,
    /// Tool calls.
    pub calls: u64,
    /// Refused tool calls.
    pub calls_refused: u64,
    /// Checks of watches.
    pub checks: u64,
    /// Checks that were told.
    pub checks_told: u64,
    /// Silences that were told.
    pub silences: u64,
    /// Runs that a session asked for.
    pub asked: u64,
}

impl Tally {
    pub(super) fn note(&mut self, fact: &Fact) {
        self.facts += 1;
        // Deliveries are counted where hosts receive them, calls where they are made.
        let Fact::Run(_, fact, _) = fact else { return };
        match fact {
            RunFact::Claimed(claim) => {
                self.claims += 1;
                self.asked += u64::from(claim.by.as_ref().is_some_and(|by| by.scope != Scope::Operator));
            }
            RunFact::Delivered => self.deliveries += 1,
            RunFact::Returned { outcome, check } => {
                self.deliveries += u64::from(outcome.ok);
                self.checks += u64::from(check.is_some());
                let told = check.as_ref().and_then(|check| check.weighed.told);
                self.checks_told += u64::from(told.is_some());
                self.silences += u64::from(matches!(told, Some(Why::Silent(_))));
            }
            RunFact::Left => self.left += 1,
            RunFact::Retrying { .. } => self.retries += 1,
            RunFact::Queued { .. }
            | RunFact::Guard(_)
            | RunFact::Dispatched(_)
            | RunFact::Folded(_)
            | RunFact::Joined { .. }
            | RunFact::Postponed { .. }
            | RunFact::Accepted
            | RunFact::Taken { .. }
            | RunFact::Failed(_)
            | RunFact::Cancelled { .. } => {}
        }
    }

    fn parts(&self) -> [(u64, &'static str); 15] {
        [
            (self.steps, "steps"),
            (self.facts, "facts"),
            (self.claims, "claims"),
            (self.hand_overs, "hand-overs"),
            (self.deliveries, "deliveries"),
            (self.left, "left"),
            (self.retries, "retries"),
            (self.crashes, "crashes"),
            (self.disk_faults, "disk faults"),
            (self.calls, "tool calls"),
            (self.calls_refused, "of them refused"),
            (self.checks, "checks"),
            (self.checks_told, "of them told"),
            (self.silences, "silences"),
            (self.asked, "runs asked for by sessions"),
        ]
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.steps += other.steps;
        self.facts += other.facts;
        self.claims += other.claims;
        self.hand_overs += other.hand_overs;
        self.deliveries += other.deliveries;
        self.left += other.left;
        self.retries += other.retries;
        self.crashes += other.crashes;
        self.disk_faults += other.disk_faults;
        self.calls += other.calls;
        self.calls_refused += other.calls_refused;
        self.checks += other.checks;
        self.checks_told += other.checks_told;
        self.silences += other.silences;
        self.asked += other.asked;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (count, what)) in self.parts().into_iter().enumerate() {
            write!(f, "{}{count} {what}", if place == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

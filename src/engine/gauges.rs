//! Counts of the present state.
//!
//! Cost: a few lengths, one pass over the sessions, and one step per due slot.

use super::state::State;
use crate::domain::{Dialect, Now, Span};

/// The number of things of each kind at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Open sessions.
    pub sessions: u64,
    /// Schedules whose next slot has a deadline, due ones included.
    pub pending: u64,
    /// Schedules whose slot is due and not claimed yet.
    pub due: u64,
    /// Pending runs and slots with neither a slot deadline nor an outstanding receipt: mainly runs
    /// that wait for their session or their host.
    pub queued: u64,
    /// Runs whose receipt is outstanding.
    pub running: u64,
    /// Volatile schedules that were not handed over: what a crash would lose.
    pub(crate) volatile: u64,
    /// Runs that wait for an operator's approval, or for the answer of an external guard.
    pub(crate) approvals: u64,
    /// Messages that were left in a session in which nobody listens, and that nobody has taken.
    pub(crate) left: u64,
    /// Schedules that have not ended, by dialect, in the order of [`Dialect::ALL`].
    pub(crate) by_dialect: [u64; Dialect::ALL.len()],
    /// Whether everything is held.
    pub(crate) held: bool,
    /// How long ago the slot was of the run that waits longest for its session, its host or its channel; zero if none
    /// waits.
    pub(crate) longest_wait: Span,
    /// Expected slots minus those accounted for; anything but 0 is a defect.
    pub(crate) imbalance: i64,
}

impl State {
    /// Returns the number of open sessions.
    pub fn session_count(&self) -> u64 {
        self.sessions.len() as u64
    }

    /// Returns the number of volatile schedules that were not handed over, or whose calls are out.
    pub fn volatile_count(&self) -> u64 {
        let owners = self.unstarted.iter().filter_map(|key| self.sessions.get(*key));
        owners.map(|session| u64::from(session.unstarted)).sum::<u64>()
            + self.volatile_calls_out().count() as u64
    }

    /// Returns how long ago the earliest slot was of all runs that wait in a session, to be sent by a channel, or to be
    /// tried again.
    fn longest_wait(&self, now: Now) -> Span {
        let lanes =
            self.sessions.iter().flat_map(|(_, session)| &session.waiting).chain(&self.outside).copied();
        let waiting = lanes.chain(self.timers.retries());
        let slots = waiting.filter_map(|key| self.runs.get(key)).map(|record| record.run.slot);
        slots.min().map_or(Span::ZERO, |slot| now.wall.since(slot))
    }

    /// Returns the counts at `now`.
    pub fn gauges(&self, now: Now) -> Gauges {
        let (pending, running) = (self.timers.slots_len(), self.timers.receipts_len());
        Gauges {
            sessions: self.sessions.len() as u64,
            pending,
            due: self.timers.slots_due(now),
            queued: self.ledger.pending.saturating_sub(pending + running),
            running,
            volatile: self.volatile_count(),
            approvals: self.timers.approvals_len(),
            left: self.ledger.left,
            by_dialect: self.live,
            held: self.held().is_some(),
            longest_wait: self.longest_wait(now),
            imbalance: i64::try_from(self.ledger.imbalance()).unwrap_or(i64::MAX),
        }
    }
}

//! How many there are of everything, at one moment.
//!
//! Cost: a few lengths, and a look at each slot that is due; nothing is searched.

use super::state::State;
use crate::domain::Now;

/// How many there are at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Open sessions.
    pub sessions: u64,
    /// Schedules whose slot has not been claimed; those that are due included.
    pub pending: u64,
    /// Schedules whose slot has come and is still to be claimed.
    pub due: u64,
    /// Runs that wait for their session or their host.
    pub queued: u64,
    /// Runs whose receipt is out.
    pub running: u64,
    /// Schedules in memory only that were not handed to a host: what a crash would lose.
    pub volatile: u64,
    /// Expected slots less those accounted for: anything but 0 is a defect.
    pub imbalance: i64,
}

impl State {
    /// The counts at `now`.
    pub fn gauges(&self, now: Now) -> Gauges {
        let (pending, running) = (self.timers.slots_len(), self.timers.receipts_len());
        Gauges {
            sessions: self.sessions.len() as u64,
            pending,
            due: self.timers.slots_due(now),
            queued: self.ledger.pending.saturating_sub(pending + running),
            running,
            volatile: self.sessions.iter().map(|(_, session)| u64::from(session.unstarted)).sum(),
            imbalance: i64::try_from(self.ledger.imbalance()).unwrap_or(i64::MAX),
        }
    }
}

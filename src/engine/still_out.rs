//! What is with hosts, couriers and executors while a process that goes on after a failure of its store loads its durable work
//! again: they have it still, so it is not handed over a second time.
//!
//! It is noted when the durable part of the state is dropped, and forgotten when the engine has restarted on the rows. What lives
//! elsewhere: what becomes of all other runs that were with a host (`step/whole/restart.rs`).

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Phase, RunId, RunState};
use crate::engine::record::RunRecord;
use crate::engine::slab::Key;
use crate::engine::state::State;

/// The durable runs that were with a host, or had been delivered, when the durable part of the state was dropped.
#[derive(Clone, Debug, Default)]
pub(super) struct StillOut {
    /// With a host, each with what it had there.
    runs: BTreeMap<RunId, StillAt>,
    /// Delivered: the store may have them as in their turns still, because no report that could be repeated ends a turn.
    delivered: BTreeSet<RunId>,
}

/// Where a run was that is out still.
#[derive(Clone, Copy, Debug)]
pub(super) struct StillAt {
    pub(super) phase: Option<Phase>,
    pub(super) lane: Option<Key>,
    /// Whether its delivery occupied the lane: without a receipt, no other may go there.
    pub(super) occupies: bool,
}

impl State {
    /// Notes what is out, before the durable part of the state is dropped.
    pub(super) fn note_still_out(&mut self) {
        let mut still_out = StillOut::default();
        for (key, record) in self.runs.iter() {
            let schedule = self.schedules.get(record.schedule);
            let is_durable = schedule.is_some_and(|schedule| schedule.schedule.is_durable());
            let Some(id) = Some(record).filter(|_| is_durable).and_then(|record| self.run_id(record)) else {
                continue;
            };
            match record.run.state {
                RunState::InFlight | RunState::Running => {
                    let lane = record.lane.and_then(|lane| self.sessions.get(lane));
                    let occupies = lane.is_some_and(|lane| lane.in_flight == Some(key));
                    let at = StillAt { phase: record.run.phase, lane: record.lane, occupies };
                    still_out.runs.insert(id, at);
                }
                RunState::Delivered => _ = still_out.delivered.insert(id),
                RunState::Queued | RunState::Left | RunState::Cancelled | RunState::Failed => {}
            }
        }
        self.still_out = still_out;
    }

    /// Returns where a loaded run was when the durable part of the state was dropped; `None` if it was not out, as in a new
    /// process.
    pub(super) fn still_at(&self, run: &RunRecord) -> Option<StillAt> {
        if self.still_out.runs.is_empty() {
            return None;
        }
        self.still_out.runs.get(&self.run_id(run)?).copied()
    }

    /// Returns whether a loaded run, whose turn goes on according to its row, has been delivered.
    pub(super) fn was_delivered(&self, run: &RunRecord) -> bool {
        let delivered = &self.still_out.delivered;
        let is_it = || self.run_id(run).is_some_and(|run| delivered.contains(&run));
        run.run.state == RunState::Running && !delivered.is_empty() && is_it()
    }
}

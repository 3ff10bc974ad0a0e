//! The turns of agents, as they stand: in memory only, at most `limits::TURNS_KEPT`. The oldest are dropped.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::domain::{RunId, Turn};
use crate::limits;

/// The turns by run.
#[derive(Default)]
pub(super) struct Turns {
    by_run: BTreeMap<RunId, Arc<Turn>>,
    in_order: VecDeque<RunId>,
}

impl Turns {
    /// Keeps a turn as it stands; the one before it of the same run is replaced.
    pub(super) fn keep(&mut self, turn: Turn) {
        let run = turn.run.clone();
        if self.by_run.insert(run.clone(), Arc::new(turn)).is_none() {
            self.in_order.push_back(run);
        }
        while self.in_order.len() as u64 > limits::TURNS_KEPT.value
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.by_run.remove(&oldest);
        }
    }

    /// Returns the runs of the turns that wait for an operator's answer, the one that began first in front.
    pub(super) fn asking(&self) -> Vec<RunId> {
        let asks = |run: &&RunId| self.by_run.get(*run).is_some_and(|turn| turn.asks());
        self.in_order.iter().filter(asks).cloned().collect()
    }

    pub(super) fn of(&self, run: &RunId) -> Option<Arc<Turn>> {
        self.by_run.get(run).map(Arc::clone)
    }
}

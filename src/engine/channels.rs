//! The ways out of the process, and what waits to go there: reads of the state.

use super::record::{ChannelRecord, RunRecord};
use super::slab::Key;
use super::state::State;

impl State {
    /// The ways out of the process, by their names.
    pub fn channels(&self) -> impl Iterator<Item = &ChannelRecord> {
        self.channels.values()
    }

    /// The way out of the process of this name.
    pub fn channel(&self, name: &str) -> Option<&ChannelRecord> {
        self.channels.get(name)
    }

    /// Whether a run waits in a lane, or to go outside.
    pub(super) fn is_waiting(&self, run: Key) -> bool {
        self.outside.contains(&run) || self.runs.get(run).is_some_and(|record| record.lane.is_some())
    }

    /// The runs that wait to go outside, in the order in which they will.
    pub(super) fn waiting_outside(&self) -> Vec<&RunRecord> {
        let mut runs: Vec<&RunRecord> = self.outside.iter().filter_map(|key| self.runs.get(*key)).collect();
        runs.sort_unstable_by(|one, two| self.run_order(one).cmp(&self.run_order(two)));
        runs
    }
}

//! Channels out of the process, and the runs that wait for them: reads of the state.

use super::record::{ChannelRecord, RunRecord};
use super::slab::Key;
use super::state::State;

impl State {
    /// Returns the channels that operators have configured, by name.
    pub fn channels(&self) -> impl Iterator<Item = &ChannelRecord> {
        self.channels.values()
    }

    /// Returns the channel with this name.
    pub fn channel(&self, name: &str) -> Option<&ChannelRecord> {
        self.channels.get(name)
    }

    /// Returns whether a run waits in a session's lane, or outside of all lanes.
    pub(super) fn is_waiting(&self, run: Key) -> bool {
        self.outside.contains(&run) || self.runs.get(run).is_some_and(|record| record.lane.is_some())
    }

    /// Returns the runs that wait outside of all lanes, for a channel or to call a tool, in delivery order.
    pub(super) fn waiting_outside(&self) -> Vec<&RunRecord> {
        let mut runs: Vec<&RunRecord> = self.outside.iter().filter_map(|key| self.runs.get(*key)).collect();
        runs.sort_unstable_by(|one, two| self.run_order(one).cmp(&self.run_order(two)));
        runs
    }
}

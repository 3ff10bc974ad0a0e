//! Channels out of the process, and the runs that wait for them: reads of the state, and what went through each.

use std::collections::BTreeMap;

use super::pause::Pause;
use super::record::{ChannelRecord, RunRecord};
use super::slab::Key;
use super::state::State;
use crate::domain::{ChannelEvent, Direction, Moment, RunState, Target};
use crate::limits;

/// Which ways of a channel are paused. It outlives the process, and a configuration without the channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelPauses {
    /// Who closed the way in, and when.
    pub(crate) inbound: Option<Pause>,
    /// Who closed the way out, and when.
    pub(crate) outbound: Option<Pause>,
}

impl ChannelPauses {
    /// Returns the pause of one way.
    pub(crate) fn of(&self, direction: Direction) -> Option<&Pause> {
        match direction {
            Direction::Inbound => self.inbound.as_ref(),
            Direction::Outbound => self.outbound.as_ref(),
        }
    }

    pub(super) fn set(&mut self, direction: Direction, pause: Option<Pause>) {
        match direction {
            Direction::Inbound => self.inbound = pause,
            Direction::Outbound => self.outbound = pause,
        }
    }
}

impl ChannelRecord {
    /// Returns the latest messages, oldest first. They are in memory only.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = &ChannelEvent> {
        self.events.iter()
    }

    /// Returns how many messages were sent, and how many attempts failed, since the engine was started.
    #[cfg(feature = "http")]
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.sent, self.failed)
    }

    fn note(&mut self, event: ChannelEvent) {
        if self.events.len() as u64 == limits::CHANNEL_EVENTS.value {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

impl State {
    /// Returns the channels that operators have configured, by name.
    pub(crate) fn channels(&self) -> impl Iterator<Item = &ChannelRecord> {
        self.channels.values()
    }

    /// Returns the channel with this name.
    pub fn channel(&self, name: &str) -> Option<&ChannelRecord> {
        self.channels.get(name)
    }

    /// Returns the channels that are paused, by name.
    pub fn channel_pauses(&self) -> &BTreeMap<Box<str>, ChannelPauses> {
        &self.channel_pauses
    }

    /// Returns the pause of one way of a channel; `None` if it is open.
    pub fn channel_pause(&self, name: &str, direction: Direction) -> Option<&Pause> {
        self.channel_pauses.get(name)?.of(direction)
    }

    /// Notes that a run has ended, if it was for a channel.
    pub(super) fn note_channel_outcome(&mut self, run: Key, at: Moment) {
        let Some(record) = self.runs.get(run) else { return };
        // A message that was cancelled neither went through nor failed.
        let has_ended = matches!(record.run.state, RunState::Delivered | RunState::Failed);
        let Some(schedule) = self.schedules.get(record.schedule).filter(|_| has_ended) else { return };
        let (Target::Route(route), Some(id)) = (schedule.schedule.target(), self.run_id(record)) else {
            return;
        };
        let error = record.run.failure.as_ref().filter(|_| record.run.state == RunState::Failed);
        let event = ChannelEvent {
            id: id.to_string().into(),
            direction: Direction::Outbound,
            session: schedule.schedule.owner.clone(),
            at,
            error: error.map(|failure| failure.message.clone()),
        };
        let channel = route.channel.clone();
        // The channel may be gone: the configuration can change between two processes.
        if let Some(channel) = self.channels.get_mut(&channel) {
            let count = if event.error.is_some() { &mut channel.failed } else { &mut channel.sent };
            *count += 1;
            channel.note(event);
        }
    }

    /// Counts an attempt to send a message that has failed, and is made again later.
    pub(super) fn count_failed_attempt(&mut self, run: Key) {
        let schedule = self.runs.get(run).and_then(|record| self.schedules.get(record.schedule));
        let Some(Target::Route(route)) = schedule.map(|record| record.schedule.target()) else { return };
        if let Some(channel) = self.channels.get_mut(&route.channel) {
            channel.failed += 1;
        }
    }

    /// Returns how many runs wait to be sent by each channel.
    #[cfg(feature = "http")]
    pub(crate) fn waiting_by_channel(&self) -> BTreeMap<Box<str>, u64> {
        let mut counts = BTreeMap::new();
        // One that is tried again waits for its time alone.
        let runs =
            self.outside.iter().copied().chain(self.timers.retries()).filter_map(|key| self.runs.get(key));
        for schedule in runs.filter_map(|run| self.schedules.get(run.schedule)) {
            if let Target::Route(route) = schedule.schedule.target() {
                *counts.entry(route.channel.clone()).or_default() += 1;
            }
        }
        counts
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

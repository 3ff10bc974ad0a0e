//! How a fact about a channel changes the state.

use std::collections::VecDeque;

use crate::domain::{Actor, ChannelFact, Direction, Now};
use crate::engine::pause::Pause;
use crate::engine::record::ChannelRecord;
use crate::engine::state::State;

impl State {
    pub(super) fn apply_to_channel(&mut self, now: Now, name: Box<str>, fact: ChannelFact) {
        match fact {
            ChannelFact::Opened(channel) => {
                // A channel that is opened again starts anew: enabled, without counts and events.
                let events = VecDeque::new();
                let record = ChannelRecord { channel, disabled_at: None, sent: 0, failed: 0, events };
                self.channels.insert(name, record);
            }
            ChannelFact::Disabled => {
                if let Some(record) = self.channels.get_mut(&name) {
                    record.disabled_at = Some(now.wall);
                }
            }
            ChannelFact::Paused { direction, by } => self.pause_channel(now, name, direction, by),
            ChannelFact::Resumed { direction, .. } => {
                if let Some(pauses) = self.channel_pauses.get_mut(&name) {
                    pauses.set(direction, None);
                }
                // A channel without a pause needs no entry. The number of entries is bounded (`step/whole/pause_channel.rs`).
                self.channel_pauses.retain(|_, it| it.inbound.is_some() || it.outbound.is_some());
            }
        }
    }

    fn pause_channel(&mut self, now: Now, name: Box<str>, direction: Direction, by: Actor) {
        let pause = Pause { by, reason: None, since: now.wall };
        self.channel_pauses.entry(name).or_default().set(direction, Some(pause));
    }
}

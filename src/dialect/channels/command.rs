//! Converts a message to a schedule that is due at once.
//!
//! Invariant: a message is a notice, which begins no turn; it outlives its session, and is tried again as any delivery of a
//! channel.

use super::call::OutMessage;
use crate::domain::{
    About, Dialect, Durability, Lifetime, Notice, Payload, Route, ScheduleId, SessionId, Settings, Span,
    Target, When,
};
use crate::engine::NewSchedule;

impl OutMessage {
    /// Returns where the message goes through this channel.
    pub fn target(&self, channel: &str) -> Target {
        let (conversation, thread) = (self.recipient.clone().unwrap_or_default(), self.thread.clone());
        Target::Route(Box::new(Route { channel: channel.into(), conversation, thread }))
    }

    /// Builds the schedule with this id that sends the message through a channel, for `owner`.
    pub fn into_new(
        self,
        id: ScheduleId,
        owner: SessionId,
        channel: &str,
        durability: Durability,
    ) -> NewSchedule {
        let target = self.target(channel);
        // A message that was accepted is sent even if its session is closed before.
        let lifetime = Lifetime { dies_with_session: false, ..Lifetime::PLAIN };
        let notice = Notice { about: About::Reminder, text: self.text, file: None };
        NewSchedule {
            id: Some(id),
            dialect: Dialect::Channels,
            durability,
            label: self.subject,
            payload: Payload::Notice(Box::new(notice)),
            settings: Some(Box::new(Settings { target, lifetime, ..Settings::PLAIN })),
            ..NewSchedule::message(owner, When::After(Span::ZERO), "")
        }
    }
}

//! A channel as the tools show it, by what one caller may see of it.

use crate::domain::{ChannelEvent, ChannelKind, Direction, Moment, SessionId};
use crate::edn::{Map, Value};
use crate::engine::{ChannelPauses, ChannelRecord};
use crate::graph::psi_terms;

/// A channel, with the events that the caller may see.
#[derive(Clone, Debug)]
pub struct Provider {
    /// Its name.
    pub(crate) name: Box<str>,
    kind: ChannelKind,
    enabled: bool,
    /// Whether anything comes in by it.
    pub(crate) takes: bool,
    /// Whether sessions may pause, resume and try it.
    pub agents_manage: bool,
    pauses: ChannelPauses,
    /// How many events the channel's condition has left out; `None` if the caller is not told.
    pub(crate) filtered: Option<u64>,
    /// The events, oldest first.
    pub(crate) events: Vec<ChannelEvent>,
}

impl Provider {
    /// Shows a channel to a session, which sees its own events only, or to an operator, who sees all.
    pub fn of(
        (record, pauses): (&ChannelRecord, ChannelPauses),
        arrivals: Option<Vec<ChannelEvent>>,
        session: Option<&SessionId>,
    ) -> Provider {
        let takes = arrivals.is_some();
        let is_theirs = |event: &&ChannelEvent| session.is_none_or(|session| event.session == *session);
        let mut events: Vec<ChannelEvent> = record.events().filter(is_theirs).cloned().collect();
        events.extend(arrivals.unwrap_or_default().into_iter().filter(|event| is_theirs(&event)));
        // Two lists become one. The sort is stable, so events of one instant keep their order.
        events.sort_by_key(|event| event.at);
        Provider {
            name: record.channel.name.clone(),
            kind: record.channel.kind,
            enabled: record.disabled_at.is_none(),
            takes,
            agents_manage: record.channel.agents_manage,
            pauses,
            filtered: None,
            events,
        }
    }

    fn count(&self, direction: Direction) -> usize {
        self.events.iter().filter(|event| event.direction == direction && event.error.is_none()).count()
    }

    /// Returns whether nothing goes this way.
    pub(crate) fn is_paused(&self, direction: Direction) -> bool {
        self.pauses.of(direction).is_some()
    }

    fn last_error(&self) -> Option<&str> {
        self.events.iter().rev().find_map(|event| event.error.as_deref())
    }

    /// How the channel is, in the words of the seed.
    pub(crate) fn status(&self) -> &'static str {
        match self.events.last() {
            // What holds the channel up comes before what went through it last.
            _ if !self.enabled => "stopped",
            _ if self.pauses != ChannelPauses::default() => "paused",
            Some(event) if event.error.is_some() => "error",
            Some(_) => "active",
            None => "ready",
        }
    }

    /// Returns how many messages came in, and how many went out.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.count(Direction::Inbound), self.count(Direction::Outbound))
    }

    /// Prints the channel; `with_status` adds how it is.
    pub(crate) fn to_map(&self, with_status: bool) -> Map {
        let plain = Map::new()
            .with("name", &*self.name)
            .with("adapter", self.kind.name())
            .with("inbound", self.takes)
            .with("outbound", true)
            .with("enabled", self.enabled);
        if !with_status {
            return plain;
        }
        let (received, sent) = self.counts();
        let plain = plain.with_some(
            "events_filtered",
            self.filtered.map(|count| i64::try_from(count).unwrap_or(i64::MAX)),
        );
        plain
            .with("status", self.status())
            .with("events_received", number(received))
            .with("events_sent", number(sent))
            .with("inbound_paused", self.is_paused(Direction::Inbound))
            .with("outbound_paused", self.is_paused(Direction::Outbound))
            // A field of the seed, which counts the turns of a channel. They are not counted here.
            .with("active_activations", 0)
            .with("last_error", self.last_error())
    }

    /// When something last went through.
    pub(crate) fn last_event_at(&self) -> Option<Value> {
        self.events.last().map(|event| instant(event.at))
    }

    /// Which ways messages go.
    pub(crate) fn capabilities(&self) -> Vec<Value> {
        let inbound = self.takes.then_some(Value::from("inbound"));
        inbound.into_iter().chain([Value::from("outbound")]).collect()
    }

    /// Prints one of its events.
    pub(crate) fn event(&self, event: &ChannelEvent) -> Value {
        Map::new()
            .with("event_id", &*event.id)
            .with("provider", &*self.name)
            .with("direction", event.direction.name())
            .with("source", event.session.as_str())
            .with("timestamp", instant(event.at))
            .with("success", event.error.is_none())
            .with("error", event.error.as_deref())
            .into()
    }
}

fn instant(at: Moment) -> Value {
    psi_terms::instant(at)
}

pub(super) fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

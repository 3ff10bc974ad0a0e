//! What comes in by channels: an event becomes a turn of the session that its channel is for.
//!
//! Whether the sender is whom it says is up to the surface. What lives elsewhere: turns, lanes, receipts (`engine`). Invariants:
//! an event is on disk before its sender is answered; the same event again does nothing; the words of strangers are quoted as
//! data below a line of ours, which says where they are from.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, OnceLock, PoisonError};

use sha2::{Digest, Sha256};

use super::admission::Admitted;
use super::arrival::Arrival;
use super::inbound_text::{Template, bytes, one_line, short, text};
use super::{Service, creation};
use crate::domain::{
    Actor, Caller, ChannelEvent, Condition, Dialect, Direction, HostId, Op, Outcome, Payload, Refusal,
    ScheduleId, SessionConfig, SessionId, Settings, Span, When,
};
use crate::engine::{Circumstances, NewSchedule, SessionRecord, judge};
use crate::limits;

/// What becomes of the events of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbound {
    /// The session whose turns they begin.
    pub session: Activation,
    /// Which events count: those whose payload, as `result`, meets it. `None` for all.
    pub filter: Option<Condition>,
    /// The text of the turn; `None` for the message and the payload.
    pub text: Option<Template>,
}

/// Whose turns the events of a channel begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activation {
    /// Those of one session, which somebody else opens.
    Session(SessionId),
    /// Those of a session for each source, which the first event opens.
    PerSource,
    /// Those of a session for each event, which it opens.
    PerEvent,
}

impl Activation {
    /// Returns the session of an event that came in by this channel.
    ///
    /// # Errors
    /// The channel's name is too long for the id of a session.
    pub fn session(&self, channel: &str, source: &str, event: &str) -> Result<SessionId, String> {
        let of = match self {
            Activation::Session(session) => return Ok(session.clone()),
            Activation::PerSource => source,
            Activation::PerEvent => event,
        };
        // A stranger's word is not an id of ours: what names the session is a digest of it.
        SessionId::new(&format!("{}{}", prefix(channel), digest(of, 12))).map_err(|error| error.to_string())
    }
}

/// The first bytes of the digest of a text, in hexadecimal digits.
fn digest(text: &str, bytes: usize) -> String {
    Sha256::digest(text).iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

/// The idempotency key of an event. A long id is told by its digest: cut, it would be that of all that begin with the same bytes.
fn key_of(channel: &str, event: &str) -> String {
    if limits::CHANNEL_EVENT_BYTES.admits(event) {
        format!("in/{channel}/{event}")
    } else {
        // No slash behind the name of the channel: it is the key of no short id.
        format!("in/{channel}#{}", digest(event, 32))
    }
}

/// What the ids of the sessions begin with that events of a channel open.
fn prefix(channel: &str) -> String {
    format!("channel/{channel}/")
}

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// It begins a turn.
    Begun {
        /// The schedule whose only run is the turn.
        schedule: ScheduleId,
    },
    /// It had come before, and nothing has happened.
    Duplicate {
        /// The schedule of the first time.
        schedule: ScheduleId,
    },
    /// It does not meet the channel's condition, and was only counted.
    Filtered,
}

/// The channels by which something may come in, and what came in of late.
#[derive(Default)]
pub(super) struct Inbounds {
    channels: OnceLock<BTreeMap<Box<str>, Inbound>>,
    /// By channel, oldest first: one that gets much drops its own events only.
    events: Mutex<BTreeMap<Box<str>, VecDeque<ChannelEvent>>>,
    /// How many events each channel's condition has left out.
    filtered: Mutex<BTreeMap<Box<str>, u64>>,
    /// Held while a session is opened for an event, so that there are not more than there may be.
    opening: Mutex<()>,
}

impl Service {
    /// Opens channels for what comes in; only the first call counts.
    pub fn open_inbound(&self, channels: BTreeMap<Box<str>, Inbound>) {
        let _ = self.shared.inbounds.channels.set(channels);
    }

    /// What becomes of the events of this channel; `None` if nothing comes in by it.
    pub(crate) fn inbound(&self, channel: &str) -> Option<&Inbound> {
        self.shared.inbounds.channels.get()?.get(channel)
    }

    /// The latest events of a channel, oldest first.
    pub(crate) fn arrivals(&self, channel: &str) -> Vec<ChannelEvent> {
        let events = self.shared.inbounds.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.get(channel).into_iter().flatten().cloned().collect()
    }

    /// How many events the condition of a channel has left out since the process began.
    pub(crate) fn filtered(&self, channel: &str) -> u64 {
        let filtered = self.shared.inbounds.filtered.lock().unwrap_or_else(PoisonError::into_inner);
        filtered.get(channel).copied().unwrap_or_default()
    }

    /// Makes a turn of an event. When this returns, the event is on disk, if there is one.
    ///
    /// # Errors
    /// The engine's refusal. [`Refusal::ChannelNotAllowed`] if nothing comes in by this channel,
    /// [`Refusal::ChannelPaused`] if nothing does for now.
    pub fn arrive(&self, channel: &str, arrival: &Arrival) -> Result<Arrived, Refusal> {
        let sender = Caller::channel(channel);
        let refused = || Refusal::ChannelNotAllowed { channel: channel.into() };
        let to = self.inbound(channel).ok_or_else(refused)?;
        let admitted = self.admit(&sender, Op::Arrive, None).map_err(|_| refused())?;
        // Before the condition: while the channel is paused the sender is to send the event again, whatever it says.
        if self.handle().view(|state| state.channel_pause(channel, Direction::Inbound).is_some()) {
            return Err(Refusal::ChannelPaused { channel: channel.into() });
        }
        if to.filter.as_ref().is_some_and(|condition| !holds(condition, arrival)) {
            self.note_filtered(channel);
            return Ok(Arrived::Filtered);
        }
        let session = to.session.session(channel, &arrival.source, &arrival.event);
        // The configuration was checked for names that are too long.
        let session = session.map_err(|_| refused())?;
        let arrived = match to.session {
            Activation::Session(_) => Ok(()),
            Activation::PerSource | Activation::PerEvent => self.open_for_event(admitted, channel, &session),
        };
        let arrived = arrived.and_then(|()| self.create_turn(admitted, (channel, to), &session, arrival));
        match &arrived {
            // Senders repeat an event until they are answered, so a repeat leaves no trace in the history.
            Ok(Arrived::Duplicate { .. } | Arrived::Filtered) => {}
            Ok(Arrived::Begun { .. }) => self.note_arrival(channel, session, arrival, None),
            Err(refusal) => self.note_arrival(channel, session, arrival, Some(refusal.to_string())),
        }
        arrived
    }

    fn create_turn(
        &self,
        admitted: Admitted<'_>,
        (channel, to): (&str, &Inbound),
        session: &SessionId,
        arrival: &Arrival,
    ) -> Result<Arrived, Refusal> {
        // The sender's id is the idempotency key: an event that is sent again finds the schedule of the first time.
        let key = key_of(channel, &arrival.event);
        // Blanks are in neither name, so the two come apart again.
        let way_back = format!("{channel} {}", one_line(&arrival.source));
        // What a session simulates is its own words, so grants and rules about that session hold for the turn.
        let by = admitted.caller().actor_with(Dialect::Channels);
        let by = Actor { scope: arrival.simulated.clone().unwrap_or(by.scope), ..by };
        let new = NewSchedule {
            dialect: Dialect::Channels,
            durability: creation::durability(self.handle()),
            label: Some(format!("channel {channel}").into()),
            // An event belongs to no chain of schedules: it is a beginning.
            made_by: Some(Box::new(by)),
            payload: Payload::Turn { text: text(channel, to.text.as_ref(), arrival).into() },
            settings: Some(Box::new(Settings {
                key: Some(key.into()),
                // `channels.reply` reads the way back from here.
                description: Some(short(&way_back, bytes(limits::LABEL_BYTES)).into()),
                ..Settings::PLAIN
            })),
            ..NewSchedule::message(session.clone(), When::After(Span::ZERO), "")
        };
        let read = |_| Ok::<_, Refusal>((When::After(Span::ZERO), ()));
        let (created, ()) = creation::create(self.handle(), new, read, |_| ())?;
        match created {
            Ok(created) if created.is_new => Ok(Arrived::Begun { schedule: created.id }),
            Ok(created) => Ok(Arrived::Duplicate { schedule: created.id }),
            // The same id with another text: the first one counts.
            Err(Refusal::KeyTaken { schedule }) => Ok(Arrived::Duplicate { schedule }),
            Err(refusal) => Err(refusal),
        }
    }

    /// Opens the session of an event, unless it is open. Where as many are open as may be, the oldest goes in which nothing is
    /// left to do.
    fn open_for_event(
        &self,
        admitted: Admitted<'_>,
        channel: &str,
        session: &SessionId,
    ) -> Result<(), Refusal> {
        let _one_at_a_time = self.shared.inbounds.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let prefix = prefix(channel);
        let idle = self.handle().view(|state| {
            if state.session(session).is_some() {
                return None;
            }
            let all = state.sessions();
            // What a channel has opened is known by the beginning of its id.
            let of_channel = || all.iter().filter(|record| record.id().as_str().starts_with(&prefix));
            // No turn, schedule or message is left in it, so closing it loses nothing.
            let is_done = |it: &&&SessionRecord| !it.is_busy() && it.live_count() == 0 && it.inbox_len() == 0;
            let is_full = of_channel().count() as u64 >= limits::CHANNEL_SESSIONS.value;
            let oldest = of_channel().filter(is_done).min_by_key(|record| record.opened_at());
            Some((is_full, oldest.map(|record| record.id().clone())))
        });
        let by = admitted.caller().actor_with(Dialect::Channels);
        match idle {
            None => return Ok(()),
            Some((true, None)) => return Err(Refusal::LimitReached { limit: limits::CHANNEL_SESSIONS }),
            Some((true, Some(oldest))) => self.handle().sessions().close_by(&oldest, Some(by.clone()))?,
            Some((false, _)) => {}
        }
        // Nobody listens in it: its messages wait in its inbox until somebody takes them, or a host takes it over.
        let (id, config) = (Some(session.clone()), SessionConfig::default());
        match self.handle().sessions().open_by(id, HostId::INBOX, config, Some(by)) {
            // Whether it exists was asked under another lock, so somebody else may have opened it since.
            Ok(_) | Err(Refusal::SessionExists { .. }) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    fn note_filtered(&self, channel: &str) {
        if !self.handle().is_rehearsal() {
            let filtered = &self.shared.inbounds.filtered;
            *filtered.lock().unwrap_or_else(PoisonError::into_inner).entry(channel.into()).or_default() += 1;
        }
    }

    fn note_arrival(&self, channel: &str, session: SessionId, arrival: &Arrival, error: Option<String>) {
        // Nothing came in.
        if self.handle().is_rehearsal() {
            return;
        }
        let event = ChannelEvent {
            id: short(&arrival.event, bytes(limits::CHANNEL_EVENT_BYTES)).into(),
            direction: Direction::Inbound,
            session,
            at: self.handle().now().wall,
            error: error.map(Into::into),
        };
        let mut events = self.shared.inbounds.events.lock().unwrap_or_else(PoisonError::into_inner);
        let events = events.entry(channel.into()).or_default();
        if events.len() as u64 >= limits::CHANNEL_EVENTS.value {
            events.pop_front();
        }
        events.push_back(event);
    }
}

/// Whether the payload of an event, as the result of a call, meets a condition.
fn holds(condition: &Condition, arrival: &Arrival) -> bool {
    let outcome = Outcome::of_value(arrival.payload.clone(), 0, Span::ZERO);
    judge(condition, Circumstances { now: &outcome, before: None, streak: 0 }).holds
}

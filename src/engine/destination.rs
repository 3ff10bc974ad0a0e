//! Where a run goes, and why it cannot go there now.
//!
//! What lives elsewhere: dispatching (`step/run/dispatch.rs`).

use super::pause::Pause;
use super::record::{RunRecord, ScheduleRecord, SessionRecord};
use super::slab::Key;
use super::state::State;
use crate::domain::{CallVia, Direction, HostId, Reason, Route, Schedule, SessionId, Target};

/// Where a run goes, as of now.
#[derive(Clone, Copy, Debug)]
pub(super) enum Destination<'a> {
    /// Into this session.
    Session(Key, &'a SessionRecord),
    /// Into a fresh session, which the host of this session creates.
    Fresh(Key, &'a SessionRecord),
    /// Out of the process, through this channel, which may be paused.
    Channel(&'a Route, Option<&'a Pause>),
    /// To a tool. A call that needs a session's host waits for that host, in no lane.
    Tool(Option<(Key, &'a SessionRecord)>),
    /// Nowhere, for this reason.
    Unreachable(Reason),
}

impl<'a> Destination<'a> {
    /// Returns the session that the run goes into, or whose host creates the fresh session.
    pub(super) fn session(self) -> Option<&'a SessionRecord> {
        match self {
            Destination::Session(_, session)
            | Destination::Fresh(_, session)
            | Destination::Tool(Some((_, session))) => Some(session),
            Destination::Channel(..) | Destination::Tool(None) | Destination::Unreachable(_) => None,
        }
    }

    /// Returns the session that takes one run at a time, of which this is one; `None` if the run takes no turn there.
    pub(super) fn lane(self) -> Option<Key> {
        match self {
            Destination::Session(lane, _) => Some(lane),
            Destination::Fresh(..)
            | Destination::Channel(..)
            | Destination::Tool(_)
            | Destination::Unreachable(_) => None,
        }
    }

    /// Returns the session in whose queue the run waits until it can be handed over; `None` if it waits in no session's.
    pub(super) fn queue(self) -> Option<Key> {
        match self {
            Destination::Session(key, _) | Destination::Fresh(key, _) | Destination::Tool(Some((key, _))) => {
                Some(key)
            }
            Destination::Channel(..) | Destination::Tool(None) | Destination::Unreachable(_) => None,
        }
    }
}

impl Destination<'_> {
    /// Returns why a run cannot be handed over there now; `None` if it can.
    pub(super) fn blocks(self) -> Option<Reason> {
        match self {
            Destination::Session(_, session) => session.blocks_prompt(),
            Destination::Fresh(_, session) | Destination::Tool(Some((_, session))) => session.blocks_fresh(),
            Destination::Channel(_, pause) => pause.map(|_| Reason::ChannelPaused),
            Destination::Tool(None) | Destination::Unreachable(_) => None,
        }
    }
}

impl SessionRecord {
    /// Returns why a prompt cannot be handed over now; `None` if it can.
    pub(super) fn blocks_prompt(&self) -> Option<Reason> {
        // Most lasting reason first: a lost host matters more than the turn it did not finish.
        if !self.hosted {
            Some(self.away.unwrap_or(Reason::HostGone))
        } else if self.in_flight.is_some() {
            Some(Reason::DeliveryInFlight)
        } else if self.turn_starting {
            Some(Reason::TurnStarting)
        } else {
            self.busy.then_some(Reason::SessionBusy)
        }
    }

    /// Returns why the host cannot create a fresh session, or call a tool, now; `None` if it can. No lane is needed.
    pub(super) fn blocks_fresh(&self) -> Option<Reason> {
        (!self.hosted).then(|| self.away.unwrap_or(Reason::HostGone))
    }
}

impl State {
    /// Resolves where a run goes, as of now; `None` if its schedule is gone.
    pub(super) fn destination_of<'a>(&'a self, run: &'a RunRecord) -> Option<Destination<'a>> {
        let owner = self.schedules.get(run.schedule_key())?.owner_key();
        let back = || {
            let key = self.session_key(run.run().session.as_ref()?)?;
            Some(Destination::Session(key, self.sessions.get(key)?))
        };
        if run.goes_back()
            && let Some(place) = back()
        {
            return Some(place);
        }
        Some(self.destination(self.definition_of(run)?, owner))
    }

    /// Returns the session in whose inbox a run of this schedule would be left, because nobody listens there; `None` if somebody
    /// would get it, or nobody at all.
    pub(crate) fn leaves_in<'a>(&'a self, record: &'a ScheduleRecord) -> Option<&'a SessionId> {
        let session = self.destination(&record.schedule, record.owner).session()?;
        (session.host == HostId::INBOX).then_some(&session.id)
    }

    /// Returns why nobody would be woken by a run of this schedule at present, although somebody serves its session otherwise;
    /// `None` if its host is there, or it needs none.
    pub(crate) fn away(&self, record: &ScheduleRecord) -> Option<Reason> {
        self.destination(&record.schedule, record.owner).session()?.blocks_fresh()
    }

    /// Returns why a run of this schedule would go nowhere, as things are; `None` if it has a destination.
    pub(crate) fn unreachable(&self, record: &ScheduleRecord) -> Option<Reason> {
        match self.destination(&record.schedule, record.owner) {
            Destination::Unreachable(reason) => Some(reason),
            Destination::Session(..)
            | Destination::Fresh(..)
            | Destination::Channel(..)
            | Destination::Tool(_) => None,
        }
    }

    /// Resolves where a run of this schedule goes, as of now.
    pub(super) fn destination<'a>(&'a self, schedule: &'a Schedule, owner: Option<Key>) -> Destination<'a> {
        let session = |key: Option<Key>| key.and_then(|key| Some((key, self.sessions.get(key)?)));
        // A call goes to an executor, so the target in its settings does not apply.
        if let Some(call) = schedule.payload.call() {
            return match (call.via, session(owner)) {
                (CallVia::Any, _) => Destination::Tool(None),
                (CallVia::Host, None) => Destination::Unreachable(Reason::TargetMissing),
                (CallVia::Host, found) => Destination::Tool(found),
            };
        }
        let found = match schedule.target() {
            Target::Owner => session(owner),
            Target::Session(id) => session(self.session_key(id)),
            Target::Route(route) => {
                return match self.channels.get(&route.channel) {
                    None => Destination::Unreachable(Reason::ChannelUnknown),
                    Some(channel) if channel.disabled_at.is_some() => {
                        Destination::Unreachable(Reason::ChannelDisabled)
                    }
                    Some(_) => {
                        Destination::Channel(route, self.channel_pause(&route.channel, Direction::Outbound))
                    }
                };
            }
            // The host of the owning session creates the fresh one, so the owner has to be open.
            Target::Fresh => {
                return session(owner)
                    .map_or(Destination::Unreachable(Reason::TargetMissing), |(key, session)| {
                        Destination::Fresh(key, session)
                    });
            }
        };
        found.map_or(Destination::Unreachable(Reason::TargetMissing), |(key, session)| {
            Destination::Session(key, session)
        })
    }

    /// Returns whether a waiting run goes into a session's lane. One that opens a fresh session needs the host alone, and so
    /// does one that calls a tool of the host.
    pub(super) fn needs_lane(&self, record: &RunRecord) -> bool {
        let takes_lane =
            |asked: &Schedule| *asked.target() != Target::Fresh && asked.payload.call().is_none();
        record.goes_back() || self.definition_of(record).is_some_and(takes_lane)
    }
}

//! What the state keeps of a schedule and of a session.

use std::collections::VecDeque;
use std::sync::Arc;

use super::slab::Key;
use crate::domain::{
    Cursor, HostId, Moment, Reason, Run, RunId, Schedule, SessionConfig, SessionId, SessionProvenance,
    Status, Target,
};

/// A schedule and where it stands.
#[derive(Clone, Debug)]
pub struct ScheduleRecord {
    pub(super) schedule: Schedule,
    pub(super) owner: Key,
    pub(super) status: Status,
    pub(super) run: Option<Box<Run>>,
    pub(super) ended_for: Option<Reason>,
}

impl ScheduleRecord {
    /// The number of the session that owns it.
    pub fn owner_key(&self) -> Key {
        self.owner
    }

    /// What was asked for.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Where it stands.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Its run, once its slot was claimed.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_deref()
    }

    /// Why it ended otherwise than by delivery, whether its slot had come or not.
    pub fn ended_for(&self) -> Option<Reason> {
        self.ended_for
    }

    /// The id of its run, whether claimed yet or not: a one-shot has one slot.
    pub fn run_id(&self) -> RunId {
        RunId { schedule: self.schedule.id.clone(), incarnation: 1, slot: self.schedule.trigger.first_slot() }
    }

    /// The fresh session that its run created.
    pub fn created_session(&self) -> Option<&SessionId> {
        self.run().filter(|run| run.session_created).and_then(|run| run.session.as_ref())
    }
}

/// What the engine knows of a session.
#[derive(Clone, Debug)]
pub struct SessionRecord {
    pub(super) id: SessionId,
    pub(super) host: HostId,
    pub(super) hosted: bool,
    pub(super) busy: bool,
    pub(super) turn_starting: bool,
    /// The host reported the end of a turn while a delivery was out: the transition that allows the next.
    pub(super) turn_ended: bool,
    pub(super) in_flight: Option<Key>,
    pub(super) waiting: Vec<Key>,
    /// Unfinished schedules, in no order: at most `limits::SESSION_SCHEDULES`, and sorting is the reader's.
    pub(super) live: Vec<Key>,
    pub(super) unstarted: u32,
    pub(super) finished: VecDeque<Key>,
    pub(super) config: Arc<SessionConfig>,
    pub(super) provenance: Option<Box<SessionProvenance>>,
    pub(super) opened_at: Moment,
    pub(super) opened: Cursor,
    pub(super) last_user_activity: Option<Moment>,
}

impl SessionRecord {
    /// A session just opened: idle, with nothing in it.
    pub(super) fn new(
        id: SessionId,
        opened: (Moment, Cursor),
        host: HostId,
        config: Arc<SessionConfig>,
        provenance: Option<Box<SessionProvenance>>,
    ) -> SessionRecord {
        SessionRecord {
            id,
            host,
            hosted: true,
            busy: false,
            turn_starting: false,
            turn_ended: false,
            in_flight: None,
            waiting: Vec::new(),
            live: Vec::new(),
            unstarted: 0,
            finished: VecDeque::new(),
            config,
            provenance,
            opened_at: opened.0,
            opened: opened.1,
            last_user_activity: None,
        }
    }

    /// Its id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Who runs its turns.
    pub fn host(&self) -> HostId {
        self.host
    }

    /// Whether its host is connected; the built-in host always is.
    pub fn is_hosted(&self) -> bool {
        self.hosted
    }

    /// Whether its host reported a turn, or compaction, that has not ended.
    pub fn is_busy(&self) -> bool {
        self.busy
    }

    /// Whether a delivery is waiting for its receipt.
    pub fn has_delivery_in_flight(&self) -> bool {
        self.in_flight.is_some()
    }

    /// The numbers of its schedules, finished ones included, in no order that means anything.
    pub fn schedule_keys(&self) -> impl Iterator<Item = Key> {
        self.live.iter().chain(&self.finished).copied()
    }

    /// The numbers of the schedules whose runs wait for its lane, in no order that means anything.
    pub fn waiting_keys(&self) -> &[Key] {
        &self.waiting
    }

    /// The number of the schedule whose delivery is waiting for its receipt.
    pub fn in_flight_key(&self) -> Option<Key> {
        self.in_flight
    }

    /// How many of its schedules have not ended.
    pub fn live_count(&self) -> usize {
        self.live.len()
    }

    /// Why a delivery of that kind cannot be handed over right now, if it cannot.
    pub(super) fn blocks(&self, target: Target) -> Option<Reason> {
        if !self.hosted {
            return Some(Reason::HostGone);
        }
        match target {
            Target::Fresh => None,
            Target::Owner if self.in_flight.is_some() => Some(Reason::DeliveryInFlight),
            Target::Owner if self.turn_starting => Some(Reason::TurnStarting),
            Target::Owner if self.busy => Some(Reason::SessionBusy),
            Target::Owner => None,
        }
    }

    /// What it is.
    pub fn config(&self) -> &Arc<SessionConfig> {
        &self.config
    }

    /// The schedule it came from, if one opened it.
    pub fn provenance(&self) -> Option<&SessionProvenance> {
        self.provenance.as_deref()
    }

    /// When it was opened.
    pub fn opened_at(&self) -> Moment {
        self.opened_at
    }

    /// Where the fact of its opening stands: it tells this session from an earlier one of the same id.
    pub fn opened(&self) -> Cursor {
        self.opened
    }

    /// When a person last spoke in it.
    pub fn last_user_activity(&self) -> Option<Moment> {
        self.last_user_activity
    }
}

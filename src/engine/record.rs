//! What the state keeps of a schedule and of a session.

use std::collections::VecDeque;
use std::sync::Arc;

use super::ready_jobs::ReadyJobs;
use super::slab::Key;
use crate::domain::{
    Actor, Channel, Cursor, HostId, Lineage, Moment, Reason, Run, RunId, Schedule, ScheduleId, SessionConfig,
    SessionId, SessionProvenance, Status, Trigger,
};

/// A schedule and where it stands.
#[derive(Clone, Debug)]
pub struct ScheduleRecord {
    pub(super) schedule: Schedule,
    /// The session that owns it, as long as that is open.
    pub(super) owner: Option<Key>,
    pub(super) status: Status,
    pub(super) ended_for: Option<Reason>,
    pub(super) next: Option<Moment>,
    pub(super) newest_run: Option<Key>,
    /// `None` while it says nothing: for most one-shots that is all their life.
    pub(super) course: Option<Box<Course>>,
}

impl ScheduleRecord {
    pub(super) fn new(schedule: Schedule, owner: Option<Key>) -> ScheduleRecord {
        let has_course = schedule.recurs() || matches!(schedule.trigger, Trigger::Event(_));
        let course = has_course.then(Box::default);
        ScheduleRecord {
            schedule,
            owner,
            status: Status::Pending,
            ended_for: None,
            next: None,
            newest_run: None,
            course,
        }
    }

    /// The number of the session that owns it, as long as that is open.
    pub fn owner_key(&self) -> Option<Key> {
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

    /// The slot that comes next; one that was due while it was paused stays here until it is resumed.
    pub fn next_slot(&self) -> Option<Moment> {
        self.next
    }

    /// The slot that it stands for: of a one-shot its only one, else the next, or the last once there is no next. One that
    /// waits for an event stands for the moment at which it was created.
    pub fn slot(&self) -> Moment {
        match self.schedule.trigger {
            Trigger::At(slot) => slot,
            Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..) | Trigger::Event(_) => {
                self.next.or(self.course().consumed).unwrap_or(self.schedule.created_at)
            }
        }
    }

    /// The order in which schedules are listed: due first, then created first, then by id.
    pub fn order(&self) -> (Moment, Moment, &ScheduleId) {
        (self.slot(), self.schedule.created_at, &self.schedule.id)
    }

    /// Why it ended otherwise than by delivery, whether its slot had come or not.
    pub fn ended_for(&self) -> Option<Reason> {
        self.ended_for
    }

    /// What it has been through.
    pub fn course(&self) -> &Course {
        const FRESH: &Course = &Course::FRESH;
        self.course.as_deref().unwrap_or(FRESH)
    }

    pub(super) fn course_mut(&mut self) -> &mut Course {
        self.course.get_or_insert_default()
    }

    /// The id of a run of the present trigger.
    pub fn run_id(&self, slot: Moment) -> RunId {
        RunId { schedule: self.schedule.id.clone(), incarnation: self.course().incarnation, slot }
    }

    /// Whether it was called off itself, and not only its last run; known of what is on disk.
    pub fn is_called_off(&self) -> bool {
        let called_off = [
            Reason::Cancelled,
            Reason::Replaced,
            Reason::UserActivity,
            Reason::SessionClosed,
            Reason::Shutdown,
        ];
        self.status == Status::Cancelled
            && self.course().never.is_some_and(|reason| called_off.contains(&reason))
    }

    /// Whether it can be given another definition: until it ends, and one on disk until it is called off.
    pub(super) fn is_changeable(&self) -> bool {
        !self.status.is_terminal() || self.schedule.is_durable() && !self.is_called_off()
    }

    /// Whether nobody has been handed anything of it: it can be called off without a word to a host.
    pub(super) fn is_unstarted(&self) -> bool {
        match self.status {
            Status::Pending | Status::Paused | Status::Queued => true,
            Status::InFlight
            | Status::Delivered
            | Status::Skipped
            | Status::Finished
            | Status::Cancelled
            | Status::Failed => false,
        }
    }
}

/// What a schedule has been through since it was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course {
    /// How often it was defined, from 1.
    pub revision: u32,
    /// How often its trigger was replaced, from 1.
    pub incarnation: u32,
    /// When its definition was changed last.
    pub updated_at: Option<Moment>,
    /// From when on its slots count as seen; those before were missed. `None` for as long as the engine has lived.
    pub armed_since: Option<Moment>,
    /// The last slot that was consumed.
    pub consumed: Option<Moment>,
    /// Its next slot counts from the end of the run that is on its way.
    pub awaits_finish: bool,
    /// Its slot comes when something has happened that it waits for.
    pub awaits_event: bool,
    /// Why it has no further slot, once that is so.
    pub never: Option<Reason>,
    /// When it was called off; known of what is on disk.
    pub called_off_at: Option<Moment>,
    /// Who paused it, while it is paused.
    pub paused: Option<Pause>,
    /// Runs of its slots.
    pub runs: u64,
    /// Runs that were delivered.
    pub delivered: u64,
    /// Runs that ended in an error.
    pub failed: u64,
    /// Slots that passed without a run of their own.
    pub skipped: u64,
    /// Runs that ended in an error since the last one that did not.
    pub failures_in_row: u64,
    /// The last slot that was skipped, and why.
    pub last_skip: Option<(Moment, Reason)>,
}

/// A pause of a schedule, or the hold of everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Who wanted it.
    pub by: Actor,
    /// Why, in their words.
    pub reason: Option<Box<str>>,
    /// Since when.
    pub since: Moment,
}

impl Course {
    /// Whether a slot is to come of which it is not known when.
    pub fn awaits(&self) -> bool {
        self.awaits_finish || self.awaits_event
    }

    const FRESH: Course = Course {
        revision: 1,
        incarnation: 1,
        updated_at: None,
        armed_since: None,
        consumed: None,
        awaits_finish: false,
        awaits_event: false,
        never: None,
        called_off_at: None,
        paused: None,
        runs: 0,
        delivered: 0,
        failed: 0,
        skipped: 0,
        failures_in_row: 0,
        last_skip: None,
    };
}

impl Default for Course {
    fn default() -> Course {
        Course::FRESH
    }
}

/// A way out of the process, as operators named it, and how it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelRecord {
    /// What it is.
    pub channel: Channel,
    /// Since when whoever is behind it wants nothing more.
    pub disabled_at: Option<Moment>,
}

/// A run, and where in the state it belongs.
#[derive(Clone, Debug)]
pub struct RunRecord {
    pub(super) schedule: Key,
    /// The run of the same schedule that was claimed before.
    pub(super) older: Option<Key>,
    /// The session that it waits for or is with: the one it goes into, or for a fresh one the one that hosts it.
    pub(super) lane: Option<Key>,
    pub(super) run: Run,
}

impl RunRecord {
    /// The number of its schedule.
    pub fn schedule_key(&self) -> Key {
        self.schedule
    }

    /// What became of it so far.
    pub fn run(&self) -> &Run {
        &self.run
    }

    pub(super) fn is_live(&self) -> bool {
        !self.run.state.is_terminal()
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
    /// The run whose receipt is out.
    pub(super) in_flight: Option<Key>,
    /// The run that began the turn that is going on, if it ends with that.
    pub(super) turn_of: Option<Key>,
    /// The line of the delivery that was taken last, as long as the turn may be its.
    pub(super) woken: Option<Box<Lineage>>,
    /// Runs that wait for the lane, or for the host.
    pub(super) waiting: Vec<Key>,
    /// Unfinished schedules, in no order: at most `limits::SESSION_SCHEDULES`, and sorting is the reader's.
    pub(super) live: Vec<Key>,
    /// How many of them are in memory only and not handed to a host.
    pub(super) unstarted: u32,
    pub(super) finished: VecDeque<Key>,
    pub(super) config: Arc<SessionConfig>,
    pub(super) provenance: Option<Box<SessionProvenance>>,
    pub(super) opened_at: Moment,
    pub(super) opened: Cursor,
    pub(super) last_user_activity: Option<Moment>,
    /// Jobs that were ready of late.
    pub(super) ready_jobs: ReadyJobs,
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
            turn_of: None,
            woken: None,
            waiting: Vec::new(),
            live: Vec::new(),
            unstarted: 0,
            finished: VecDeque::new(),
            config,
            provenance,
            opened_at: opened.0,
            opened: opened.1,
            last_user_activity: None,
            ready_jobs: ReadyJobs::default(),
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

    /// The numbers of the runs that wait for its lane or its host, in no order that means anything.
    pub fn waiting_keys(&self) -> &[Key] {
        &self.waiting
    }

    /// The number of the run whose delivery is waiting for its receipt.
    pub fn in_flight_key(&self) -> Option<Key> {
        self.in_flight
    }

    /// How many of its schedules have not ended.
    pub fn live_count(&self) -> usize {
        self.live.len()
    }

    /// Why a prompt cannot be handed over right now, if it cannot.
    pub(super) fn blocks_prompt(&self) -> Option<Reason> {
        if !self.hosted {
            Some(Reason::HostGone)
        } else if self.in_flight.is_some() {
            Some(Reason::DeliveryInFlight)
        } else if self.turn_starting {
            Some(Reason::TurnStarting)
        } else {
            self.busy.then_some(Reason::SessionBusy)
        }
    }

    /// Why its host cannot be asked for a fresh session right now, if it cannot.
    pub(super) fn blocks_fresh(&self) -> Option<Reason> {
        (!self.hosted).then_some(Reason::HostGone)
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

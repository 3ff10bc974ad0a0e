//! The records of the state: schedules, runs, sessions and channels.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::progress::Progress;
use super::ready_jobs::ReadyJobs;
use super::slab::Key;
use super::wakes::Wakes;
use crate::domain::{
    AgentSchedules, Cause, Channel, ChannelEvent, Cursor, HostId, Lineage, Memory, Moment, Pings, Reason,
    Run, RunId, RunState, Schedule, ScheduleId, Scope, SessionConfig, SessionId, SessionProvenance, Status,
    TokenName, Trigger, Watch,
};
use crate::limits;

/// A schedule and its current state.
#[derive(Clone, Debug)]
pub struct ScheduleRecord {
    pub(super) schedule: Schedule,
    /// The session that owns it; `None` while that session is not open.
    pub(super) owner: Option<Key>,
    pub(super) status: Status,
    pub(super) ended_for: Option<Reason>,
    pub(super) next: Option<Moment>,
    pub(super) newest_run: Option<Key>,
    /// Its history; `None` means [`Progress::FRESH`]. Most one-shots never need one, which saves
    /// memory.
    pub(super) progress: Option<Box<Progress>>,
    /// What it remembers from check to check, if it is a watch that has made one.
    pub(super) remembered: Option<Box<Watch>>,
}

impl ScheduleRecord {
    pub(super) fn new(schedule: Schedule, owner: Option<Key>) -> ScheduleRecord {
        // One-shots get progress only when something happens to them that it records. A trigger does not tell the slot of an
        // event, so such a schedule has progress from the start: it alone knows the slot afterwards.
        let has_progress = schedule.recurs() || matches!(schedule.trigger, Trigger::Event(_));
        let progress = has_progress.then(Box::default);
        ScheduleRecord {
            schedule,
            remembered: None,
            owner,
            status: Status::Pending,
            ended_for: None,
            next: None,
            newest_run: None,
            progress,
        }
    }

    /// Returns what it remembers from check to check, if it is a watch.
    pub fn watch(&self) -> Option<&Watch> {
        // A constant, so that a reference to it outlives this call.
        const FRESH: &Watch = &Watch::FRESH;
        self.schedule.is_watch().then(|| self.remembered.as_deref().unwrap_or(FRESH))
    }

    /// Returns the key of the owning session; `None` while that session is not open.
    pub(crate) fn owner_key(&self) -> Option<Key> {
        self.owner
    }

    /// Returns whether the schedule exists for a caller of this scope. What had ended when a session was closed stays without a
    /// session, also if a later one has the id.
    #[inline]
    pub(crate) fn is_for(&self, scope: &Scope) -> bool {
        match scope {
            Scope::Operator => true,
            Scope::Session(own) => {
                self.schedule.owner == *own && !self.is_left() || self.schedule.settings().shared
            }
        }
    }

    /// Returns whether the schedule had ended when its session was closed. No later session of that id has it.
    #[inline]
    pub(super) fn is_left(&self) -> bool {
        self.status.is_terminal() && self.owner.is_none()
    }

    /// Returns its definition.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Returns its status.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Returns its next slot. A slot that became due during a pause stays here until the schedule
    /// is resumed.
    pub(crate) fn next_slot(&self) -> Option<Moment> {
        self.next
    }

    /// Returns the slot that represents the schedule in listings: the next one, else the one that was cancelled with it, else
    /// the last one consumed. A one-shot without any of these has that of its trigger, and others have the moment of creation.
    pub fn fire_at(&self) -> Moment {
        let progress = self.progress();
        let known = self.next.or(progress.withdrawn).or(progress.consumed);
        known.unwrap_or(match self.schedule.trigger {
            Trigger::At(slot) => slot,
            Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..) | Trigger::Event(_) => {
                self.schedule.created_at
            }
        })
    }

    /// Returns its sort key in listings: earliest slot first, then earliest creation, then id.
    pub(crate) fn order(&self) -> (Moment, Moment, &ScheduleId) {
        (self.fire_at(), self.schedule.created_at, &self.schedule.id)
    }

    /// Returns why it ended other than by delivery.
    pub(crate) fn ended_for(&self) -> Option<Reason> {
        self.ended_for
    }

    /// Returns its history.
    pub fn progress(&self) -> &Progress {
        // A constant, so that a reference to it outlives this call.
        const FRESH: &Progress = &Progress::FRESH;
        self.progress.as_deref().unwrap_or(FRESH)
    }

    pub(super) fn progress_mut(&mut self) -> &mut Progress {
        self.progress.get_or_insert_default()
    }

    /// Returns the id of the run for a slot of the current trigger.
    pub fn run_id(&self, slot: Moment) -> RunId {
        RunId { schedule: self.schedule.id.clone(), incarnation: self.progress().incarnation, slot }
    }

    /// Returns whether a run is one of its own: no bulletin, and not of a schedule that had its id before.
    pub(super) fn is_own(&self, run: &Run) -> bool {
        run.cause != Cause::Bulletin && self.progress().is_since_anew(run)
    }

    /// Returns whether the schedule itself was cancelled, and not only its last run. Known for
    /// durable schedules only.
    pub(crate) fn is_cancelled(&self) -> bool {
        // The status alone does not tell: a one-shot is also `Cancelled` when its only run was.
        self.status == Status::Cancelled && self.progress().is_called_off()
    }

    /// Returns whether it can be redefined: until it ends, or for a durable schedule until it is
    /// cancelled.
    pub(super) fn is_changeable(&self) -> bool {
        !self.status.is_terminal() || self.schedule.is_durable() && !self.is_cancelled()
    }

    /// Returns whether none of its runs was handed over, so that it can be cancelled without
    /// telling a host.
    pub(super) fn is_unstarted(&self) -> bool {
        match self.status {
            Status::Pending | Status::Paused | Status::Queued => true,
            Status::InFlight
            | Status::Left
            | Status::Delivered
            | Status::Skipped
            | Status::Finished
            | Status::Cancelled
            | Status::Failed => false,
        }
    }
}

/// A channel out of the process, and whether it is disabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelRecord {
    /// Its configuration.
    pub(crate) channel: Channel,
    /// When its receiver refused further messages; `None` while it is enabled.
    pub disabled_at: Option<Moment>,
    /// Messages that were sent since the engine was started.
    pub(super) sent: u64,
    /// Attempts to send one that failed since the engine was started.
    pub(super) failed: u64,
    /// The latest messages that went through, oldest first.
    pub(super) events: VecDeque<ChannelEvent>,
}

/// A run, and its links within the state.
#[derive(Clone, Debug)]
pub struct RunRecord {
    pub(super) schedule: Key,
    /// The run of the same schedule that was claimed before this one.
    pub(super) older: Option<Key>,
    /// The session that the run waits for or is with: its target, or for a fresh session the
    /// session whose host creates it. Of a run that was left, the session whose inbox it is in.
    pub(super) lane: Option<Key>,
    pub(super) run: Run,
}

impl RunRecord {
    /// Returns the key of its schedule.
    pub(crate) fn schedule_key(&self) -> Key {
        self.schedule
    }

    /// Returns the run itself.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Whether an attempt has failed, and the next one is planned.
    pub(super) fn waits_to_retry(&self) -> bool {
        self.run.state == RunState::Queued && self.run.retry_at.is_some()
    }

    /// Whether the run waits for its next attempt, or may be on its way to its place at this moment.
    #[cfg(feature = "embed")]
    pub(crate) fn is_coming_again(&self) -> bool {
        self.waits_to_retry() || self.run.state == RunState::InFlight
    }

    pub(super) fn is_live(&self) -> bool {
        !self.run.state.is_terminal()
    }
}

/// The fresh sessions of one root.
#[derive(Clone, Debug, Default)]
pub(super) struct Family {
    /// The open ones, oldest first.
    pub(super) open: BTreeSet<(Moment, SessionId)>,
    /// How many hosts are creating.
    pub(super) creating: usize,
}

/// A session and its current state.
#[derive(Clone, Debug)]
pub struct SessionRecord {
    pub(super) id: SessionId,
    pub(super) host: HostId,
    pub(super) hosted: bool,
    /// Why its agent's conversation cannot be reached, if that is why it has no host.
    pub(super) away: Option<Reason>,
    pub(super) busy: bool,
    pub(super) turn_starting: bool,
    /// Whether the host reported the end of a turn while a delivery was outstanding. The receipt
    /// then frees the lane at once, because no further report follows.
    pub(super) turn_ended: bool,
    /// The run whose receipt is outstanding.
    pub(super) in_flight: Option<Key>,
    /// The run whose turn is going on, if the run ends with its turn.
    pub(super) turn_of: Option<Key>,
    /// The lineage of the last accepted delivery, as long as the current turn may be the one that
    /// it began.
    pub(super) woken: Option<Box<Lineage>>,
    /// How far it is with its deliveries of bulletins.
    pub(super) wakes: Wakes,
    /// Runs that wait for the lane or for the host.
    pub(super) waiting: Vec<Key>,
    /// Runs whose messages are in the inbox, unordered. Readers sort them.
    pub(super) left: Vec<Key>,
    /// Unfinished schedules, unordered; at most `limits::SESSION_SCHEDULES`. Readers sort them.
    pub(super) live: Vec<Key>,
    /// How many of them are volatile and not handed over.
    pub(super) unstarted: u32,
    pub(super) finished: VecDeque<Key>,
    /// The size of the texts of all its schedules.
    pub(super) bytes: u64,
    pub(super) config: Arc<SessionConfig>,
    pub(super) provenance: Option<Box<SessionProvenance>>,
    /// The name of the host token whose sessions it belongs to.
    pub(super) host_token: Option<TokenName>,
    pub(super) opened_at: Moment,
    pub(super) opened: Cursor,
    pub(super) last_user_activity: Option<Moment>,
    /// Jobs that were recently reported as ready.
    pub(super) ready_jobs: ReadyJobs,
    /// What it remembers; `None` for nothing.
    pub(super) memory: Option<Box<Memory>>,
    /// The last ping of each name.
    pub(super) pings: Pings,
    /// The schedules that its agent holds itself, and when the agent said so; `None` if that is not known.
    pub(super) agent_schedules: Option<Box<(Moment, AgentSchedules)>>,
}

impl SessionRecord {
    /// Creates the record of a session that was just opened: hosted, idle and empty.
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
            away: None,
            busy: false,
            turn_starting: false,
            turn_ended: false,
            in_flight: None,
            turn_of: None,
            woken: None,
            wakes: Wakes::START,
            waiting: Vec::new(),
            left: Vec::new(),
            live: Vec::new(),
            bytes: 0,
            unstarted: 0,
            finished: VecDeque::new(),
            config,
            provenance,
            host_token: None,
            opened_at: opened.0,
            opened: opened.1,
            last_user_activity: None,
            ready_jobs: ReadyJobs::default(),
            memory: None,
            pings: Pings::default(),
            agent_schedules: None,
        }
    }

    /// Returns its id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns the host that runs its turns.
    pub fn host(&self) -> HostId {
        self.host
    }

    /// Returns whether its host is connected; the built-in host always is.
    pub fn is_hosted(&self) -> bool {
        self.hosted
    }

    /// Returns why its agent's conversation cannot be reached for now; `None` if it can, or if the session has another host.
    pub(crate) fn away(&self) -> Option<Reason> {
        self.away.filter(|_| !self.hosted)
    }

    /// Returns whether its host reported a turn, or a compaction, that has not ended.
    pub fn is_busy(&self) -> bool {
        self.busy
    }

    /// Returns whether a delivery waits for its receipt.
    pub fn has_delivery_in_flight(&self) -> bool {
        self.in_flight.is_some()
    }

    /// Returns the keys of its schedules, finished ones included, in no particular order.
    pub(crate) fn schedule_keys(&self) -> impl Iterator<Item = Key> {
        self.live.iter().chain(&self.finished).copied()
    }

    /// Returns the key of the run whose receipt is outstanding.
    pub(crate) fn in_flight_key(&self) -> Option<Key> {
        self.in_flight
    }

    /// Returns the number of its unfinished schedules.
    pub fn live_count(&self) -> usize {
        self.live.len()
    }

    /// Returns whether its oldest finished schedule has to be dropped: there are too many, or too much is in them. The last one
    /// stays in any case.
    pub(super) fn has_too_much_finished(&self) -> bool {
        // Finished schedules count against the bound of all texts. They are dropped from half of it on, because a session that is
        // full of them could create nothing.
        let half_full = self.bytes > limits::SESSION_BYTES.value / 2;
        self.finished.len() as u64 > limits::FINISHED_KEPT.value || half_full && self.finished.len() > 1
    }

    /// Returns the size of the texts of its schedules, finished ones included.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns its configuration.
    pub fn config(&self) -> &Arc<SessionConfig> {
        &self.config
    }

    /// Returns the schedule that opened it, if one did.
    pub fn provenance(&self) -> Option<&SessionProvenance> {
        self.provenance.as_deref()
    }

    /// Returns the name of the host token by which it was opened, or by which the session was opened that it comes from;
    /// `None` if no host token was used.
    pub fn host_token(&self) -> Option<&TokenName> {
        self.host_token.as_ref()
    }

    /// Returns when it was opened.
    pub(crate) fn opened_at(&self) -> Moment {
        self.opened_at
    }

    /// Returns the cursor of the fact that opened it. This distinguishes the session from an
    /// earlier one with the same id.
    pub fn opened(&self) -> Cursor {
        self.opened
    }

    /// Returns what it remembers.
    pub(crate) fn memory(&self) -> Cow<'_, Memory> {
        self.memory.as_deref().map_or_else(Cow::default, Cow::Borrowed)
    }

    /// Returns the last ping of each name.
    pub(crate) fn pings(&self) -> &Pings {
        &self.pings
    }

    /// Returns the schedules that its agent holds itself, and when the agent said so; `None` if that is not known.
    pub(crate) fn agent_schedules(&self) -> Option<(Moment, &AgentSchedules)> {
        self.agent_schedules.as_deref().map(|(at, said)| (*at, said))
    }

    /// Returns when a person last wrote in it.
    pub(crate) fn last_user_activity(&self) -> Option<Moment> {
        self.last_user_activity
    }
}

//! The engine's state: the fold of the facts so far.
//!
//! Reads are here; the fold is in `apply`. Invariants: nothing reachable from a shared reference changes anything,
//! and every order that a reader can observe is a total order, never that of a hash map.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use hashbrown::HashMap;

use super::channels::ChannelPauses;
use super::host_record::HostRecord;
use super::index::Index;
use super::ledger::Ledger;
use super::pause::{Holds, Pause};
use super::record::{ChannelRecord, Family, RunRecord, ScheduleRecord, SessionRecord};
use super::slab::{Key, Slab};
use super::still_out::StillOut;
use super::store_failure::StoreFailures;
use super::task_outcomes::TaskOutcomes;
use super::timers::Timers;
use super::written::Written;
use crate::domain::{
    BootTime, Cursor, Dialect, Downtime, Grant, GuardPolicy, HostId, LostSchedule, Moment, Phase, Primitives,
    Reason, Refusal, RunId, RunState, Schedule, ScheduleId, SessionId, names,
};
use crate::limits;

names! {
    /// Whether the engine accepts work.
    Mode {
        /// It accepts commands and hands runs over.
        Running = "running",
        /// It cancels what waits and accepts nothing new.
        Stopping = "stopping",
        /// Like `Stopping`, and outstanding receipts are given up.
        Abandoning = "abandoning",
    }
}

/// The engine's state.
#[derive(Clone, Debug)]
pub struct State {
    pub(super) schedules: Slab<ScheduleRecord>,
    pub(super) schedule_ids: Index,
    pub(super) runs: Slab<RunRecord>,
    pub(super) sessions: Slab<SessionRecord>,
    pub(super) session_ids: HashMap<SessionId, Key>,
    /// Schedules by the idempotency key of their creation request.
    pub(super) keys: HashMap<RequestKey, Key>,
    /// Unfinished schedules that outlived their session, by its id. They are reattached if it is opened again.
    pub(super) ownerless: BTreeMap<SessionId, BTreeSet<Key>>,
    /// Finished schedules without a session, oldest first.
    pub(super) ownerless_finished: VecDeque<Key>,
    /// The connected hosts.
    pub(super) hosts: BTreeMap<HostId, HostRecord>,
    /// Sessions that own volatile schedules not yet handed over, so that a shutdown finds them.
    pub(super) unstarted: BTreeSet<Key>,
    /// The channels that operators have configured.
    pub(super) channels: BTreeMap<Box<str>, ChannelRecord>,
    /// The channels that are paused, by name. Some may not be configured any more.
    pub(super) channel_pauses: BTreeMap<Box<str>, ChannelPauses>,
    /// Runs that wait to be sent through a channel, or for a call that needs no host. They are in no session's lane.
    pub(super) outside: BTreeSet<Key>,
    /// Bulletins that go out in the delivery of another one, by the run of that delivery.
    pub(super) joined: BTreeMap<RunId, Vec<Key>>,
    /// Volatile runs that are in inboxes, so that the note of what a process would lose needs no search.
    pub(super) volatile_left: BTreeSet<Key>,
    /// Volatile runs whose turn is going on, so that a shutdown finds them.
    pub(super) turns: BTreeSet<Key>,
    /// Ids of fresh sessions that hosts are creating, with the roots of their families. No other session may be opened
    /// under these.
    pub(super) creating: BTreeMap<SessionId, SessionId>,
    /// The fresh sessions of each family, by its root.
    pub(super) families: BTreeMap<SessionId, Family>,
    pub(super) task_outcomes: TaskOutcomes,
    pub(super) written: Written,
    pub(super) timers: Timers,
    pub(super) ledger: Ledger,
    pub(super) cursor: Cursor,
    pub(super) mode: Mode,
    /// Which families of tools are switched on.
    pub(super) primitives: Primitives,
    /// The policy that runs are checked by before they are handed over.
    pub(super) guard: Option<Arc<GuardPolicy>>,
    /// Restricted grants by session, open or not. Sessions without an entry have the full grant.
    pub(super) grants: BTreeMap<SessionId, Grant>,
    /// Number of unfinished schedules in each lineage, by its root.
    pub(super) chains: BTreeMap<ScheduleId, u32>,
    /// How many slots per minute the unfinished schedules of each session have, without those that have one or fewer.
    pub(super) slots: BTreeMap<SessionId, u64>,
    /// While the store cannot be written, durable schedules stand still.
    pub(super) store_failures: StoreFailures,
    pub(super) still_out: StillOut,
    /// Slots before this moment count as missed: the last restart or release. `None` if there was none.
    pub(super) armed_since: Option<Moment>,
    /// That moment on the boot clock, for volatile schedules.
    pub(super) unseen_until: Option<BootTime>,
    /// The times in which no process was there that are known, oldest first.
    pub(super) downs: Box<[Downtime]>,
    pub(super) losses: Box<[LostSchedule]>,
    pub(super) holds: Holds,
    /// Durable schedules whose records the last fact removed.
    pub(super) forgotten: Vec<ScheduleId>,
    /// Number of watches among the schedules.
    pub(super) watches: u64,
    /// Number of schedules that have not ended, by dialect.
    pub(super) live: [u64; Dialect::ALL.len()],
    /// The run of the last fact, since the next fact is often about the same one. Only a hint: the id is always
    /// compared.
    pub(super) at_hand: Option<Key>,
}

/// An idempotency key with its scope: the owning session, the dialect, and the key's text.
pub(super) type RequestKey = (SessionId, Dialect, Box<str>);

/// Returns the idempotency key of a schedule with its scope, if it has one.
pub(super) fn request_key(schedule: &Schedule) -> Option<RequestKey> {
    let key = schedule.settings().key.clone()?;
    Some((schedule.owner.clone(), schedule.dialect, key))
}

impl Default for State {
    fn default() -> State {
        State::new()
    }
}

impl State {
    /// Creates the state before any fact.
    pub fn new() -> State {
        State {
            schedules: Slab::new(),
            schedule_ids: Index::new(),
            runs: Slab::new(),
            keys: HashMap::new(),
            ownerless: BTreeMap::new(),
            ownerless_finished: VecDeque::new(),
            sessions: Slab::new(),
            session_ids: HashMap::new(),
            hosts: BTreeMap::new(),
            unstarted: BTreeSet::new(),
            channels: BTreeMap::new(),
            channel_pauses: BTreeMap::new(),
            outside: BTreeSet::new(),
            joined: BTreeMap::new(),
            volatile_left: BTreeSet::new(),
            turns: BTreeSet::new(),
            creating: BTreeMap::new(),
            families: BTreeMap::new(),
            task_outcomes: TaskOutcomes::default(),
            written: Written::default(),
            timers: Timers::default(),
            ledger: Ledger::default(),
            cursor: Cursor::START,
            mode: Mode::Running,
            primitives: Primitives::default(),
            guard: None,
            grants: BTreeMap::new(),
            chains: BTreeMap::new(),
            slots: BTreeMap::new(),
            store_failures: StoreFailures::default(),
            still_out: StillOut::default(),
            armed_since: None,
            unseen_until: None,
            downs: Box::default(),
            losses: Box::default(),
            holds: Holds::default(),
            forgotten: Vec::new(),
            watches: 0,
            live: [0; Dialect::ALL.len()],
            at_hand: None,
        }
    }

    /// Returns the schedule with this id.
    pub fn schedule(&self, id: &ScheduleId) -> Option<&ScheduleRecord> {
        self.schedules.get(self.schedule_key(id)?)
    }

    /// Returns the schedule that a session has created under this idempotency key, in this dialect. One that had ended before
    /// the session was opened is of an earlier session of that id.
    pub(crate) fn schedule_by_key(
        &self,
        owner: &SessionId,
        dialect: Dialect,
        key: &str,
    ) -> Option<&ScheduleRecord> {
        let record = self.schedules.get(*self.keys.get(&(owner.clone(), dialect, key.into()))?)?;
        Some(record).filter(|record| !record.is_left())
    }

    /// Returns the session with this id.
    pub fn session(&self, id: &SessionId) -> Option<&SessionRecord> {
        self.sessions.get(self.session_key(id)?)
    }

    /// Returns the key of the schedule with this id.
    pub(crate) fn schedule_key(&self, id: &ScheduleId) -> Option<Key> {
        self.schedule_ids.find(id, |key| self.schedules.get(key).map(|record| &record.schedule.id))
    }

    /// Returns the schedule with this key.
    pub(crate) fn schedule_at(&self, key: Key) -> Option<&ScheduleRecord> {
        self.schedules.get(key)
    }

    /// Returns the key of the session with this id.
    pub(crate) fn session_key(&self, id: &SessionId) -> Option<Key> {
        self.session_ids.get(id).copied()
    }

    /// Returns the session with this key.
    pub(crate) fn session_at(&self, key: Key) -> Option<&SessionRecord> {
        self.sessions.get(key)
    }

    /// Returns the keys of all schedules, in no particular order.
    pub(crate) fn schedule_keys(&self) -> impl Iterator<Item = Key> {
        self.schedules.iter().map(|(key, _)| key)
    }

    /// Returns the keys of all sessions, in no particular order.
    pub(crate) fn session_keys(&self) -> impl Iterator<Item = Key> {
        self.sessions.iter().map(|(key, _)| key)
    }

    /// Returns all schedules of a session, finished ones included, in delivery order.
    pub fn schedules_of(&self, session: &SessionId) -> Vec<&ScheduleRecord> {
        let record = self.session(session);
        let keys = record.into_iter().flat_map(|record| record.live.iter().chain(&record.finished));
        in_order(keys.filter_map(|key| self.schedules.get(*key)))
    }

    /// Returns the unfinished schedules of a session, in delivery order.
    pub fn live_schedules_of(&self, session: &SessionId) -> Vec<&ScheduleRecord> {
        let keys = self.session(session).into_iter().flat_map(|record| &record.live);
        in_order(keys.filter_map(|key| self.schedules.get(*key)))
    }

    /// Returns all schedules, in delivery order.
    pub fn schedules(&self) -> Vec<&ScheduleRecord> {
        in_order(self.schedules.iter().map(|(_, record)| record))
    }

    /// Returns all sessions, by id.
    pub fn sessions(&self) -> Vec<&SessionRecord> {
        let mut sessions: Vec<&SessionRecord> = self.sessions.iter().map(|(_, record)| record).collect();
        sessions.sort_unstable_by(|one, two| one.id.cmp(&two.id));
        sessions
    }

    /// Returns the runs that wait for a session's lane or its host, in delivery order.
    pub(crate) fn waiting(&self, session: &SessionRecord) -> Vec<&RunRecord> {
        self.in_delivery_order(session.waiting.iter())
    }

    /// Returns runs in the order in which a lane delivers them.
    pub(super) fn in_delivery_order<'a>(&self, keys: impl Iterator<Item = &'a Key>) -> Vec<&RunRecord> {
        let run = |key: &Key| self.runs.get(*key).map(|run| (self.run_order(run), run));
        // The order is computed once per run, not once per comparison: it needs a look-up.
        let mut runs: Vec<_> = keys.filter_map(run).collect();
        runs.sort_unstable_by_key(|(order, _)| *order);
        runs.into_iter().map(|(_, run)| run).collect()
    }

    /// Returns the sort key of waiting runs: earliest slot first, then earliest creation, then id.
    pub(super) fn run_order(&self, record: &RunRecord) -> Option<(Moment, Moment, &ScheduleId)> {
        let schedule = &self.schedules.get(record.schedule)?.schedule;
        Some((record.run.slot, schedule.created_at, &schedule.id))
    }

    /// Returns the run with this key.
    pub(crate) fn run_at(&self, key: Key) -> Option<&RunRecord> {
        self.runs.get(key)
    }

    /// Returns the key of the run with this id.
    pub(crate) fn run_key(&self, id: &RunId) -> Option<Key> {
        let is_it =
            |record: &RunRecord| record.run.slot == id.slot && record.run.incarnation == id.incarnation;
        // Fast path: the run of the last fact.
        if let Some(key) = self.at_hand
            && let Some(record) = self.runs.get(key).filter(|record| is_it(record))
            && self.schedules.get(record.schedule).is_some_and(|it| it.schedule.id == id.schedule)
        {
            return Some(key);
        }
        // A schedule retains few runs, so a walk along its list is cheaper than an index of all runs.
        let schedule = self.schedules.get(self.schedule_key_in_turn(&id.schedule)?)?;
        self.runs_of(schedule).find(|(_, record)| is_it(record)).map(|(key, _)| key)
    }

    /// Returns the run with this id.
    pub(crate) fn run(&self, id: &RunId) -> Option<&RunRecord> {
        self.runs.get(self.run_key(id)?)
    }

    /// Returns the retained runs of a schedule with their keys, newest first.
    pub fn runs_of<'a>(
        &'a self,
        schedule: &ScheduleRecord,
    ) -> impl Iterator<Item = (Key, &'a RunRecord)> + 'a {
        let with_key = |key: Key| self.runs.get(key).map(|record| (key, record));
        let newest = schedule.newest_run.and_then(with_key);
        std::iter::successors(newest, move |(_, record)| record.older.and_then(with_key))
    }

    /// Returns the last run of a schedule.
    pub fn newest_run<'a>(&'a self, schedule: &ScheduleRecord) -> Option<&'a RunRecord> {
        self.runs.get(schedule.newest_run?)
    }

    /// Returns the id of a run.
    pub fn run_id(&self, record: &RunRecord) -> Option<RunId> {
        let schedule = self.schedules.get(record.schedule)?.schedule.id.clone();
        Some(RunId { schedule, incarnation: record.run.incarnation, slot: record.run.slot })
    }

    /// Returns the definition that a run was claimed by: a later change of its schedule does not affect it.
    pub(crate) fn definition_of<'a>(&'a self, record: &'a RunRecord) -> Option<&'a Schedule> {
        let present = || self.schedules.get(record.schedule).map(|schedule| &schedule.schedule);
        record.run.definition.as_deref().or_else(present)
    }

    /// Returns what a queued run waits for now. This may differ from the reason it was queued for.
    pub(crate) fn run_waits_for(&self, record: &RunRecord) -> Option<Reason> {
        if record.run.state != RunState::Queued {
            return None;
        }
        // The first reason that applies is reported, from the widest to the narrowest: while everything is held, for
        // instance, it makes no difference whether the session is busy.
        if self.held().is_some() {
            return Some(Reason::Held);
        }
        if let Some(hold) = record.run.checks.as_ref().and_then(|checks| checks.waits.as_ref()) {
            return Some(hold.reason());
        }
        if record.run.retry_at.is_some() {
            return Some(self.postponed_for(record).unwrap_or(Reason::Retrying));
        }
        // A pause does not apply to manual runs: they were requested regardless of it. A bulletin is of what came before.
        let is_paused =
            || self.schedules.get(record.schedule).is_some_and(|it| it.progress().paused.is_some());
        if !record.run.cause.is_beside_slots() && is_paused() {
            return Some(Reason::Paused);
        }
        // Claiming a durable run needs a commit; a volatile one does not.
        if self.stands_still(record) {
            return Some(Reason::StoreUnavailable);
        }
        let Some(lane) = record.lane else { return self.destination_of(record)?.blocks() };
        let session = self.sessions.get(lane)?;
        if self.needs_lane(record) { session.blocks_prompt() } else { session.blocks_fresh() }
    }

    /// Returns what a schedule waits for now, apart from its slot.
    pub fn waits_for(&self, record: &ScheduleRecord) -> Option<Reason> {
        if record.status.is_terminal() {
            return None;
        }
        if record.progress().paused.is_some() {
            return Some(Reason::Paused);
        }
        let waiting = self.newest_run(record).and_then(|run| self.run_waits_for(run));
        // What keeps its next slot from getting a run.
        let stands = || {
            let unstored = self.is_frozen() && record.schedule.is_durable();
            let stored = unstored.then_some(Reason::StoreUnavailable);
            self.held().map(|_| Reason::Held).or(stored).filter(|_| record.next.is_some())
        };
        waiting.or_else(stands)
    }

    /// Returns the grant that was given to a session itself.
    pub(crate) fn grant(&self, session: &SessionId) -> &Grant {
        self.grants.get(session).unwrap_or(&Grant::FULL)
    }

    /// Returns the restricted grants by session.
    pub fn grants(&self) -> &BTreeMap<SessionId, Grant> {
        &self.grants
    }

    /// Returns who holds everything, and why; `None` if nothing is held.
    pub fn held(&self) -> Option<&Pause> {
        self.holds.present.as_ref()
    }

    /// Returns the times in which no process was there that are known, oldest first.
    pub fn downs(&self) -> &[Downtime] {
        &self.downs
    }

    /// Returns the hold in force and the latest that are over.
    pub fn holds(&self) -> &Holds {
        &self.holds
    }

    /// Returns the moment before which slots of a schedule count as missed.
    pub(super) fn armed_since(&self, record: &ScheduleRecord) -> Option<Moment> {
        self.armed_since.max(record.progress().armed_since)
    }

    /// Refuses an attached host that is not connected.
    pub(super) fn check_host(&self, host: HostId) -> Result<(), Refusal> {
        if host.is_attached() && !self.hosts.contains_key(&host) {
            return Err(Refusal::UnknownHost { host });
        }
        Ok(())
    }

    /// Returns whether one more session fits, beside `begun` ones of this step and those that hosts are creating.
    pub(super) fn has_room(&self, begun: usize) -> bool {
        ((self.sessions.len() + self.creating.len() + begun) as u64) < limits::SESSIONS.value
    }

    /// Returns whether a run was dispatched and its receipt is outstanding.
    pub fn is_in_flight(&self, run: &RunId) -> bool {
        self.run(run).is_some_and(|record| record.run.state == RunState::InFlight)
    }

    /// Returns the number of schedules that have not ended.
    pub fn live_count(&self) -> u64 {
        self.live.iter().sum()
    }

    /// Returns whether a stopping engine is done: no volatile work and no receipt is left to wait for.
    pub fn is_settled(&self) -> bool {
        // Receipts of durable runs are waited for as well, unless a stop that abandons them has cleared their timers.
        self.unstarted.is_empty() && self.turns.is_empty() && self.timers.receipts_len() == 0
    }

    /// Returns the durable schedules whose records the last fact removed to make room. Their rows can be deleted too.
    pub fn forgotten(&self) -> &[ScheduleId] {
        &self.forgotten
    }

    /// Returns the accounting totals.
    pub fn ledger(&self) -> Ledger {
        self.ledger
    }

    /// Returns the key of a schedule, trying first the schedules that the next fact is likely to be about: their
    /// records are probably in the processor's cache, and the index is not.
    pub(super) fn schedule_key_in_turn(&self, id: &ScheduleId) -> Option<Key> {
        let is_it = |key: &Key| self.schedules.get(*key).is_some_and(|record| record.schedule.id == *id);
        let of_run = |key: Key| self.runs.get(key).map(|record| record.schedule);
        // Lazily: each candidate is compared before the next one is read.
        let by_run = |key: Option<Key>| key.and_then(of_run).filter(is_it);
        by_run(self.at_hand)
            .or_else(|| by_run(self.timers.first_receipt()))
            .or_else(|| self.timers.first_slots().into_iter().flatten().find(is_it))
            .or_else(|| self.schedule_key(id))
    }

    /// Returns the session that a run's prompt was submitted to, if it is open.
    pub(super) fn lane(&self, record: &RunRecord) -> Option<&SessionRecord> {
        let submitted = record.run.phase == Some(Phase::PromptSubmit);
        self.sessions.get(record.lane.filter(|_| submitted)?)
    }

    /// Returns a session that is open, if the engine accepts work. What is not taken on must not be acknowledged.
    pub(super) fn session_at_work(&self, session: &SessionId) -> Result<&SessionRecord, Refusal> {
        if self.mode != Mode::Running {
            return Err(Refusal::Stopping);
        }
        self.session(session).ok_or_else(|| Refusal::UnknownSession { session: session.clone() })
    }

    /// Returns the run if its receipt is outstanding. Otherwise the error says why a report on it is refused.
    pub(super) fn in_flight(&self, run: &RunId) -> Result<&RunRecord, Refusal> {
        match self.run(run) {
            // A bulletin in the delivery of another one has no receipt of its own.
            Some(record) if record.run.state == RunState::InFlight && record.run.lead.is_none() => Ok(record),
            Some(_) => Err(Refusal::NotInFlight { run: run.clone() }),
            None if self.is_known(run) => Err(Refusal::NotInFlight { run: run.clone() }),
            None => Err(Refusal::UnknownRun { run: run.clone() }),
        }
    }

    /// Returns whether a run id names the current slot of its schedule, though the run was never claimed or its
    /// record is gone.
    fn is_known(&self, run: &RunId) -> bool {
        self.schedule(&run.schedule).is_some_and(|record| {
            record.fire_at() == run.slot && record.progress().incarnation == run.incarnation
        })
    }
}

fn in_order<'a>(records: impl Iterator<Item = &'a ScheduleRecord>) -> Vec<&'a ScheduleRecord> {
    let mut records: Vec<&ScheduleRecord> = records.collect();
    records.sort_unstable_by(|one, two| one.order().cmp(&two.order()));
    records
}

//! Everything the engine knows: the fold of the facts so far.
//!
//! Reads are here; the fold is in `apply`. Invariant: nothing reachable from a shared reference changes anything, and
//! every order that a reader can see is a total order, never that of a hash map.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use hashbrown::HashMap;

use super::index::Index;
use super::ledger::Ledger;
use super::place::Place;
use super::record::{ChannelRecord, Pause, RunRecord, ScheduleRecord, SessionRecord};
use super::slab::{Key, Slab};
use super::timers::{Timer, Timers};
use crate::domain::{
    BootTime, Cause, Cursor, Dialect, Grant, GuardPolicy, HostId, Moment, Now, Phase, Reason, Refusal, RunId,
    RunState, Schedule, ScheduleId, SessionId, Target, names,
};
use crate::limits;

names! {
    /// Whether the engine takes work.
    Mode {
        /// It does.
        Running = "running",
        /// It calls off what waits and takes nothing new.
        Stopping = "stopping",
        /// The same, and receipts still out are given up.
        Abandoning = "abandoning",
    }
}

/// Everything the engine knows.
#[derive(Clone, Debug)]
pub struct State {
    pub(super) schedules: Slab<ScheduleRecord>,
    pub(super) schedule_ids: Index,
    pub(super) runs: Slab<RunRecord>,
    pub(super) sessions: Slab<SessionRecord>,
    pub(super) session_ids: HashMap<SessionId, Key>,
    /// Schedules by the key that their makers gave them.
    pub(super) keys: HashMap<RequestKey, Key>,
    /// Schedules that outlived their session, by its id: it may be opened again.
    pub(super) ownerless: BTreeMap<SessionId, BTreeSet<Key>>,
    /// Those of them that have ended, oldest first.
    pub(super) ownerless_finished: VecDeque<Key>,
    /// The connected hosts with their sessions, so that its loss is found without a search.
    pub(super) hosts: BTreeMap<HostId, BTreeSet<Key>>,
    /// Sessions with schedules in memory only that are pending or queued, so that a shutdown finds them.
    pub(super) unstarted: BTreeSet<Key>,
    /// The ways out of the process that operators have named.
    pub(super) channels: BTreeMap<Box<str>, ChannelRecord>,
    /// Runs that wait to go outside: they have no lane in which they could.
    pub(super) outside: BTreeSet<Key>,
    /// Runs in memory only whose turn goes on, for the same reason.
    pub(super) turns: BTreeSet<Key>,
    /// Ids of fresh sessions that hosts are creating: nobody else may open one of these.
    pub(super) creating: BTreeSet<SessionId>,
    pub(super) timers: Timers,
    pub(super) ledger: Ledger,
    pub(super) cursor: Cursor,
    pub(super) mode: Mode,
    /// Who holds everything, while it is held.
    pub(super) held: Option<Pause>,
    /// What runs are measured by when they are about to be handed over, if by anything.
    pub(super) guard: Option<Arc<GuardPolicy>>,
    /// Sessions that may do less than everything, whether they are open or not.
    pub(super) grants: BTreeMap<SessionId, Grant>,
    /// How many unfinished schedules each line has, by its root.
    pub(super) lines: BTreeMap<ScheduleId, u32>,
    /// Whether nothing on disk may move, because nothing can be kept.
    pub(super) frozen: bool,
    /// From when on slots count as seen, after a restart or a release; `None` for ever since.
    pub(super) armed_since: Option<Moment>,
    /// Durable schedules whose records the last fact removed.
    pub(super) forgotten: Vec<ScheduleId>,
    /// How many schedules have not ended.
    pub(super) live: u64,
    /// The run that the last fact was about: the next is likely to be about the same. A hint, never believed without a
    /// look at the id.
    pub(super) at_hand: Option<Key>,
}

/// A key given by a schedule's maker: the session, whose tools, and the text.
pub(super) type RequestKey = (SessionId, Dialect, Box<str>);

impl Default for State {
    fn default() -> State {
        State::new()
    }
}

impl State {
    /// The state before any fact.
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
            outside: BTreeSet::new(),
            turns: BTreeSet::new(),
            creating: BTreeSet::new(),
            timers: Timers::default(),
            ledger: Ledger::default(),
            cursor: Cursor::START,
            mode: Mode::Running,
            held: None,
            guard: None,
            grants: BTreeMap::new(),
            lines: BTreeMap::new(),
            frozen: false,
            armed_since: None,
            forgotten: Vec::new(),
            live: 0,
            at_hand: None,
        }
    }

    /// The schedule with this id.
    pub fn schedule(&self, id: &ScheduleId) -> Option<&ScheduleRecord> {
        self.schedules.get(self.schedule_key(id)?)
    }

    /// The schedule that a session has asked for under this key, in words of this dialect.
    pub fn asked_as(&self, owner: &SessionId, dialect: Dialect, key: &str) -> Option<&ScheduleRecord> {
        self.schedules.get(*self.keys.get(&(owner.clone(), dialect, key.into()))?)
    }

    /// The session with this id.
    pub fn session(&self, id: &SessionId) -> Option<&SessionRecord> {
        self.sessions.get(self.session_key(id)?)
    }

    /// The number of the schedule with this id.
    pub fn schedule_key(&self, id: &ScheduleId) -> Option<Key> {
        self.schedule_ids.find(id, |key| self.schedules.get(key).map(|record| &record.schedule.id))
    }

    /// The schedule with this number.
    pub fn schedule_at(&self, key: Key) -> Option<&ScheduleRecord> {
        self.schedules.get(key)
    }

    /// The number of the session with this id.
    pub fn session_key(&self, id: &SessionId) -> Option<Key> {
        self.session_ids.get(id).copied()
    }

    /// The session with this number.
    pub fn session_at(&self, key: Key) -> Option<&SessionRecord> {
        self.sessions.get(key)
    }

    /// The numbers of all schedules, in no order that means anything.
    pub fn schedule_keys(&self) -> impl Iterator<Item = Key> {
        self.schedules.iter().map(|(key, _)| key)
    }

    /// The numbers of all sessions, in no order that means anything.
    pub fn session_keys(&self) -> impl Iterator<Item = Key> {
        self.sessions.iter().map(|(key, _)| key)
    }

    /// All schedules of a session, finished ones included, in the order in which deliveries wait.
    pub fn schedules_of(&self, session: &SessionId) -> Vec<&ScheduleRecord> {
        let record = self.session(session);
        let keys = record.into_iter().flat_map(|record| record.live.iter().chain(&record.finished));
        in_order(keys.filter_map(|key| self.schedules.get(*key)))
    }

    /// The unfinished schedules of a session, in the order in which deliveries wait.
    pub fn live_schedules_of(&self, session: &SessionId) -> Vec<&ScheduleRecord> {
        let keys = self.session(session).into_iter().flat_map(|record| &record.live);
        in_order(keys.filter_map(|key| self.schedules.get(*key)))
    }

    /// All schedules, in the order in which deliveries wait.
    pub fn schedules(&self) -> Vec<&ScheduleRecord> {
        in_order(self.schedules.iter().map(|(_, record)| record))
    }

    /// All sessions, by id.
    pub fn sessions(&self) -> Vec<&SessionRecord> {
        let mut sessions: Vec<&SessionRecord> = self.sessions.iter().map(|(_, record)| record).collect();
        sessions.sort_unstable_by(|one, two| one.id.cmp(&two.id));
        sessions
    }

    /// The runs that wait for a session's lane or its host, in the order in which they will be delivered.
    pub fn waiting(&self, session: &SessionRecord) -> Vec<&RunRecord> {
        let run = |key: &Key| self.runs.get(*key).map(|run| (self.run_order(run), run));
        // Each is looked up once, and not for each comparison.
        let mut runs: Vec<_> = session.waiting.iter().filter_map(run).collect();
        runs.sort_unstable_by_key(|(order, _)| *order);
        runs.into_iter().map(|(_, run)| run).collect()
    }

    /// The order in which runs wait for a session: due first, then created first, then by id.
    pub(super) fn run_order(&self, record: &RunRecord) -> Option<(Moment, Moment, &ScheduleId)> {
        let schedule = &self.schedules.get(record.schedule)?.schedule;
        Some((record.run.slot, schedule.created_at, &schedule.id))
    }

    /// The run with this number.
    pub fn run_at(&self, key: Key) -> Option<&RunRecord> {
        self.runs.get(key)
    }

    /// The number of the run with this id.
    pub fn run_key(&self, id: &RunId) -> Option<Key> {
        let is_it =
            |record: &RunRecord| record.run.slot == id.slot && record.run.incarnation == id.incarnation;
        if let Some(key) = self.at_hand
            && let Some(record) = self.runs.get(key).filter(|record| is_it(record))
            && self.schedules.get(record.schedule).is_some_and(|it| it.schedule.id == id.schedule)
        {
            return Some(key);
        }
        let schedule = self.schedules.get(self.schedule_key_in_turn(&id.schedule)?)?;
        self.runs_of(schedule).find(|(_, record)| is_it(record)).map(|(key, _)| key)
    }

    /// The run with this id.
    pub fn run(&self, id: &RunId) -> Option<&RunRecord> {
        self.runs.get(self.run_key(id)?)
    }

    /// The runs of a schedule that are kept, newest first, with their numbers.
    pub fn runs_of<'a>(
        &'a self,
        schedule: &ScheduleRecord,
    ) -> impl Iterator<Item = (Key, &'a RunRecord)> + 'a {
        let with_key = |key: Key| self.runs.get(key).map(|record| (key, record));
        let newest = schedule.newest_run.and_then(with_key);
        std::iter::successors(newest, move |(_, record)| record.older.and_then(with_key))
    }

    /// The last run of a schedule.
    pub fn newest_run<'a>(&'a self, schedule: &ScheduleRecord) -> Option<&'a RunRecord> {
        self.runs.get(schedule.newest_run?)
    }

    /// The id of a run.
    pub fn run_id(&self, record: &RunRecord) -> Option<RunId> {
        let schedule = self.schedules.get(record.schedule)?.schedule.id.clone();
        Some(RunId { schedule, incarnation: record.run.incarnation, slot: record.run.slot })
    }

    /// What was asked for when the slot of a run was claimed.
    pub fn asked<'a>(&'a self, record: &'a RunRecord) -> Option<&'a Schedule> {
        let present = || self.schedules.get(record.schedule).map(|schedule| &schedule.schedule);
        record.run.asked.as_deref().or_else(present)
    }

    /// Where what was asked for goes, at this moment.
    pub(super) fn place<'a>(&'a self, schedule: &'a Schedule, owner: Option<Key>) -> Place<'a> {
        let session = |key: Option<Key>| key.and_then(|key| Some((key, self.sessions.get(key)?)));
        let found = match schedule.target() {
            Target::Owner => session(owner),
            Target::Session(id) => session(self.session_key(id)),
            Target::Route(route) => {
                return match self.channels.get(&route.channel) {
                    None => Place::Nowhere(Reason::ChannelUnknown),
                    Some(channel) if channel.disabled_at.is_some() => Place::Nowhere(Reason::ChannelDisabled),
                    Some(_) => Place::Outside(route),
                };
            }
            Target::Fresh => {
                return session(owner).map_or(Place::Nowhere(Reason::TargetMissing), |(key, session)| {
                    Place::Fresh(key, session)
                });
            }
        };
        found.map_or(Place::Nowhere(Reason::TargetMissing), |(key, session)| Place::Lane(key, session))
    }

    /// What a queued run waits for at this moment; its session may have been busy when it was queued, and without a
    /// host by now.
    pub fn run_waits_for(&self, record: &RunRecord) -> Option<Reason> {
        if record.run.state != RunState::Queued {
            return None;
        }
        if self.held.is_some() {
            return Some(Reason::Held);
        }
        if let Some(hold) = record.run.checks.as_ref().and_then(|checks| checks.waits.as_ref()) {
            return Some(hold.reason());
        }
        if record.run.retry_at.is_some() {
            return Some(Reason::Retrying);
        }
        // One by hand was asked for all the same.
        let is_paused = || self.schedules.get(record.schedule).is_some_and(|it| it.course().paused.is_some());
        if record.run.cause != Cause::Manual && is_paused() {
            return Some(Reason::Paused);
        }
        if self.frozen && self.asked(record).is_some_and(Schedule::is_durable) {
            return Some(Reason::StoreUnavailable);
        }
        let session = self.sessions.get(record.lane?)?;
        if *self.asked(record)?.target() == Target::Fresh {
            session.blocks_fresh()
        } else {
            session.blocks_prompt()
        }
    }

    /// What a schedule waits for at this moment, other than its slot.
    pub fn waits_for(&self, record: &ScheduleRecord) -> Option<Reason> {
        if record.status.is_terminal() {
            return None;
        }
        if record.course().paused.is_some() {
            return Some(Reason::Paused);
        }
        let waiting = self.newest_run(record).and_then(|run| self.run_waits_for(run));
        waiting.or_else(|| self.held.as_ref().filter(|_| record.next.is_some()).map(|_| Reason::Held))
    }

    /// What a session may do.
    pub fn grant(&self, session: &SessionId) -> &Grant {
        self.grants.get(session).unwrap_or(&Grant::FULL)
    }

    /// The sessions that may do less than everything.
    pub fn grants(&self) -> &BTreeMap<SessionId, Grant> {
        &self.grants
    }

    /// Who holds everything, while it is held.
    pub fn held(&self) -> Option<&Pause> {
        self.held.as_ref()
    }

    /// From when on the slots of a schedule count as seen.
    pub(super) fn armed_since(&self, record: &ScheduleRecord) -> Option<Moment> {
        self.armed_since.max(record.course().armed_since)
    }

    /// Refuses a host that is not connected.
    pub(super) fn check_host(&self, host: HostId) -> Result<(), Refusal> {
        if host.is_attached() && !self.hosts.contains_key(&host) {
            return Err(Refusal::UnknownHost { host });
        }
        Ok(())
    }

    /// Whether there is room for one session more than `begun`, those that hosts are creating counted in.
    pub(super) fn has_room(&self, begun: usize) -> bool {
        ((self.sessions.len() + self.creating.len() + begun) as u64) < limits::SESSIONS.value
    }

    /// Whether a run was handed to its host and its receipt is still out.
    pub fn is_in_flight(&self, run: &RunId) -> bool {
        self.in_flight(run).is_ok()
    }

    /// How many schedules have not ended.
    pub fn live_count(&self) -> u64 {
        self.live
    }

    /// Whether anything is left that a stopping engine has to see the end of: what is in memory only, and receipts.
    pub fn is_settled(&self) -> bool {
        self.unstarted.is_empty() && self.turns.is_empty() && self.timers.receipts_len() == 0
    }

    /// The durable schedules whose records the last fact removed, to make room for others: their rows can go too.
    pub fn forgotten(&self) -> &[ScheduleId] {
        &self.forgotten
    }

    /// The accounts.
    pub fn ledger(&self) -> Ledger {
        self.ledger
    }

    /// The position of the last fact.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Whether the engine takes work.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The slot of a schedule in memory, or the time its receipt is overdue, on the boot clock.
    pub fn deadline(&self, id: &ScheduleId) -> Option<BootTime> {
        let key = self.schedule_key(id)?;
        let receipt = || {
            let record = self.schedules.get(key)?;
            self.runs_of(record).find_map(|(run, _)| self.timers.deadline(Timer::Receipt(run)))
        };
        self.timers.deadline(Timer::Slot(key)).or_else(receipt)
    }

    /// Whether a slot of a schedule is waited for, on either clock.
    pub fn has_slot_timer(&self, id: &ScheduleId) -> bool {
        self.schedule_key(id).is_some_and(|key| self.timers.has_slot(key))
    }

    /// Whether a slot of a schedule has come and is still to be consumed.
    pub fn is_slot_due(&self, id: &ScheduleId, now: Now) -> bool {
        let runs = self.mode == Mode::Running && self.held.is_none();
        runs && self.schedule_key(id).is_some_and(|key| self.timers.is_due(key, now))
    }

    /// When a session is no longer presumed to be starting a turn, on the boot clock.
    pub fn session_deadline(&self, id: &SessionId) -> Option<BootTime> {
        self.timers.deadline(Timer::Turn(self.session_key(id)?))
    }

    /// When the engine must be woken next, as the clocks stand at `now`; `None` while nothing has a deadline.
    pub fn next_wake(&self, now: Now) -> Option<BootTime> {
        if self.mode != Mode::Running && !(self.unstarted.is_empty() && self.turns.is_empty()) {
            return Some(BootTime::ZERO);
        }
        if self.mode == Mode::Abandoning && self.timers.first_receipt().is_some() {
            return Some(BootTime::ZERO);
        }
        self.first_timer(now).map(|(deadline, _)| deadline)
    }

    /// The earliest deadline and whose it is. A stopping engine claims nothing and tries nothing again.
    pub(super) fn first_timer(&self, now: Now) -> Option<(BootTime, Timer)> {
        self.timers.first(now, self.held.is_some() || self.mode != Mode::Running)
    }

    /// Whether the next wake-up depends on the wall clock, which can be set at any time.
    pub fn waits_for_wall(&self) -> bool {
        self.timers.needs_wall() && self.held.is_none()
    }

    /// The number of a schedule whose turn it is likely to be: its record is at hand then, and the index is not.
    pub(super) fn schedule_key_in_turn(&self, id: &ScheduleId) -> Option<Key> {
        let is_it = |key: &Key| self.schedules.get(*key).is_some_and(|record| record.schedule.id == *id);
        let of_run = |key: Key| self.runs.get(key).map(|record| record.schedule);
        // Each is tried before the next is looked for.
        let by_run = |key: Option<Key>| key.and_then(of_run).filter(is_it);
        by_run(self.at_hand)
            .or_else(|| by_run(self.timers.first_receipt()))
            .or_else(|| self.timers.first_slots().into_iter().flatten().find(is_it))
            .or_else(|| self.schedule_key(id))
    }

    /// The session into which a run is being delivered, if it is open.
    pub(super) fn lane(&self, record: &RunRecord) -> Option<&SessionRecord> {
        let submitted = record.run.phase == Some(Phase::PromptSubmit);
        self.sessions.get(record.lane.filter(|_| submitted)?)
    }

    /// The run with this id, if it is waiting for its receipt; else why a report on it is refused.
    pub(super) fn in_flight(&self, run: &RunId) -> Result<&RunRecord, Refusal> {
        match self.run(run) {
            Some(record) if record.run.state == RunState::InFlight => Ok(record),
            Some(_) => Err(Refusal::NotInFlight { run: run.clone() }),
            None if self.is_known(run) => Err(Refusal::NotInFlight { run: run.clone() }),
            None => Err(Refusal::UnknownRun { run: run.clone() }),
        }
    }

    /// Whether a run's slot is the one that its schedule stands for, although it has not begun, or never will.
    fn is_known(&self, run: &RunId) -> bool {
        self.schedule(&run.schedule)
            .is_some_and(|record| record.slot() == run.slot && record.course().incarnation == run.incarnation)
    }
}

fn in_order<'a>(records: impl Iterator<Item = &'a ScheduleRecord>) -> Vec<&'a ScheduleRecord> {
    let mut records: Vec<&ScheduleRecord> = records.collect();
    records.sort_unstable_by(|one, two| one.order().cmp(&two.order()));
    records
}

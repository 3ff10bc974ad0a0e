//! Everything the engine knows: the fold of the facts so far.
//!
//! Reads are here; the fold is in `apply`. Invariant: nothing reachable from a shared reference changes anything, and
//! every order that a reader can see is a total order, never that of a hash map.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::index::Index;
use super::ledger::Ledger;
use super::record::{ScheduleRecord, SessionRecord};
use super::slab::{Key, Slab};
use super::timers::{Timer, Timers};
use crate::domain::{
    BootTime, Cursor, HostId, Phase, Reason, Refusal, RunId, ScheduleId, SessionId, Status, names,
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
    pub(super) sessions: Slab<SessionRecord>,
    pub(super) session_ids: HashMap<SessionId, Key>,
    /// The connected hosts with their sessions, so that its loss is found without a search.
    pub(super) hosts: BTreeMap<HostId, BTreeSet<Key>>,
    /// Sessions with pending or queued schedules, so that a shutdown finds them.
    pub(super) unstarted: BTreeSet<Key>,
    /// Ids of fresh sessions that hosts are creating: nobody else may open one of these.
    pub(super) creating: BTreeSet<SessionId>,
    pub(super) timers: Timers,
    pub(super) ledger: Ledger,
    pub(super) cursor: Cursor,
    pub(super) mode: Mode,
    /// What the last fact about a run was about: the next is likely to be about the same. A hint, never believed
    /// without a look at the id.
    pub(super) at_hand: Option<Key>,
}

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
            sessions: Slab::new(),
            session_ids: HashMap::new(),
            hosts: BTreeMap::new(),
            unstarted: BTreeSet::new(),
            creating: BTreeSet::new(),
            timers: Timers::default(),
            ledger: Ledger::default(),
            cursor: Cursor::START,
            mode: Mode::Running,
            at_hand: None,
        }
    }

    /// The schedule with this id.
    pub fn schedule(&self, id: &ScheduleId) -> Option<&ScheduleRecord> {
        self.schedules.get(self.schedule_key(id)?)
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

    /// The runs that wait for a session's lane, in the order in which they will be delivered.
    pub fn waiting(&self, session: &SessionRecord) -> Vec<&ScheduleRecord> {
        in_order(session.waiting.iter().filter_map(|key| self.schedules.get(*key)))
    }

    /// What a queued run waits for at this moment; its session may have been busy when it was queued, and without a
    /// host by now.
    pub fn waits_for(&self, record: &ScheduleRecord) -> Option<Reason> {
        let owner = self.sessions.get(record.owner).filter(|_| record.status == Status::Queued)?;
        owner.blocks(record.schedule.target())
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
        self.ledger.pending
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

    /// The slot of a pending schedule, or the time its receipt is overdue, on the boot clock.
    pub fn deadline(&self, id: &ScheduleId) -> Option<BootTime> {
        let key = self.schedule_key(id)?;
        self.timers.deadline(Timer::Slot(key)).or_else(|| self.timers.deadline(Timer::Receipt(key)))
    }

    /// When a session is no longer presumed to be starting a turn, on the boot clock.
    pub fn session_deadline(&self, id: &SessionId) -> Option<BootTime> {
        self.timers.deadline(Timer::Turn(self.session_key(id)?))
    }

    /// When the engine must be woken next; `None` while nothing has a deadline.
    pub fn next_wake(&self) -> Option<BootTime> {
        if self.mode != Mode::Running && !self.unstarted.is_empty() {
            return Some(BootTime::ZERO);
        }
        let first = self.timers.first().map(|(deadline, _)| deadline);
        if self.mode == Mode::Abandoning { first.map(|_| BootTime::ZERO) } else { first }
    }

    /// The same, for one whose turn it is likely to be: its record is at hand then, and the index is not.
    pub(super) fn schedule_key_in_turn(&self, id: &ScheduleId) -> Option<Key> {
        let [receipt, slot] = self.timers.next_schedules();
        let likely = [self.at_hand, receipt, slot].into_iter().flatten();
        let is_it = |key: &Key| self.schedules.get(*key).is_some_and(|record| record.schedule.id == *id);
        likely.into_iter().find(is_it).or_else(|| self.schedule_key(id))
    }

    /// The session into which a run is being delivered, if it is open.
    pub(super) fn lane(&self, record: &ScheduleRecord) -> Option<&SessionRecord> {
        let run = record.run().filter(|run| run.phase == Some(Phase::PromptSubmit))?;
        let session = run.session.as_ref()?;
        if *session == record.schedule.owner {
            self.sessions.get(record.owner)
        } else {
            self.session(session)
        }
    }

    /// The schedule whose run this is, if that run is waiting for its receipt; else why a report on it is refused.
    pub(super) fn in_flight(&self, run: &RunId) -> Result<&ScheduleRecord, Refusal> {
        let key = self.schedule_key_in_turn(&run.schedule);
        let record = key.and_then(|key| self.schedules.get(key)).filter(|record| record.run_id() == *run);
        match record {
            Some(record) if record.status == Status::InFlight => Ok(record),
            Some(_) => Err(Refusal::NotInFlight { run: run.clone() }),
            None => Err(Refusal::UnknownRun { run: run.clone() }),
        }
    }
}

fn in_order<'a>(records: impl Iterator<Item = &'a ScheduleRecord>) -> Vec<&'a ScheduleRecord> {
    let mut records: Vec<&ScheduleRecord> = records.collect();
    records.sort_unstable_by(|one, two| one.schedule.order().cmp(&two.schedule.order()));
    records
}

//! How a failure of the store, and its recovery, change the state: what is taken back and dropped, and what is out still.
//!
//! What lives elsewhere: loading the rows afterwards (`restored`).

use crate::domain::{Now, RunId, RunState};
use crate::engine::pause::Holds;
use crate::engine::record::RunRecord;
use crate::engine::row::StoredRow;
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::engine::still_out::{StillAt, StillOut};
use crate::engine::timers::Timer;
use crate::engine::undo::Undo;

impl State {
    /// Withdraws a dispatch that no host has received. The run waits until the store's rows are
    /// loaded again.
    pub(super) fn retract(&mut self, run: &RunId) {
        let Some(key) = self.run_key(run) else { return };
        self.leave_everything(key);
        debug_assert!(
            self.sessions.iter().all(|(_, session)| session.in_flight != Some(key)),
            "{run} was retracted, and has its lane still"
        );
        if let Some(record) = self.runs.get_mut(key) {
            // Queued in no lane: its schedule is frozen, and replaced by its row.
            record.run.state = RunState::Queued;
        }
        if let Some(schedule) = self.schedule_key(&run.schedule) {
            self.refresh(schedule);
        }
    }

    /// Clears every deadline of durable schedules while nothing can be stored.
    pub(super) fn freeze_durable(&mut self, now: Now, why: Box<str>) {
        self.store_failures.begin(now.wall, why);
        for key in self.durable_schedules() {
            self.stop_timers(key);
        }
        debug_assert!(
            !self.timers.needs_wall(),
            "only durable slots count on the wall clock, and all stand still"
        );
    }

    fn durable_schedules(&self) -> Vec<Key> {
        let durable = self.schedules.iter().filter(|(_, record)| record.schedule.is_durable());
        durable.map(|(key, _)| key).collect()
    }

    /// Clears the deadlines of a schedule and its runs.
    fn stop_timers(&mut self, key: Key) {
        let Some(record) = self.schedules.get(key) else { return };
        let runs: Vec<Key> = self.runs_of(record).map(|(run, _)| run).collect();
        self.timers.clear(Timer::Slot(key));
        for run in runs {
            for timer in [Timer::Receipt(run), Timer::Retry(run), Timer::Approval(run), Timer::TimeUp(run)] {
                self.timers.clear(timer);
            }
        }
    }

    /// Takes back what a command has changed. Nothing becomes due by it: a schedule has no deadlines until the store's rows
    /// are loaded again.
    pub(super) fn take_back(&mut self, undo: Undo, now: Now) {
        match undo {
            Undo::Schedule { id, row } => {
                if let Some(key) = self.schedule_key(&id) {
                    self.evict_schedule(key);
                }
                match row {
                    Some(row) => self.restore(StoredRow::Schedule(row), now),
                    // The command created it, so there is no earlier row. The creation may have reached the disk all the same.
                    None => self.store_failures.note_uncertain(id.clone()),
                }
                // Restoring has set deadlines. Nothing durable may fire before the rows are loaded.
                if let Some(key) = self.schedule_key(&id) {
                    self.stop_timers(key);
                }
            }
            Undo::Holds(holds) => self.restore(StoredRow::Holds(holds), now),
            Undo::ChannelPauses(pauses) => self.restore(StoredRow::ChannelPauses(pauses), now),
            Undo::Guard { policy, grants } => self.restore(StoredRow::Guard { policy, grants }, now),
            Undo::Memory { session, memory, pings, .. } => self.restore_memory(&session, memory, pings),
        }
    }

    /// Drops durable schedules and settings so that they can be reloaded from the store: memory may
    /// contain changes that were never committed.
    pub(super) fn drop_durable(&mut self, now: Now) {
        self.store_failures.end(now.wall);
        self.note_still_out();
        // All of these come back with the rows.
        self.holds = Holds::default();
        self.guard = None;
        self.grants.clear();
        self.channel_pauses.clear();
        for key in self.durable_schedules() {
            self.evict_schedule(key);
        }
        debug_assert!(self.durable_schedules().is_empty(), "a durable schedule is left");
    }
}

impl State {
    /// Notes what is out, before the durable part of the state is dropped.
    pub(in crate::engine) fn note_still_out(&mut self) {
        let mut still_out = StillOut::default();
        for (key, record) in self.runs.iter() {
            let schedule = self.schedules.get(record.schedule);
            let is_durable = schedule.is_some_and(|schedule| schedule.schedule.is_durable());
            let Some(id) = Some(record).filter(|_| is_durable).and_then(|record| self.run_id(record)) else {
                continue;
            };
            match record.run.state {
                RunState::InFlight | RunState::Running => {
                    let lane = record.lane.and_then(|lane| self.sessions.get(lane));
                    let occupies = lane.is_some_and(|lane| lane.in_flight == Some(key));
                    let at = StillAt { phase: record.run.phase, lane: record.lane, occupies };
                    still_out.runs.insert(id, at);
                }
                RunState::Delivered => _ = still_out.delivered.insert(id),
                RunState::Queued | RunState::Left | RunState::Cancelled | RunState::Failed => {}
            }
        }
        self.still_out = still_out;
    }

    /// Returns where a loaded run was when the durable part of the state was dropped; `None` if it was not out, as in a new
    /// process.
    pub(in crate::engine) fn still_at(&self, run: &RunRecord) -> Option<StillAt> {
        if self.still_out.runs.is_empty() {
            return None;
        }
        self.still_out.runs.get(&self.run_id(run)?).copied()
    }

    /// Returns whether a loaded run, whose turn goes on according to its row, has been delivered.
    pub(in crate::engine) fn was_delivered(&self, run: &RunRecord) -> bool {
        let delivered = &self.still_out.delivered;
        let is_it = || self.run_id(run).is_some_and(|run| delivered.contains(&run));
        run.run.state == RunState::Running && !delivered.is_empty() && is_it()
    }
}

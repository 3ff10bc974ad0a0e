//! How a failure of the store, and its recovery, change the state.
//!
//! What lives elsewhere: loading the rows afterwards (`restored`).

use crate::domain::{Now, RunId, RunState};
use crate::engine::pause::Holds;
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::engine::timers::Timer;

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
        let durable = self.schedules.iter().filter(|(_, record)| record.schedule.is_durable());
        let keys: Vec<(Key, Vec<Key>)> =
            durable.map(|(key, record)| (key, self.runs_of(record).map(|(run, _)| run).collect())).collect();
        for (key, runs) in keys {
            self.timers.clear(Timer::Slot(key));
            for run in runs {
                for timer in
                    [Timer::Receipt(run), Timer::Retry(run), Timer::Approval(run), Timer::TimeUp(run)]
                {
                    self.timers.clear(timer);
                }
            }
        }
        debug_assert!(
            !self.timers.needs_wall(),
            "only durable slots count on the wall clock, and all stand still"
        );
    }

    /// Drops durable schedules and settings so that they can be reloaded from the store: memory may
    /// contain changes that were never committed.
    pub(super) fn drop_durable(&mut self, now: Now) {
        self.store_failures.end(now.wall);
        self.holds = Holds::default();
        self.guard = None;
        self.grants.clear();
        self.channel_pauses.clear();
        let durable = self.schedules.iter().filter(|(_, record)| record.schedule.is_durable());
        let keys: Vec<Key> = durable.map(|(key, _)| key).collect();
        for key in keys {
            self.let_go(key);
        }
        debug_assert!(
            self.schedules.iter().all(|(_, record)| !record.schedule.is_durable()),
            "a durable schedule is left of {}",
            self.schedules.len()
        );
    }
}

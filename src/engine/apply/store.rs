//! What a failure of the store, and its end, make of the state.
//!
//! What lives elsewhere: what is loaded after it (`restored`).

use crate::domain::{RunId, RunState};
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::engine::timers::Timer;

impl State {
    /// Withdraws a hand-over that never took place: the run waits until what is stored is loaded again.
    pub(super) fn retract(&mut self, run: &RunId) {
        let Some(key) = self.run_key(run) else { return };
        self.leave_everything(key);
        debug_assert!(
            self.sessions.iter().all(|(_, session)| session.in_flight != Some(key)),
            "{run} was retracted, and has its lane still"
        );
        if let Some(record) = self.runs.get_mut(key) {
            record.run.state = RunState::Queued;
        }
        if let Some(schedule) = self.schedule_key(&run.schedule) {
            self.refresh(schedule);
        }
    }

    /// Clears every deadline of durable schedules, as long as nothing can be stored.
    pub(super) fn freeze_durable(&mut self) {
        self.frozen = true;
        let durable = self.schedules.iter().filter(|(_, record)| record.schedule.is_durable());
        let keys: Vec<(Key, Vec<Key>)> =
            durable.map(|(key, record)| (key, self.runs_of(record).map(|(run, _)| run).collect())).collect();
        for (key, runs) in keys {
            self.timers.clear(Timer::Slot(key));
            for run in runs {
                for timer in [Timer::Receipt(run), Timer::Retry(run), Timer::Word(run), Timer::TimeUp(run)] {
                    self.timers.clear(timer);
                }
            }
        }
        debug_assert!(
            !self.timers.needs_wall(),
            "only durable slots count on the wall clock, and all stand still"
        );
    }

    /// Drops durable schedules and settings, to be loaded again from the store: memory may hold changes that were never
    /// committed.
    pub(super) fn drop_durable(&mut self) {
        self.frozen = false;
        self.held = None;
        self.guard = None;
        self.grants.clear();
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

//! When the engine has to be woken next, and for what: reads of the state's deadlines.
//!
//! What lives elsewhere: the deadlines themselves (`timers`), and what is done at one (`step/whole/wake.rs`).

use super::state::{Mode, State};
use super::timers::Timer;
use crate::domain::{BootTime, Now, ScheduleId, SessionId};

impl State {
    /// Returns the deadline of a volatile schedule's slot, or else of its receipt, on the boot clock.
    pub fn deadline(&self, id: &ScheduleId) -> Option<BootTime> {
        let key = self.schedule_key(id)?;
        let receipt = || {
            let record = self.schedules.get(key)?;
            self.runs_of(record).find_map(|(run, _)| self.timers.deadline(Timer::Receipt(run)))
        };
        self.timers.deadline(Timer::Slot(key)).or_else(receipt)
    }

    /// Returns whether a slot of a schedule has a deadline, on either clock.
    pub fn has_slot_timer(&self, id: &ScheduleId) -> bool {
        self.schedule_key(id).is_some_and(|key| self.timers.has_slot(key))
    }

    /// Returns whether a slot of a schedule is due and can be claimed.
    pub fn is_slot_due(&self, id: &ScheduleId, now: Now) -> bool {
        let runs = self.mode == Mode::Running && self.held().is_none();
        runs && self.schedule_key(id).is_some_and(|key| self.timers.is_due(key, now))
    }

    /// Returns when a session's presumed turn start expires, on the boot clock.
    pub(crate) fn session_deadline(&self, id: &SessionId) -> Option<BootTime> {
        self.timers.deadline(Timer::Turn(self.session_key(id)?))
    }

    /// Returns when the engine must be woken next, as the clocks stand at `now`; `None` if nothing has a deadline.
    pub fn next_wake(&self, now: Now) -> Option<BootTime> {
        // What a stop has to end waits for no deadline of its own.
        if self.mode != Mode::Running && self.stops_at_once() {
            return Some(BootTime::ZERO);
        }
        self.first_timer(now).map(|(deadline, _)| deadline)
    }

    /// Returns whether a stopping engine has something to end at once: queued runs and turns, one session per wake-up, or
    /// runs whose receipts it abandons.
    fn stops_at_once(&self) -> bool {
        let has_work = !(self.unstarted.is_empty() && self.turns.is_empty());
        has_work || self.mode == Mode::Abandoning && self.timers.first_receipt().is_some()
    }

    /// Returns the earliest deadline and its timer. Slots and retries are left out while everything is held or the
    /// engine stops.
    pub(super) fn first_timer(&self, now: Now) -> Option<(BootTime, Timer)> {
        self.timers.first(now, self.held().is_some() || self.mode != Mode::Running)
    }

    /// Returns whether a deadline depends on the wall clock, which can be set at any time.
    pub fn waits_for_wall(&self) -> bool {
        self.timers.needs_wall() && self.held().is_none()
    }
}

//! Applies that the next slot of a schedule is set, with its deadline.
//!
//! What lives elsewhere: the facts that do so (`schedule`, `run`), and which slot it is (`step::schedule::next_slot`).

use crate::domain::{BootTime, Moment, Next, Now};
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::engine::timers::Timer;

impl State {
    /// Sets the next slot. Replaces a slot that was expected at the latest, if there is one.
    pub(super) fn rearm(&mut self, key: Key, now: Now, next: Next, by_session: bool) {
        if self.schedules.get_mut(key).is_some_and(|record| record.next.take().is_some()) {
            self.ledger.unexpect();
        }
        self.see_from(key, now);
        self.arm(key, next);
        if by_session && let Some(record) = self.schedules.get_mut(key) {
            record.progress_mut().by_session = true;
        }
    }

    /// Sets the slot after one that has passed. If it has passed as well, it is made up for because of what armed that one.
    pub(super) fn arm_after(&mut self, key: Key, next: Next, now: Now) {
        let by_session = self.schedules.get(key).is_some_and(|record| record.progress().by_session);
        self.see_from(key, now);
        self.arm(key, next);
        let has_passed = next.slot().is_some_and(|slot| slot <= now.wall);
        if by_session
            && has_passed
            && let Some(record) = self.schedules.get_mut(key)
        {
            record.progress_mut().by_session = true;
        }
    }

    /// Notes that slots are seen from now on at the latest: the wall clock may have been set back since they were first seen.
    fn see_from(&mut self, key: Key, now: Now) {
        let progress = self.schedules.get_mut(key).and_then(|record| record.progress.as_deref_mut());
        if let Some(since) = progress.and_then(|progress| progress.armed_since.as_mut()) {
            *since = now.wall.min(*since);
        }
    }

    /// Sets the next slot. The caller has accounted for the slot before it.
    pub(super) fn arm(&mut self, key: Key, next: Next) {
        self.timers.clear(Timer::Slot(key));
        let Some(record) = self.schedules.get_mut(key) else { return };
        record.next = next.slot();
        // Makes the progress, in which `awaits_event` is recorded below.
        if next == Next::AtEvent {
            record.progress_mut();
        }
        if let Some(progress) = &mut record.progress {
            progress.awaits_finish = next == Next::AfterFinish;
            progress.awaits_event = next == Next::AtEvent;
            progress.by_session = false;
        }
        match next {
            Next::Slot { slot, due } => {
                self.ledger.expect();
                self.set_slot_timer(key, slot, due);
            }
            Next::AfterFinish | Next::AtEvent => {}
            Next::Never { reason } => {
                if let Some(progress) = &mut record.progress {
                    progress.never = Some(reason);
                }
            }
        }
    }

    pub(super) fn set_slot_timer(&mut self, key: Key, slot: Moment, due: Option<BootTime>) {
        // A paused schedule has no deadline. Resuming sets one.
        let Some(record) = self.schedules.get(key).filter(|record| record.progress().paused.is_none()) else {
            return;
        };
        match due {
            Some(due) => self.timers.set(Timer::Slot(key), due),
            None => self.timers.set_slot_on_wall(key, slot, record.schedule.created_at),
        }
    }
}

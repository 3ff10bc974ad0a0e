//! Schedules in the model.

use std::collections::BTreeSet;

use crate::domain::{BootTime, CountFrom, Moment, Next, Now, Schedule, SessionId, Status, Trigger};
use crate::testkit::reference::run_key::RunKey;
use crate::testkit::reference::watch_model::WatchModel;

/// One schedule.
#[derive(Clone, Debug)]
pub(in crate::testkit) struct ScheduleModel {
    pub(in crate::testkit) schedule: Schedule,
    pub(in crate::testkit) incarnation: u32,
    /// The incarnation that it had when it was last made anew under its id.
    pub(in crate::testkit) made_at: u32,
    /// The next slot and the earliest boot time for it, computed when the slot was set.
    pub(in crate::testkit) next: Option<(Moment, BootTime)>,
    /// The slot before the next one; without a next one, that of its last run, the last that was skipped, or the one that was
    /// cancelled with it.
    pub(in crate::testkit) last: Option<Moment>,
    pub(in crate::testkit) awaits_finish: bool,
    /// Its slot is set by an event, not by a clock.
    pub(in crate::testkit) awaits_event: bool,
    pub(in crate::testkit) paused: bool,
    pub(in crate::testkit) runs: BTreeSet<RunKey>,
    /// The most recently claimed run.
    pub(in crate::testkit) last_run: Option<RunKey>,
    pub(in crate::testkit) cancel_acknowledged: bool,
    /// It had ended and was then given a new trigger.
    pub(in crate::testkit) revived: bool,
    /// The schedule itself was cancelled, and not only one of its runs.
    pub(in crate::testkit) called_off: bool,
    pub(in crate::testkit) end: Option<Status>,
    /// Its session was closed. Stays true even if a session of that id is opened again.
    pub(in crate::testkit) orphaned: bool,
    /// A user spoke before its slot came, so `cancel-on-user-activity` must have cancelled it.
    pub(in crate::testkit) moot: bool,
    /// A session armed its next slot.
    pub(in crate::testkit) is_armed_by_session: bool,
    /// The bulletin of a call that is about to end.
    pub(in crate::testkit) telling: Option<RunKey>,
    /// Its checks, if it is a watch.
    pub(in crate::testkit) watch: WatchModel,
}

impl ScheduleModel {
    /// Whether the schedule is durable, so that its slots follow the wall clock.
    pub(in crate::testkit) fn is_durable(&self) -> bool {
        self.schedule.is_durable()
    }

    /// Whether a run is of a schedule that had its id before.
    pub(in crate::testkit) fn is_of_former(&self, run: &RunKey) -> bool {
        run.1 < self.made_at
    }

    pub(in crate::testkit) fn is_to_be_called_off_by_a_word_in(&self, session: &SessionId) -> bool {
        let flagged = self.schedule.lifetime().cancel_on_user_activity;
        flagged && self.end.is_none() && !self.paused && self.schedule.owner == *session
    }

    /// Whether its next slot lies strictly in the future, on the clock that it follows.
    pub(in crate::testkit) fn is_to_come(&self, now: Now) -> bool {
        match self.next {
            Some((slot, _)) if self.is_durable() => slot > now.wall,
            Some((_, earliest)) => earliest > now.boot,
            None => self.awaits(),
        }
    }

    /// The slot that it stands for in a list.
    pub(in crate::testkit) fn shown_slot(&self) -> Moment {
        let own = if let Trigger::At(slot) = self.schedule.trigger { Some(slot) } else { None };
        let known = self.next.map(|(slot, _)| slot).or(self.last).or(own);
        known.unwrap_or(self.schedule.created_at)
    }

    /// Whether a slot is expected at a time that is not known yet.
    pub(in crate::testkit) fn awaits(&self) -> bool {
        self.awaits_finish || self.awaits_event
    }

    /// The earliest boot time of a slot after the one that is armed, of a volatile interval: it goes by the boot clock, wherever
    /// the wall clock was set. `None` if the slot is reckoned by the clocks as they are.
    pub(in crate::testkit) fn earliest_after(&self, now: Now, next: Next) -> Option<BootTime> {
        let (slot, (armed, earliest), Trigger::Every(every)) =
            (next.slot()?, self.next?, &self.schedule.trigger)
        else {
            return None;
        };
        if self.is_durable() || self.paused || earliest == BootTime::ZERO {
            return None;
        }
        Some(match every.from() {
            CountFrom::Slot => earliest.after(slot.since(armed)),
            CountFrom::Finish => earliest.max(now.boot).after(slot.since(self.finish(now))),
        })
    }

    /// The moment from which the slot after a run counts that ends now: not before the slot of that run.
    pub(in crate::testkit) fn finish(&self, now: Now) -> Moment {
        self.last.map_or(now.wall, |last| last.max(now.wall))
    }

    pub(in crate::testkit) fn arm(&mut self, now: Now, next: Next) {
        self.next = reckon(now, next);
        self.awaits_finish = next == Next::AfterFinish;
        self.awaits_event = next == Next::AtEvent;
        self.is_armed_by_session = false;
    }
}

/// A slot with the earliest boot time for it, by the clocks at the time when it is set.
pub(in crate::testkit) fn reckon(now: Now, next: Next) -> Option<(Moment, BootTime)> {
    next.slot().map(|slot| (slot, now.boot.after(slot.since(now.wall)).before(now.wall.since(slot))))
}

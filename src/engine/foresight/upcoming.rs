//! The next slots of a schedule that get runs, by its trigger, its lifetime and its pause.
//!
//! Lives here: a cheap list for every answer that names next instants, so that they all agree. Does not live here: what
//! becomes of each slot (`forecast`). Turns are assumed to take no time, as a forecast assumes.

use crate::calendar::{Slots, Zones};
use crate::domain::{CountFrom, Moment, Span, Trigger};
use crate::engine::record::ScheduleRecord;

impl ScheduleRecord {
    /// How many next slots an answer lists if it does not say another number.
    pub(crate) const UPCOMING: usize = 3;

    /// Returns the next slot that gets a run; `None` while the schedule is paused.
    pub(crate) fn next_run(&self) -> Option<Moment> {
        self.next_slot().filter(|_| self.progress().paused.is_none())
    }

    /// Returns the next slots that get runs, at most `first`: none while the schedule is paused, and none beyond its
    /// expiry or its last run.
    pub(crate) fn upcoming(&self, zones: &Zones, now: Moment, first: usize) -> Vec<Moment> {
        // The step that armed the next slot has decided it. It may differ from the trigger's, for example after a skip.
        let Some(next) = self.next_run() else { return Vec::new() };
        let lifetime = self.schedule().lifetime();
        let runs_left = lifetime
            .max_runs
            .map_or(u64::MAX, |max| u64::from(max.get()).saturating_sub(self.progress().runs));
        let most = first.min(usize::try_from(runs_left).unwrap_or(usize::MAX));
        let slots = Slots::new(&self.schedule().trigger, zones);
        // Slots before now are consumed together with an overdue one.
        let from = if next < now { now.checked_sub(Span::from_nanos(1)).unwrap_or(now) } else { next };
        // A period after the end of a run: of the next one, and so on.
        let after_finish = match &self.schedule().trigger {
            Trigger::Every(every) if every.from() == CountFrom::Finish => Some(every),
            Trigger::Every(_)
            | Trigger::At(_)
            | Trigger::Calendar(_)
            | Trigger::Cron(..)
            | Trigger::Event(_) => None,
        };
        let first = match after_finish {
            Some(every) => every.after_finish(next.max(now)),
            None => slots.first_after(from),
        };
        let later = std::iter::successors(first, |slot| match after_finish {
            Some(every) => every.after_finish(*slot),
            None => slots.first_after(*slot),
        });
        // The latest time of an event is its only slot.
        let later = later.filter(|_| !matches!(self.schedule().trigger, Trigger::Event(_)));
        let lives = |slot: &Moment| lifetime.expires_at.is_none_or(|end| *slot < end);
        let in_years = |slot: &Moment| slot.is_within_years();
        std::iter::once(next).chain(later).take_while(lives).take_while(in_years).take(most).collect()
    }
}

//! The due slots of a schedule that one step handles together.
//!
//! Slots that nobody was there for are handled apart from those that came in time, if each of them gets a run. What becomes of
//! them is decided in `fire`. The forecast (`engine/foresight/schedule_sim.rs`) divides them alike.

use crate::domain::{Missed, Moment, Schedule, Span, Trigger};
use crate::engine::step::schedule::next_slot::{Passed, counted, latest_passed};
use crate::engine::step_builder::StepBuilder;
use crate::limits;

/// The due slots of a schedule that one step handles together.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct DueSlots {
    /// The first of them.
    pub(in crate::engine) armed: Moment,
    /// The latest of them.
    pub(in crate::engine) latest: Moment,
    /// The latest passed while it could not be claimed.
    pub(in crate::engine) unseen: bool,
    /// Each of them gets a run of its own.
    pub(in crate::engine) make_up: bool,
}

impl DueSlots {
    /// Returns the due slots from the armed one until a moment. `since` is the end of the last time in which none could be
    /// claimed: a restart, a resume, a release, or a change that introduced the slot.
    pub(in crate::engine) fn of(
        step: &StepBuilder<'_>,
        schedule: &Schedule,
        armed: Moment,
        until: Moment,
        since: Option<Moment>,
    ) -> DueSlots {
        // A slot that lay in the past when the schedule was created was not missed: it counts from the creation.
        let is_unseen = |slot: Moment| since.is_some_and(|since| slot.max(schedule.created_at) < since);
        // The armed slot decides. A later one that comes in time must not take those before it along.
        let make_up = schedule.policy().missed == Missed::All && is_unseen(armed);
        let missed_until = since.filter(|_| make_up).and_then(|since| since.checked_sub(Span::from_nanos(1)));
        let until = missed_until.map_or(until, |missed| missed.min(until));
        let latest = latest_passed(step, schedule, armed, until);
        debug_assert!(armed <= latest, "{}: after {armed}, {latest} has passed", schedule.id);
        DueSlots { armed, latest, unseen: is_unseen(latest), make_up }
    }

    /// Returns all of them, counted.
    pub(in crate::engine) fn all(self, step: &StepBuilder<'_>, schedule: &Schedule) -> Passed {
        counted(step, schedule, self.armed, self.latest)
    }

    /// Returns how many more there are than are made up for.
    pub(in crate::engine) fn too_many(self, step: &StepBuilder<'_>, schedule: &Schedule) -> u64 {
        // Each step of a long catching up asks this, and counting takes a search for each slot of a calendar. No two of its slots
        // are in one minute, so a short time has few.
        let is_shown = matches!(schedule.trigger, Trigger::Calendar(_) | Trigger::Cron(..));
        let is_short = self.latest.since(self.armed).millis() < limits::CATCH_UP.value * MINUTE_MS;
        if !self.make_up || is_shown && is_short {
            return 0;
        }
        self.all(step, schedule).count.saturating_sub(limits::CATCH_UP.value)
    }

    /// Returns those that the next run stands for. Making up for all goes one slot per step: the others stay due.
    pub(in crate::engine) fn of_next_run(self, step: &StepBuilder<'_>, schedule: &Schedule) -> Passed {
        if self.make_up { Passed { latest: self.armed, count: 1 } } else { self.all(step, schedule) }
    }
}

const MINUTE_MS: u64 = 60_000;

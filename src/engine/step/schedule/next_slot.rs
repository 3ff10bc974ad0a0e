//! The next slot of a schedule, and the slots that have passed: the calendar, combined with the
//! schedule's history and lifetime.

use crate::calendar::Slots;
use crate::domain::{BootTime, CountFrom, Moment, Next, Reason, Schedule, Span, Trigger};
use crate::engine::record::ScheduleRecord;
use crate::engine::step_builder::StepBuilder;

/// The due slots of a schedule since the last one that was consumed.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Passed {
    /// The latest of them.
    pub(in crate::engine) latest: Moment,
    /// How many there are; a lower bound if there are too many to count.
    pub(in crate::engine) count: u64,
}

/// Returns the first slot of a trigger that starts to count at `from`.
///
/// An interval has a slot at its anchor even if that is `from` itself. All other slots lie strictly
/// after `from`, so that a schedule does not fire in the minute in which it was made.
pub(in crate::engine) fn first_slot(step: &StepBuilder<'_>, schedule: &Schedule, from: Moment) -> Next {
    let slot = match &schedule.trigger {
        Trigger::At(slot) => Some(*slot),
        Trigger::Event(event) if event.latest.is_none() => return Next::AtEvent,
        // The latest time serves as the slot until the event happens.
        Trigger::Event(event) => event.latest,
        Trigger::Every(every) if every.anchor() == from => Some(from),
        trigger @ (Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..)) => {
            Slots::new(trigger, step.zones).first_after(from)
        }
    };
    within_lifetime(step, schedule, slot)
}

/// Returns the slot after one that is consumed now. `runs` is the number of runs including this
/// one.
pub(in crate::engine) fn slot_after(
    step: &StepBuilder<'_>,
    schedule: &Schedule,
    slot: Moment,
    runs: u64,
) -> Next {
    // The number of runs is a bound of its own: the trigger may have further slots.
    if schedule.lifetime().max_runs.is_some_and(|max| runs >= u64::from(max.get())) {
        return Next::Never { reason: Reason::MaxRuns };
    }
    let next = match &schedule.trigger {
        Trigger::At(_) | Trigger::Event(_) => None,
        Trigger::Every(every) if every.from() == CountFrom::Finish => return Next::AfterFinish,
        trigger @ (Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..)) => {
            Slots::new(trigger, step.zones).first_after(slot)
        }
    };
    assert!(next.is_none_or(|next| next > slot), "{}: after {slot} comes {next:?}", schedule.id);
    within_lifetime(step, schedule, next)
}

/// Returns the slot that counts from the end of a run, which is now. It never counts from before
/// the run's slot, in case the wall clock was set back.
pub(in crate::engine) fn slot_after_finish(
    step: &StepBuilder<'_>,
    schedule: &Schedule,
    consumed: Moment,
) -> Next {
    let Trigger::Every(every) = &schedule.trigger else {
        return Next::Never { reason: Reason::NoMoreSlots };
    };
    let finish = step.now.wall.max(consumed);
    within_lifetime_at(step, schedule, every.after_finish(finish), finish)
}

/// As [`slot_after_finish`], but after another wait than the period.
pub(in crate::engine) fn slot_after_wait(
    step: &StepBuilder<'_>,
    schedule: &Schedule,
    consumed: Moment,
    wait: Span,
) -> Next {
    let finish = step.now.wall.max(consumed);
    within_lifetime_at(step, schedule, finish.checked_add(wait), finish)
}

pub(in crate::engine) fn within_lifetime(
    step: &StepBuilder<'_>,
    schedule: &Schedule,
    slot: Option<Moment>,
) -> Next {
    within_lifetime_at(step, schedule, slot, step.now.wall)
}

/// As [`within_lifetime`], but `now` is the present moment by the time in which the slot counts. The wall clock may have been set
/// back behind the slot before it.
fn within_lifetime_at(
    step: &StepBuilder<'_>,
    schedule: &Schedule,
    slot: Option<Moment>,
    now: Moment,
) -> Next {
    // A slot that no notation can print would spoil every list that it is in.
    let Some(slot) = slot.filter(|slot| slot.is_within_years()) else {
        return Next::Never { reason: Reason::NoMoreSlots };
    };
    if schedule.lifetime().expires_at.is_some_and(|end| slot >= end) {
        return Next::Never { reason: Reason::Expired };
    }
    Next::Slot { slot, due: due_at(step, schedule, slot, now) }
}

/// Returns the slot of a schedule that becomes due now because of an event, and not by its trigger.
/// Run ids contain the slot, so a slot that a run already has is moved by a nanosecond.
pub(in crate::engine::step) fn slot_now(step: &StepBuilder<'_>, record: &ScheduleRecord) -> Option<Moment> {
    let mut slot = step.now.wall;
    // Few runs are retained, so this ends after few steps.
    while step.state.run(&record.run_id(slot)).is_some() {
        slot = slot.checked_add(Span::from_nanos(1))?;
    }
    Some(slot)
}

/// Returns whether a moment is the next slot of a schedule, or the latest of those that are due: the run for all of them has it
/// in its id.
pub(in crate::engine::step) fn is_taken_slot(
    step: &StepBuilder<'_>,
    record: &ScheduleRecord,
    moment: Moment,
) -> bool {
    let due = record.next.filter(|next| *next <= moment);
    due.is_some_and(|next| {
        next == moment || latest_passed(step, &record.schedule, next, step.now.wall) == moment
    })
}

/// Returns the deadline of a slot on the boot clock, for a volatile schedule.
pub(in crate::engine::step) fn due(
    step: &StepBuilder<'_>,
    schedule: &Schedule,
    slot: Moment,
) -> Option<BootTime> {
    due_at(step, schedule, slot, step.now.wall)
}

fn due_at(step: &StepBuilder<'_>, schedule: &Schedule, slot: Moment, now: Moment) -> Option<BootTime> {
    (!schedule.is_durable()).then(|| step.now.boot.after(slot.since(now)).before(now.since(slot)))
}

/// Returns the latest slot from the armed one until a moment.
pub(in crate::engine) fn latest_passed(
    step: &StepBuilder<'_>,
    schedule: &Schedule,
    armed: Moment,
    until: Moment,
) -> Moment {
    // Handled in time, no later slot can have passed. Saves every search.
    if until <= armed {
        return armed;
    }
    let trigger = match &schedule.trigger {
        Trigger::At(_) | Trigger::Event(_) => return armed,
        Trigger::Every(every) if every.from() == CountFrom::Finish => return armed,
        trigger @ (Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..)) => trigger,
    };
    // The expiry is exclusive: a slot at that very instant is not due.
    let end = schedule.lifetime().expires_at.and_then(|end| end.checked_sub(Span::from_nanos(1)));
    let until = end.map_or(until, |end| end.min(until));
    let slots = Slots::new(trigger, step.zones);
    // The common case: the next slot lies ahead. Saves the search backwards from now.
    if slots.first_after(armed).is_none_or(|next| next > until) {
        return armed;
    }
    slots.latest_in(armed, until).unwrap_or(armed)
}

/// Counts the slots from the armed one to the latest. The armed one may lie beside the trigger's grid, like one that was brought
/// forward.
pub(in crate::engine) fn counted(
    step: &StepBuilder<'_>,
    schedule: &Schedule,
    armed: Moment,
    latest: Moment,
) -> Passed {
    if latest <= armed {
        return Passed { latest, count: 1 };
    }
    let later = match &schedule.trigger {
        // The slots of an interval are evenly spaced; others have to be counted.
        Trigger::Every(every) => latest.since(armed).nanos().div_ceil(every.period().nanos()),
        trigger @ (Trigger::At(_) | Trigger::Event(_) | Trigger::Calendar(_) | Trigger::Cron(..)) => {
            Slots::new(trigger, step.zones).count_in(armed, latest, u64::MAX).counted()
        }
    };
    Passed { latest, count: 1 + later }
}

/// Returns the n-th slot after `armed`, for catching up.
pub(in crate::engine) fn nth_after(
    step: &StepBuilder<'_>,
    schedule: &Schedule,
    armed: Moment,
    n: u64,
) -> Option<Moment> {
    let Some(more) = n.checked_sub(1) else { return Some(armed) };
    let slots = Slots::new(&schedule.trigger, step.zones);
    let first = slots.first_after(armed)?;
    if let Trigger::Every(every) = &schedule.trigger {
        // Evenly spaced: there may be millions of them.
        return first.checked_add(Span::from_nanos(every.period().nanos().checked_mul(more)?));
    }
    slots.after(armed).nth(usize::try_from(more).ok()?)
}

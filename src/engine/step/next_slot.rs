//! Which slot comes next, and which have passed: where the calendar meets what a schedule has been through.

use crate::calendar::Slots;
use crate::domain::{BootTime, CountFrom, Moment, Next, Reason, Schedule, Span, Trigger};
use crate::engine::draft::Draft;
use crate::engine::record::ScheduleRecord;

/// The slots of a schedule that have come since the last one was consumed.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Passed {
    /// The last of them.
    pub(in crate::engine) latest: Moment,
    /// How many there are; where there are too many to count, the least that there are.
    pub(in crate::engine) count: u64,
}

/// The first slot of a trigger that begins to count at `from`.
///
/// An interval has a slot at its anchor, should that be this very moment; all other slots lie strictly ahead, so that nothing
/// fires in the minute in which it was made.
pub(in crate::engine) fn first_slot(draft: &Draft<'_>, schedule: &Schedule, from: Moment) -> Next {
    let slot = match &schedule.trigger {
        Trigger::At(slot) => Some(*slot),
        Trigger::Event(event) if event.latest.is_none() => return Next::AtEvent,
        Trigger::Event(event) => event.latest,
        Trigger::Every(every) if every.anchor() == from => Some(from),
        trigger @ (Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..)) => {
            Slots::new(trigger, draft.zones).first_after(from)
        }
    };
    within_lifetime(draft, schedule, slot)
}

/// The slot that comes after one that is consumed now. `runs` is how many runs it has had then.
pub(in crate::engine) fn slot_after(draft: &Draft<'_>, schedule: &Schedule, slot: Moment, runs: u64) -> Next {
    if schedule.lifetime().max_runs.is_some_and(|max| runs >= u64::from(max.get())) {
        return Next::Never { reason: Reason::MaxRuns };
    }
    let next = match &schedule.trigger {
        Trigger::At(_) | Trigger::Event(_) => None,
        Trigger::Every(every) if every.from() == CountFrom::Finish => return Next::AfterFinish,
        trigger @ (Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..)) => {
            Slots::new(trigger, draft.zones).first_after(slot)
        }
    };
    assert!(next.is_none_or(|next| next > slot), "{}: after {slot} comes {next:?}", schedule.id);
    within_lifetime(draft, schedule, next)
}

/// The slot that counts from the end of a run, which is now; never one before the slot of that run, should the clock have
/// been set back meanwhile.
pub(in crate::engine) fn slot_after_finish(draft: &Draft<'_>, schedule: &Schedule, consumed: Moment) -> Next {
    let Trigger::Every(every) = &schedule.trigger else {
        return Next::Never { reason: Reason::NoMoreSlots };
    };
    within_lifetime(draft, schedule, every.after_finish(draft.now.wall.max(consumed)))
}

pub(in crate::engine) fn within_lifetime(
    draft: &Draft<'_>,
    schedule: &Schedule,
    slot: Option<Moment>,
) -> Next {
    let Some(slot) = slot else { return Next::Never { reason: Reason::NoMoreSlots } };
    if schedule.lifetime().expires_at.is_some_and(|end| slot >= end) {
        return Next::Never { reason: Reason::Expired };
    }
    Next::Slot { slot, due: due(draft, schedule, slot) }
}

/// The slot that a schedule has at this moment because something has happened, not by its trigger. A run's id is made of its
/// slot, and no two runs have the same: one by hand may have had this very instant.
pub(super) fn slot_now(draft: &Draft<'_>, record: &ScheduleRecord) -> Option<Moment> {
    let mut slot = draft.now.wall;
    while draft.state.run(&record.run_id(slot)).is_some() {
        slot = slot.checked_add(Span::from_nanos(1))?;
    }
    Some(slot)
}

/// When a slot is due on the boot clock, for a schedule that lives in memory.
pub(super) fn due(draft: &Draft<'_>, schedule: &Schedule, slot: Moment) -> Option<BootTime> {
    (!schedule.is_durable()).then(|| draft.now.boot.after(slot.since(draft.now.wall)))
}

/// The slots from the one that was to come, `armed`, until now.
pub(in crate::engine) fn passed(draft: &Draft<'_>, schedule: &Schedule, armed: Moment) -> Passed {
    let only = Passed { latest: armed, count: 1 };
    let (trigger, every) = match &schedule.trigger {
        Trigger::At(_) | Trigger::Event(_) => return only,
        Trigger::Every(every) if every.from() == CountFrom::Finish => return only,
        trigger @ Trigger::Every(every) => (trigger, Some(every)),
        trigger @ (Trigger::Calendar(_) | Trigger::Cron(..)) => (trigger, None),
    };
    let end = schedule.lifetime().expires_at.and_then(|end| end.checked_sub(Span::from_nanos(1)));
    let until = end.map_or(draft.now.wall, |end| end.min(draft.now.wall));
    let slots = Slots::new(trigger, draft.zones);
    // Most often the next slot lies ahead.
    if slots.first_after(armed).is_none_or(|next| next > until) {
        return only;
    }
    let Some(latest) = slots.latest_in(armed, until) else { return only };
    let later = match every {
        Some(every) => latest.since(armed).nanos() / every.period().nanos(),
        None => slots.count_in(armed, latest, u64::MAX).counted(),
    };
    Passed { latest, count: 1 + later }
}

/// The slot that comes so many after `armed`, for catching up.
pub(in crate::engine) fn nth_after(
    draft: &Draft<'_>,
    schedule: &Schedule,
    armed: Moment,
    n: u64,
) -> Option<Moment> {
    let n = usize::try_from(n).ok()?;
    if n == 0 {
        return Some(armed);
    }
    Slots::new(&schedule.trigger, draft.zones).after(armed).nth(n - 1)
}

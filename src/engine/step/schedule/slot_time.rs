//! The time by which the slots of a schedule pass.
//!
//! Durable slots pass by the wall clock. A volatile slot has a deadline on the boot clock, and what comes of it and after it
//! counts from that deadline: a step of the wall clock makes it neither late nor missed, and moves no slot of its interval.
//! Slots of a calendar or of cron are readings of the wall clock, so each next one is looked up there.

use crate::domain::{BootTime, CountFrom, Moment, Next, Trigger};
use crate::engine::record::ScheduleRecord;
use crate::engine::step_builder::StepBuilder;
use crate::engine::timers::Timer;

/// What the time is for the slots of a schedule.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::step) struct SlotTime {
    /// The present moment.
    pub(in crate::engine::step) now: Moment,
    /// Slots before this moment count as missed, if there are any.
    pub(in crate::engine::step) since: Option<Moment>,
}

impl SlotTime {
    /// Returns the time for a schedule whose armed slot may be due.
    pub(in crate::engine::step) fn of(step: &StepBuilder<'_>, record: &ScheduleRecord) -> SlotTime {
        let wall = || SlotTime { now: step.now.wall, since: step.state.armed_since(record) };
        by_deadline(step, record).unwrap_or_else(wall)
    }

    /// Returns until when slots have passed.
    pub(in crate::engine::step) fn passed_until(
        self,
        step: &StepBuilder<'_>,
        record: &ScheduleRecord,
    ) -> Moment {
        match &record.schedule.trigger {
            Trigger::Calendar(_) | Trigger::Cron(..) => step.now.wall,
            Trigger::Every(_) | Trigger::At(_) | Trigger::Event(_) => self.now,
        }
    }
}

/// Returns the time by the deadline of the armed slot; `None` if it has none on the boot clock.
fn by_deadline(step: &StepBuilder<'_>, record: &ScheduleRecord) -> Option<SlotTime> {
    let (deadline, boot) = (deadline(step, record)?, step.now.boot);
    // One of the two spans is zero.
    let now = record.next?.checked_add(boot.since(deadline))?.checked_sub(deadline.since(boot))?;
    let unseen_until = step.state.unseen_until.and_then(|until| now.checked_sub(boot.since(until)));
    Some(SlotTime { now, since: unseen_until.max(record.progress().armed_since) })
}

/// Returns the deadline of the armed slot on the boot clock; `None` if it is not set there.
pub(in crate::engine::step) fn deadline(step: &StepBuilder<'_>, record: &ScheduleRecord) -> Option<BootTime> {
    if record.schedule.is_durable() {
        return None;
    }
    let key = step.state.schedule_key_in_turn(&record.schedule.id)?;
    let deadline = step.state.timers.deadline(Timer::Slot(key))?;
    // The boot clock does not reach back to a slot before its start.
    Some(deadline).filter(|deadline| *deadline > BootTime::ZERO)
}

/// Returns the slot after the armed one with its deadline, if both are of a volatile interval. `consumed` is the slot that it
/// follows.
pub(in crate::engine::step) fn timed(
    step: &StepBuilder<'_>,
    record: &ScheduleRecord,
    consumed: Moment,
    next: Next,
) -> Next {
    let (Next::Slot { slot, due: Some(_) }, Trigger::Every(every)) = (next, &record.schedule.trigger) else {
        return next;
    };
    let Some((armed, deadline)) = record.next.zip(deadline(step, record)) else { return next };
    let due = match every.from() {
        CountFrom::Slot => deadline.after(slot.since(armed)),
        CountFrom::Finish => deadline.max(step.now.boot).after(slot.since(step.now.wall.max(consumed))),
    };
    Next::Slot { slot, due: Some(due) }
}

//! When a watch looks next: after a check, after a time in which nobody looked, and after a pause.
//!
//! The forecast (`engine/foresight/schedule_sim.rs`) uses the same functions, so that it says what the steps do.

use crate::domain::{Moment, Next, Reason, Schedule, Span, Trigger};
use crate::engine::step::schedule::next_slot::{due, slot_after_finish, slot_after_wait, within_lifetime};
use crate::engine::step_builder::StepBuilder;
use crate::engine::watching::next_wait;

/// Returns the slot that counts from the end of a run, which is now. `errors` is the number of checks in a row that have failed,
/// if the run was a check of a watch.
pub(in crate::engine) fn slot_after_run(
    step: &StepBuilder<'_>,
    schedule: &Schedule,
    consumed: Moment,
    errors: u32,
) -> Next {
    match wait_after_check(schedule, consumed, errors) {
        Some(wait) => slot_after_wait(step, schedule, consumed, wait),
        None => slot_after_finish(step, schedule, consumed),
    }
}

/// Returns how long it is waited after the check of a slot; `None` for a schedule that is no watch.
pub(in crate::engine) fn wait_after_check(schedule: &Schedule, slot: Moment, errors: u32) -> Option<Span> {
    let filter = schedule.payload.call()?.filter.as_deref()?;
    let Trigger::Every(every) = &schedule.trigger else { return None };
    // Any number that differs from check to check; a replay draws the same.
    let (seconds, nanos) = (slot.seconds().cast_unsigned(), u64::from(slot.nanos()));
    let draw = (seconds ^ nanos.rotate_left(20)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Some(next_wait(filter, every.period(), errors, draw))
}

/// Returns the slot after one that was skipped, of a schedule whose slots count from the ends of its runs.
pub(in crate::engine) fn slot_after_skip(
    step: &StepBuilder<'_>,
    schedule: &Schedule,
    skipped: Moment,
    reason: Reason,
) -> Next {
    // After a downtime or a hold, the checks of all watches are spread out and do not come at one moment.
    if reason == Reason::Missed && schedule.is_watch() {
        return spread(step, schedule, skipped);
    }
    // No run was claimed whose end the next slot could count from.
    slot_after_finish(step, schedule, skipped)
}

/// Returns a slot within the next interval of a watch, at a place that follows from its id.
fn spread(step: &StepBuilder<'_>, schedule: &Schedule, missed: Moment) -> Next {
    let Trigger::Every(every) = &schedule.trigger else {
        return Next::Never { reason: Reason::NoMoreSlots };
    };
    // FNV-1a, then the finalizer of MurmurHash3, because ids may differ in their last letter only.
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = schedule.id.to_string().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, mix);
    let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    let place = (u128::from(every.period().nanos()) * u128::from(hash >> 32)) >> 32;
    // One nanosecond at least, so that the slot lies after the one that was missed.
    let wait = Span::from_nanos(u64::try_from(place).unwrap_or_default() + 1);
    within_lifetime(step, schedule, step.now.wall.max(missed).checked_add(wait))
}

/// Returns the slot of a watch that is resumed, whose next one was to be this, which has passed: a whole number of intervals
/// after it. Checks that would have come during the pause are not made up for.
pub(in crate::engine) fn slot_after_pause(step: &StepBuilder<'_>, schedule: &Schedule, slot: Moment) -> Next {
    let Trigger::Every(every) = &schedule.trigger else {
        return Next::Slot { slot, due: due(step, schedule, slot) };
    };
    let period = every.period().nanos().max(1);
    // The whole intervals that have passed, and one more, so that the slot lies ahead.
    let passed = step.now.wall.since(slot).nanos() / period + 1;
    let next = slot.checked_add(Span::from_nanos(passed.saturating_mul(period)));
    within_lifetime(step, schedule, next)
}

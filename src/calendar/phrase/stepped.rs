//! Every so many days at a time of day: `every other day at 8`, `every 2 weeks on monday at 9`.
//!
//! A trigger counts either elapsed time or the readings of a clock. Where the clock has no summer time both are one, and
//! the phrase is a period. Elsewhere the period would leave its time of day, so it is refused with what is possible.

use super::context::PhraseContext;
use super::error::PhraseError;
use super::words::cut;
use crate::domain::{Calendar, CountFrom, Every, Span, TimeOfDay, Trigger, Weekday, Weekdays};

/// Returns the trigger of every so many days, from the next day on at which the time is ahead, or the next such weekday.
pub(super) fn trigger(
    days: u64,
    weekday: Option<Weekday>,
    time: TimeOfDay,
    asked: &PhraseContext<'_>,
) -> Result<Trigger, PhraseError> {
    // Daily slots can follow the clock, so no zone is refused.
    if days == 1 {
        let daily = Calendar { weekdays: Weekdays::DAILY, time, zone: asked.zone.clone() };
        return Ok(Trigger::Calendar(Box::new(daily)));
    }
    let (first, _) = asked.coming(weekday, time)?;
    let clock = asked.zones.clock(&asked.zone);
    if clock.next_change(asked.now.seconds()).is_some() {
        let zone = asked.zones.resolved(&asked.zone).to_string().into();
        return Err(PhraseError::Stepped { days, zone, first: cut(&asked.print(first)), time });
    }
    let period = days.checked_mul(DAY_MS).map(Span::from_millis).ok_or(PhraseError::Period)?;
    Every::new(period, first, CountFrom::Slot).map(Trigger::from).ok_or(PhraseError::Period)
}

const DAY_MS: u64 = 86_400_000;

//! Patterns of clock readings: minutes, hours and days as bits, and the search for the next match.
//!
//! The days of a month are one word of 32 bits, so that a search costs an operation per month, not
//! per day: 40 years without a match are 480 of them. A pattern knows no zone. Invariant:
//! [`Pattern::next`] returns the first match, or there is none before the end of the year 9999.

use crate::domain::{Calendar, Cron, CronDays, CronFields, days_in_month};
use crate::edn::{civil_from_days, days_from_civil};

pub(crate) const SECONDS_PER_DAY: i64 = 86_400;
const MINUTES_PER_DAY: i64 = 1_440;
/// The last year that the library of the time zone database covers.
const YEAR_MAX: i64 = 9_999;

/// Which clock readings match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    fields: CronFields,
    second: u8,
}

impl Pattern {
    pub(crate) fn of_cron(cron: &Cron) -> Pattern {
        Pattern { fields: *cron.fields(), second: 0 }
    }

    pub(crate) fn of_calendar(calendar: &Calendar) -> Pattern {
        let days =
            // The days of the month do not restrict, so the weekdays alone decide, even if they are all seven.
            CronDays { of_week: calendar.weekdays.bits(), of_week_restricts: true, ..CronDays::default() };
        let fields = CronFields {
            minutes: 1 << calendar.time.minute(),
            hours: 1 << calendar.time.hour(),
            days,
            months: EVERY_MONTH,
            repeats: false,
        };
        Pattern { fields, second: calendar.time.second() }
    }

    /// Returns whether the trigger has slots in both passes of an hour that the clock repeats.
    pub(crate) fn repeats(&self) -> bool {
        self.fields.repeats
    }

    /// Returns whether every hour of the day matches. Then no slot is lost when the clock skips an
    /// hour.
    pub(crate) fn is_hourly(&self) -> bool {
        self.fields.hours == EVERY_HOUR
    }

    /// Returns the first match at or after a reading.
    pub(crate) fn next(&self, reading: i64) -> Option<i64> {
        let day = reading.div_euclid(SECONDS_PER_DAY);
        let second = reading.rem_euclid(SECONDS_PER_DAY) - i64::from(self.second);
        // Rounded up: a minute whose second has already passed is too early.
        let minute = (second + 59).div_euclid(60);
        let today = self.matches_day(day).then(|| self.time_from(minute)).flatten();
        let (day, minute) = match today {
            Some(minute) => (day, minute),
            None => (self.day_from(day + 1)?, self.time_from(0)?),
        };
        Some(day * SECONDS_PER_DAY + minute * 60 + i64::from(self.second))
    }

    /// Returns the first matching minute of a day, from this minute on.
    fn time_from(&self, minute: i64) -> Option<i64> {
        if minute >= MINUTES_PER_DAY {
            return None;
        }
        let minute = minute.max(0);
        let (hour, rest) = (minute / 60, minute % 60);
        // A minute of the current hour is left.
        if self.fields.hours >> hour & 1 == 1 && self.fields.minutes >> rest != 0 {
            return Some(minute + i64::from((self.fields.minutes >> rest).trailing_zeros()));
        }
        // Otherwise the first minute of the next matching hour of the day.
        let later = u64::from(self.fields.hours) >> (hour + 1);
        let first = i64::from(self.fields.minutes.trailing_zeros());
        (later != 0).then(|| (hour + 1 + i64::from(later.trailing_zeros())) * 60 + first)
    }

    fn matches_day(&self, day: i64) -> bool {
        let (year, month, day) = civil_from_days(day);
        self.days_of(year, month) >> day & 1 == 1
    }

    /// Returns the first matching day, from this day on.
    fn day_from(&self, day: i64) -> Option<i64> {
        let (mut year, mut month, first) = civil_from_days(day);
        // Shifting right and back left clears the days before `first`.
        let mut days = self.days_of(year, month) >> first << first;
        while days == 0 {
            (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            if year > YEAR_MAX {
                return None;
            }
            days = self.days_of(year, month);
        }
        Some(days_from_civil(year, month, i64::from(days.trailing_zeros())))
    }

    /// Returns the matching days of a month, as bits 1 to 31.
    fn days_of(&self, year: i64, month: i64) -> u32 {
        if self.fields.months >> month & 1 == 0 {
            return 0;
        }
        // 1970-01-01 was a Thursday.
        let first_weekday = (days_from_civil(year, month, 1) + 4).rem_euclid(7);
        days_in(&self.fields.days, u32::try_from(first_weekday).unwrap_or(0), days_in_month(year, month))
    }
}

/// Returns whether some month of the calendar has a matching day. Lengths and first weekdays of
/// months are tried in all combinations, so no search through years is needed.
pub(crate) fn is_possible(fields: &CronFields) -> bool {
    // February has two lengths; the others have one, in 2001 as in any year.
    let lengths = |month: i64| if month == 2 { [28, 29] } else { [days_in_month(2_001, month); 2] };
    (1..=12).filter(|month| fields.months >> month & 1 == 1).any(|month| {
        lengths(month).into_iter().any(|length| (0..7).any(|first| days_in(&fields.days, first, length) != 0))
    })
}

/// Returns the matching days of a month that begins on this weekday (0 is Sunday) and has this many
/// days.
fn days_in(days: &CronDays, first_weekday: u32, length: u32) -> u32 {
    // Bits 1 to `length`; bit 0 stays clear, because days count from 1.
    let month = u32::MAX >> (31 - length) & !1;
    let of_month = days.of_month | if days.last { 1 << length } else { 0 };
    let mut of_week = 0;
    for weekday in 0..7 {
        let first = 1 + (weekday + 7 - first_weekday) % 7;
        let all = EVERY_SEVENTH << first & month;
        if days.of_week >> weekday & 1 == 1 {
            of_week |= all;
        }
        for (weeks, nth) in (0..).zip(days.nth) {
            if nth >> weekday & 1 == 1 {
                // A fifth weekday that the month does not have is shifted out here, or masked
                // below.
                of_week |= 1 << first << (7 * weeks);
            }
        }
        if days.last_of_week >> weekday & 1 == 1 {
            of_week |= 1 << all.ilog2();
        }
    }
    month
        & match (days.of_month_restricts, days.of_week_restricts) {
            (false, false) => month,
            (true, false) => of_month,
            (false, true) => of_week,
            // Vixie's rule: if both fields restrict, a day needs to match only one of them.
            (true, true) => of_month | of_week,
        }
}

const EVERY_MONTH: u16 = 0b1_1111_1111_1110;
const EVERY_HOUR: u32 = 0xFF_FFFF;
/// Bits 0, 7, 14, 21 and 28.
const EVERY_SEVENTH: u32 = 0x1020_4081;

//! The slow way: every minute of the wall clock is asked whether it matches, and every offset whether it was meant.
//!
//! Shares no search with the crate: only the bits of a parsed expression, and jiff's offsets.

use jiff::Timestamp;
use jiff::civil::Weekday as Day;
use jiff::tz::{Offset, TimeZone};
use reveille::domain::{Moment, TimeOfDay, Trigger, Weekdays};

use crate::at;

/// All slots in `(a, b]` of a calendar or cron trigger on the clock of `zone`.
pub(crate) fn slots(trigger: &Trigger, zone: &TimeZone, a: i64, b: i64) -> Vec<Moment> {
    let offset = |instant: i64| i64::from(zone.to_offset(stamp(instant)).seconds());
    let mut offsets: Vec<i64> = (a - 200_000..b + 200_000).step_by(1_800).map(offset).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let (west, east) = (offsets[0], offsets[offsets.len() - 1]);
    let (runs_twice, runs_late, second) = policy(trigger);
    let mut found = Vec::new();
    // A reading left out lies up to a day before the end of its gap.
    let first = (a + west - 90_000).div_euclid(60) * 60 + second;
    for reading in (first..=b + east + 90_000).step_by(60) {
        if !matches(trigger, reading) {
            continue;
        }
        let mut shown: Vec<i64> =
            offsets.iter().map(|east| reading - east).filter(|u| u + offset(*u) == reading).collect();
        shown.sort_unstable();
        match shown.first() {
            Some(first) if !runs_twice => found.push(*first),
            Some(_) => found.extend(shown),
            None if runs_late => found.push(end_of_gap(reading, west, east, offset)),
            None => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().filter(|slot| a < *slot && *slot <= b).map(at).collect()
}

/// Runs in both passes of an overlap; runs at the end of a gap; the second of the minute.
fn policy(trigger: &Trigger) -> (bool, bool, i64) {
    match trigger {
        Trigger::Cron(cron, _) => {
            let mut fields = cron.as_str().split(' ');
            let (minute, hour) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
            let is_wild = |field: &str| field.contains(['*', '/']);
            let several = cron.fields().minutes.count_ones() > 1;
            let hourly = cron.fields().hours.count_ones() == 24;
            (several || hourly || is_wild(minute) || is_wild(hour), !hourly, 0)
        }
        Trigger::Calendar(calendar) => (false, true, i64::from(calendar.time.second())),
        Trigger::At(_) | Trigger::Every(_) => panic!("not on a clock"),
    }
}

/// The first instant whose reading is later: by halving, as the clock goes forward but for the one jump.
fn end_of_gap(reading: i64, west: i64, east: i64, offset: impl Fn(i64) -> i64) -> i64 {
    let (mut before, mut after) = (reading - east - 1, reading - west);
    while after - before > 1 {
        let middle = before.midpoint(after);
        if middle + offset(middle) < reading { before = middle } else { after = middle }
    }
    after
}

fn matches(trigger: &Trigger, reading: i64) -> bool {
    let civil = Offset::UTC.to_datetime(stamp(reading));
    match trigger {
        Trigger::Cron(cron, _) => {
            let fields = cron.fields();
            let (minute, hour) = (civil.minute().cast_unsigned(), civil.hour().cast_unsigned());
            let (day, month) = (civil.day().cast_unsigned(), civil.month().cast_unsigned());
            let weekday = civil.weekday().to_sunday_zero_offset().cast_unsigned();
            let is_last = civil.day() == civil.days_in_month();
            let is_last_of_week = civil.day() + 7 > civil.days_in_month();
            let days = &fields.days;
            let by_month = days.of_month >> day & 1 == 1 || days.last && is_last;
            let by_week = days.of_week >> weekday & 1 == 1
                || days.nth[usize::from((day - 1) / 7)] >> weekday & 1 == 1
                || is_last_of_week && days.last_of_week >> weekday & 1 == 1;
            let is_day = match (days.of_month_restricts, days.of_week_restricts) {
                (true, true) => by_month || by_week,
                (of_month, of_week) => (!of_month || by_month) && (!of_week || by_week),
            };
            fields.minutes >> minute & 1 == 1
                && fields.hours >> hour & 1 == 1
                && fields.months >> month & 1 == 1
                && is_day
        }
        Trigger::Calendar(calendar) => {
            let time = TimeOfDay::new(
                civil.hour().cast_unsigned(),
                civil.minute().cast_unsigned(),
                civil.second().cast_unsigned(),
            );
            time == Some(calendar.time) && is_on(calendar.weekdays, civil.weekday())
        }
        Trigger::At(_) | Trigger::Every(_) => panic!("not on a clock"),
    }
}

fn is_on(weekdays: Weekdays, day: Day) -> bool {
    weekdays.bits() >> day.to_sunday_zero_offset() & 1 == 1
}

pub(crate) fn stamp(instant: i64) -> Timestamp {
    Timestamp::from_second(instant).expect("within jiff's years")
}

//! The wall clock of one zone: conversion of instants to clock readings and back, with gaps and
//! overlaps.
//!
//! A reading is counted in seconds since 1970-01-01T00:00:00 on that clock, as if every day had
//! 86,400 of them. All instants here are whole seconds of the wall clock. Invariant:
//! [`Clock::first_showing`] never goes back when its reading goes forward.

use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

/// The clock of a zone.
#[derive(Clone, Debug)]
pub(crate) enum Clock {
    /// A fixed offset, in seconds east of UTC.
    Fixed(i64),
    /// A zone of the time zone database.
    Zone(TimeZone),
}

/// How often a clock shows a reading, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The clock shows the reading once, at this instant.
    Once(i64),
    /// The clock never shows the reading: at this instant it jumps over it.
    Never(i64),
    /// The clock shows the reading twice, first at this instant.
    Twice(i64),
}

/// A change of a clock's offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The first instant with the new offset.
    pub(crate) at: i64,
    /// The new offset, in seconds east of UTC.
    pub(crate) offset: i64,
}

impl Clock {
    /// Returns the seconds east of UTC at an instant.
    pub(crate) fn offset_at(&self, instant: i64) -> i64 {
        match self {
            Clock::Fixed(offset) => *offset,
            Clock::Zone(zone) => i64::from(zone.to_offset(timestamp(instant)).seconds()),
        }
    }

    /// Returns how often and when the clock shows a reading; `None` beyond the years that the
    /// database covers.
    pub(crate) fn shows(&self, reading: i64) -> Option<Shown> {
        let zone = match self {
            Clock::Fixed(offset) => return Some(Shown::Once(reading.checked_sub(*offset)?)),
            Clock::Zone(zone) => zone,
        };
        // The reading as a civil date and time: what UTC shows at the instant of that number.
        let civil = Offset::UTC.to_datetime(Timestamp::from_second(reading).ok()?);
        let instant = |offset: Offset| reading - i64::from(offset.seconds());
        Some(match zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => Shown::Once(instant(offset)),
            AmbiguousOffset::Fold { before, .. } => Shown::Twice(instant(before)),
            AmbiguousOffset::Gap { before, .. } => {
                // By the old offset the reading lies at or after the jump, and no other jump lies
                // between, so the transition that precedes it is the jump.
                let after = Timestamp::from_second(instant(before) + 1).ok()?;
                Shown::Never(zone.preceding(after).next()?.timestamp().as_second())
            }
        })
    }

    /// Returns the first instant at which the clock shows this reading, or the jump if it never
    /// does.
    pub(crate) fn first_showing(&self, reading: i64) -> Option<i64> {
        match self.shows(reading)? {
            Shown::Once(instant) | Shown::Never(instant) | Shown::Twice(instant) => Some(instant),
        }
    }

    /// Returns the next change of the offset after an instant.
    pub(crate) fn next_change(&self, instant: i64) -> Option<Change> {
        match self {
            Clock::Fixed(_) => None,
            Clock::Zone(zone) => {
                let change = zone.following(timestamp(instant)).next()?;
                Some(Change {
                    at: change.timestamp().as_second(),
                    offset: i64::from(change.offset().seconds()),
                })
            }
        }
    }
}

/// Clamps an instant to the years that the database covers.
fn timestamp(instant: i64) -> Timestamp {
    let within = instant.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    // Never falls back, because the instant was clamped.
    Timestamp::from_second(within).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Zones;
    use crate::domain::{Moment, Zone};

    fn seconds(text: &str) -> i64 {
        Moment::parse(text).expect("an instant").seconds()
    }

    #[track_caller]
    fn check(zone: &str, reading: &str, expected: Shown) {
        let clock = Zones::bundled().clock(&Zone::parse(zone).expect("a zone"));
        assert_eq!(clock.shows(seconds(reading)), Some(expected), "{zone} {reading}");
    }

    #[test]
    fn gaps_and_overlaps_are_found() {
        check("America/New_York", "2026-03-08T01:59:59Z", Shown::Once(seconds("2026-03-08T06:59:59Z")));
        check("America/New_York", "2026-03-08T02:00:00Z", Shown::Never(seconds("2026-03-08T07:00:00Z")));
        check("America/New_York", "2026-03-08T02:59:59Z", Shown::Never(seconds("2026-03-08T07:00:00Z")));
        check("America/New_York", "2026-03-08T03:00:00Z", Shown::Once(seconds("2026-03-08T07:00:00Z")));
        check("America/New_York", "2026-11-01T01:00:00Z", Shown::Twice(seconds("2026-11-01T05:00:00Z")));
        check("America/New_York", "2026-11-01T02:00:00Z", Shown::Once(seconds("2026-11-01T07:00:00Z")));
        // The day that Samoa left out.
        check("Pacific/Apia", "2011-12-30T00:00:00Z", Shown::Never(seconds("2011-12-30T10:00:00Z")));
        check("Pacific/Apia", "2011-12-30T23:59:59Z", Shown::Never(seconds("2011-12-30T10:00:00Z")));
        check("Pacific/Apia", "2011-12-31T00:00:00Z", Shown::Once(seconds("2011-12-30T10:00:00Z")));
        check("+08:00", "2026-03-08T02:00:00Z", Shown::Once(seconds("2026-03-07T18:00:00Z")));
    }

    #[test]
    fn the_end_of_the_calendar_is_no_panic() {
        let zones = Zones::bundled();
        for zone in ["America/New_York", "UTC", "Pacific/Apia"] {
            let clock = zones.clock(&Zone::parse(zone).expect("a zone"));
            for instant in [i64::MIN, -1 << 60, 1 << 60, i64::MAX] {
                let _ = (clock.offset_at(instant), clock.shows(instant), clock.next_change(instant));
            }
        }
    }
}

//! Conversions between our times and the standard library's.
//!
//! Does not live here: reading a clock. The two types are data; `SystemTime::now` is for `adapter/clock_os.rs`
//! alone. Invariant: an instant is converted exactly or refused.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::domain::{Moment, OutOfRange, Span};

const SYSTEM_TIME: OutOfRange = OutOfRange { target: "SystemTime" };

/// Converts exactly. A `SystemTime` of 64-bit seconds reaches further than the calendar of a [`Moment`]: beyond years
/// ±999,999,999 this is an error, because a schedule at another instant than was meant is worse than none.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use reveille::domain::Moment;
/// let moment = Moment::try_from(UNIX_EPOCH + Duration::from_secs(1_776_862_800))?;
/// assert_eq!(moment.to_string(), "2026-04-22T13:00:00Z");
/// # Ok::<(), reveille::domain::OutOfRange>(())
/// ```
impl TryFrom<SystemTime> for Moment {
    type Error = OutOfRange;

    fn try_from(time: SystemTime) -> Result<Moment, OutOfRange> {
        let parts = match time.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_secs()).ok().zip(Some(since.subsec_nanos())),
            Err(before) => seconds_before(before.duration()),
        };
        parts.and_then(|(seconds, nanos)| Moment::new(seconds, nanos)).ok_or(OutOfRange::MOMENT)
    }
}

/// Converts exactly. It is an error if the platform's `SystemTime` does not reach so far, or has coarser ticks.
impl TryFrom<Moment> for SystemTime {
    type Error = OutOfRange;

    fn try_from(moment: Moment) -> Result<SystemTime, OutOfRange> {
        let whole = Duration::from_secs(moment.seconds().unsigned_abs());
        let nanos = Duration::from_nanos(moment.nanos().into());
        let second =
            if moment.seconds() < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
        let time = second.and_then(|second| second.checked_add(nanos)).ok_or(SYSTEM_TIME)?;
        // Windows counts in steps of 100 ns.
        if Moment::try_from(time) == Ok(moment) { Ok(time) } else { Err(SYSTEM_TIME) }
    }
}

/// Converts exactly up to 584 years, and to the longest span beyond that, as [`Span::from_millis`] does.
impl From<Duration> for Span {
    fn from(duration: Duration) -> Span {
        Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Converts exactly.
impl From<Span> for Duration {
    fn from(span: Span) -> Duration {
        Duration::from_nanos(span.nanos())
    }
}

/// Counts the seconds of an instant before 1970, rounded down, and the nanoseconds after them.
fn seconds_before(before: Duration) -> Option<(i64, u32)> {
    let seconds = 0_i64.checked_sub_unsigned(before.as_secs())?;
    match before.subsec_nanos() {
        0 => Some((seconds, 0)),
        nanos => Some((seconds.checked_sub(1)?, NANOS_PER_SECOND - nanos)),
    }
}

const NANOS_PER_SECOND: u32 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, seconds: i64, nanos: u32) {
        let second = Duration::from_secs(seconds.unsigned_abs());
        let second = if seconds < 0 { UNIX_EPOCH - second } else { UNIX_EPOCH + second };
        let time = second + Duration::from_nanos(nanos.into());
        let moment = Moment::try_from(time).unwrap();
        assert_eq!((moment.to_string().as_str(), moment.seconds(), moment.nanos()), (text, seconds, nanos));
        assert_eq!(SystemTime::try_from(moment), Ok(time), "{text}, back");
    }

    #[test]
    fn instants_convert_both_ways() {
        check("1970-01-01T00:00:00Z", 0, 0);
        check("2026-04-22T13:00:00.000000001Z", 1_776_862_800, 1);
        check("1969-12-31T23:59:59.999999999Z", -1, 999_999_999);
        check("1969-12-31T23:59:59Z", -1, 0);
        check("0000-01-01T00:00:00Z", -62_167_219_200, 0);
        check("+999999999-12-31T23:59:59.999999999Z", 31_556_889_832_780_799, 999_999_999);
        check("-999999999-01-01T00:00:00Z", -31_557_014_135_596_800, 0);
    }

    #[test]
    fn instants_outside_the_calendar_are_refused() {
        let last = Duration::new(31_556_889_832_780_799, 999_999_999);
        let first = Duration::from_secs(31_557_014_135_596_800);
        let tick = Duration::from_nanos(1);
        for time in [UNIX_EPOCH + last + tick, UNIX_EPOCH - first - tick] {
            let refused = Moment::try_from(time).unwrap_err();
            assert_eq!(refused.to_string(), "outside the range of Moment");
        }
    }

    #[test]
    fn spans_convert_both_ways_up_to_the_longest() {
        for (duration, nanos, back) in [
            (Duration::ZERO, 0, Duration::ZERO),
            (Duration::new(1, 500), 1_000_000_500, Duration::new(1, 500)),
            (Duration::from_nanos(u64::MAX), u64::MAX, Duration::from_nanos(u64::MAX)),
            (
                Duration::from_nanos(u64::MAX) + Duration::from_nanos(1),
                u64::MAX,
                Duration::from_nanos(u64::MAX),
            ),
            (Duration::MAX, u64::MAX, Duration::from_nanos(u64::MAX)),
        ] {
            assert_eq!((Span::from(duration).nanos(), Duration::from(Span::from(duration))), (nanos, back));
        }
    }
}

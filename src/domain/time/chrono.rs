//! Conversions between our times and chrono's, for programs that use it.
//!
//! Does not live here: civil time and zones, which are jiff's (`calendar`). Invariant: a time is converted exactly
//! or refused.

use ::chrono::{DateTime, TimeDelta, Utc};

use crate::domain::{Moment, OutOfRange, Span};

/// Converts exactly. chrono writes a leap second as more than 999,999,999 nanoseconds; a [`Moment`] has none, so that
/// this is an error.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use reveille::domain::Moment;
/// let lunch = DateTime::<Utc>::from_timestamp(1_776_862_800, 0).ok_or("within chrono's calendar")?;
/// assert_eq!(Moment::try_from(lunch)?, Moment::parse("2026-04-22T13:00:00Z")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl TryFrom<DateTime<Utc>> for Moment {
    type Error = OutOfRange;

    fn try_from(time: DateTime<Utc>) -> Result<Moment, OutOfRange> {
        // chrono counts a leap second as 10^9 nanoseconds or more. Such a time has no exact moment and is refused.
        Moment::new(time.timestamp(), time.timestamp_subsec_nanos()).ok_or(OutOfRange::MOMENT)
    }
}

/// Converts exactly. chrono ends at years ±262,142; beyond them this is an error.
impl TryFrom<Moment> for DateTime<Utc> {
    type Error = OutOfRange;

    fn try_from(moment: Moment) -> Result<DateTime<Utc>, OutOfRange> {
        let time = DateTime::from_timestamp(moment.seconds(), moment.nanos());
        time.ok_or(OutOfRange { target: "chrono::DateTime" })
    }
}

/// Converts exactly. A negative delta is an error, and so is one that is longer than 584 years.
impl TryFrom<TimeDelta> for Span {
    type Error = OutOfRange;

    fn try_from(delta: TimeDelta) -> Result<Span, OutOfRange> {
        let nanos = delta.to_std().ok().and_then(|duration| u64::try_from(duration.as_nanos()).ok());
        nanos.map(Span::from_nanos).ok_or(OutOfRange { target: "Span" })
    }
}

/// Converts exactly.
impl From<Span> for TimeDelta {
    fn from(span: Span) -> TimeDelta {
        // The longest span is a small part of the longest delta, so this never falls back.
        TimeDelta::from_std(span.into()).unwrap_or(TimeDelta::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str) {
        let moment = Moment::parse(text).unwrap();
        let time = DateTime::<Utc>::try_from(moment).unwrap();
        assert_eq!(
            (time.timestamp(), time.timestamp_subsec_nanos()),
            (moment.seconds(), moment.nanos()),
            "{text}"
        );
        assert_eq!(Moment::try_from(time), Ok(moment), "{text}, back");
    }

    #[test]
    fn instants_convert_both_ways() {
        check("1970-01-01T00:00:00Z");
        check("2026-04-22T13:00:00.000000001Z");
        check("1969-12-31T23:59:59.999999999Z");
        check("0000-01-01T00:00:00Z");
        check("-0001-01-01T00:00:00Z");
        check("+262142-12-31T23:59:59.999999999Z");
        check("-262143-01-01T00:00:00Z");
    }

    #[test]
    fn what_the_other_cannot_hold_is_refused() {
        for text in ["+262143-01-01T00:00:00Z", "-262144-12-31T23:59:59Z", "+999999999-12-31T23:59:59Z"] {
            let refused = DateTime::<Utc>::try_from(Moment::parse(text).unwrap()).unwrap_err();
            assert_eq!(refused.to_string(), "outside the range of chrono::DateTime", "{text}");
        }
        let leap_second = "2016-12-31T23:59:60.5Z".parse::<DateTime<Utc>>().unwrap();
        assert_eq!(Moment::try_from(leap_second), Err(OutOfRange::MOMENT));
        // All of chrono's instants lie in the calendar.
        assert!(Moment::try_from(DateTime::<Utc>::MAX_UTC).is_ok());
        assert!(Moment::try_from(DateTime::<Utc>::MIN_UTC).is_ok());
    }

    #[test]
    fn spans_convert_or_are_refused() {
        for (delta, nanos) in [
            (TimeDelta::zero(), Some(0)),
            (TimeDelta::nanoseconds(1), Some(1)),
            (TimeDelta::milliseconds(600_000), Some(600_000_000_000)),
            (TimeDelta::new(18_446_744_073, 709_551_615).unwrap(), Some(u64::MAX)),
            (TimeDelta::new(18_446_744_073, 709_551_616).unwrap(), None),
            (TimeDelta::MAX, None),
            (TimeDelta::nanoseconds(-1), None),
        ] {
            let span = Span::try_from(delta);
            assert_eq!(span, nanos.map(Span::from_nanos).ok_or(OutOfRange { target: "Span" }), "{delta}");
            if let Ok(span) = span {
                assert_eq!(TimeDelta::from(span), delta);
            }
        }
    }
}

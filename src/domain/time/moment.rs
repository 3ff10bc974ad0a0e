//! Instants, spans, and the clock readings that decisions take as an argument.
//!
//! [`Moment`] is wall-clock time, for slots and records; [`BootTime`] counts from the machine's start, suspended
//! time included, for volatile delays. Nothing here reads a clock. Invariant: arithmetic is checked, so a moment
//! is always a real instant of the proleptic calendar.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use crate::edn::{civil_from_days, days_from_civil};
use crate::limits;

const NANOS_PER_SECOND: u32 = 1_000_000_000;
const NANOS_PER_MILLI: u64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
/// Largest year of an instant, before and after year 0. Source: `java.time.Instant`.
const YEAR_MAX: i64 = 999_999_999;
/// The seconds of all these years, from the first of January of the first to the end of the last.
const CALENDAR: RangeInclusive<i64> = days_from_civil(-YEAR_MAX, 1, 1) * SECONDS_PER_DAY
    ..=days_from_civil(YEAR_MAX, 12, 31) * SECONDS_PER_DAY + SECONDS_PER_DAY - 1;

/// The first second of the year that has five digits, which not every notation can print.
const FIVE_DIGITS: i64 = days_from_civil(limits::YEAR_MAX.value.cast_signed() + 1, 1, 1) * SECONDS_PER_DAY;

/// An instant on the wall clock: seconds and nanoseconds since 1970-01-01T00:00:00Z.
///
/// The type is packed to 12 bytes, and stores one more than the nanoseconds so that
/// `Option<Moment>` takes no more room than `Moment`: a million pending schedules hold two million
/// of them.
// The order of the fields is the order of instants: comparison is derived.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(Rust, packed(4))]
pub struct Moment {
    seconds: i64,
    nanos_and_one: NonZeroU32,
}

/// A length of time, never negative, in nanoseconds: up to 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    nanos: u64,
}

/// Time since the machine's start, in nanoseconds, suspended time included. It never goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BootTime {
    nanos: u64,
}

/// One reading of both clocks, taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The wall clock: may be stepped, either way.
    pub wall: Moment,
    /// The boot clock: never steps back.
    pub boot: BootTime,
}

/// Why a text is not an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an ISO 8601 instant with seconds and an offset, such as 2026-04-22T13:00:00Z")]
pub struct MomentError;

impl Moment {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Moment = Moment { seconds: 0, nanos_and_one: NonZeroU32::MIN };

    /// Makes the instant this many seconds and nanoseconds (below 10^9) after 1970; `None` outside
    /// years ±999,999,999.
    pub fn new(seconds: i64, nanos: u32) -> Option<Moment> {
        let is_in_calendar = nanos < NANOS_PER_SECOND && CALENDAR.contains(&seconds);
        is_in_calendar.then_some(Moment { seconds, nanos_and_one: NonZeroU32::MIN.saturating_add(nanos) })
    }

    /// Returns whether the instant lies in no later year than `limits::YEAR_MAX`.
    pub(crate) fn is_within_years(self) -> bool {
        self.seconds() < FIVE_DIGITS
    }

    /// Returns the whole seconds since 1970, rounded down.
    pub const fn seconds(self) -> i64 {
        self.seconds
    }

    /// Returns the nanoseconds past the second, below 10^9.
    pub const fn nanos(self) -> u32 {
        self.nanos_and_one.get() - 1
    }

    /// Returns the instant as sentences and tools for models name it: to the second. Whole milliseconds stay, because somebody
    /// wrote them; finer digits come from a clock and tell a reader nothing.
    #[must_use]
    pub(crate) fn brief(self) -> Moment {
        if u64::from(self.nanos()).is_multiple_of(NANOS_PER_MILLI) {
            return self;
        }
        Moment { seconds: self.seconds, nanos_and_one: NonZeroU32::MIN }
    }

    /// Returns the instant `span` later; `None` if that is outside the calendar.
    pub fn checked_add(self, span: Span) -> Option<Moment> {
        let nanos = u64::from(self.nanos()) + span.nanos % u64::from(NANOS_PER_SECOND);
        let carry = nanos / u64::from(NANOS_PER_SECOND);
        let seconds = i64::try_from(span.nanos / u64::from(NANOS_PER_SECOND) + carry).ok()?;
        let nanos = u32::try_from(nanos % u64::from(NANOS_PER_SECOND)).ok()?;
        Moment::new(self.seconds.checked_add(seconds)?, nanos)
    }

    /// Returns the instant `span` earlier; `None` if that is outside the calendar.
    pub fn checked_sub(self, span: Span) -> Option<Moment> {
        let second = u64::from(NANOS_PER_SECOND);
        let whole = i64::try_from(span.nanos / second).ok()?;
        let part = u32::try_from(span.nanos % second).ok()?;
        let (borrow, nanos) = if part > self.nanos() {
            (1, self.nanos() + NANOS_PER_SECOND - part)
        } else {
            (0, self.nanos() - part)
        };
        Moment::new(self.seconds.checked_sub(whole)?.checked_sub(borrow)?, nanos)
    }

    /// Returns the time from `earlier` until this instant: zero if it is not later, at most 584
    /// years.
    pub fn since(self, earlier: Moment) -> Span {
        Span { nanos: u64::try_from(self.nanos_since(earlier)).unwrap_or(u64::MAX) }
    }

    /// Returns the whole milliseconds from `earlier` until this instant, rounded down: zero if it
    /// is not later. Unlike [`Moment::since`], it covers the whole calendar.
    pub fn millis_since(self, earlier: Moment) -> u64 {
        u64::try_from(self.nanos_since(earlier) / u128::from(NANOS_PER_MILLI)).unwrap_or(u64::MAX)
    }

    fn nanos_since(self, earlier: Moment) -> u128 {
        // 128 bits, because the calendar in nanoseconds is longer than 64 bits can count.
        let seconds = i128::from(self.seconds) - i128::from(earlier.seconds);
        let nanos = i128::from(self.nanos()) - i128::from(earlier.nanos());
        u128::try_from(seconds * i128::from(NANOS_PER_SECOND) + nanos).unwrap_or(0)
    }

    /// Parses an ISO instant as the JDK 17 does: seconds are required; the offset is `Z` or
    /// `±hh:mm`; a fraction has up to nine digits; `24:00:00` is the next midnight; `23:59:60`
    /// becomes :59; years of more than four digits need a sign.
    ///
    /// # Errors
    /// [`MomentError`] for anything else, and for instants outside years ±999,999,999.
    ///
    /// ```
    /// use reveille::domain::Moment;
    /// assert_eq!(Moment::parse("2026-04-22T15:00:00+02:00")?.to_string(), "2026-04-22T13:00:00Z");
    /// assert!(Moment::parse("2026-04-22").is_err());
    /// # Ok::<(), reveille::domain::MomentError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Moment, MomentError> {
        parse::instant(text.as_bytes()).ok_or(MomentError)
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span { nanos: 0 };

    /// Makes a span of this many milliseconds, at most 584 years.
    pub const fn from_millis(millis: u64) -> Span {
        Span { nanos: millis.saturating_mul(NANOS_PER_MILLI) }
    }

    /// Makes a span of this many nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Span {
        Span { nanos }
    }

    /// The longest one: some 584 years.
    pub const MAX: Span = Span { nanos: u64::MAX };

    /// Returns the whole milliseconds, rounded down.
    pub const fn millis(self) -> u64 {
        self.nanos / NANOS_PER_MILLI
    }

    /// Returns the nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.nanos
    }
}

impl BootTime {
    /// The machine's start.
    pub const ZERO: BootTime = BootTime { nanos: 0 };

    /// Makes the boot time this many nanoseconds after the machine's start.
    pub const fn from_nanos(nanos: u64) -> BootTime {
        BootTime { nanos }
    }

    /// Returns the nanoseconds since the machine's start.
    pub const fn nanos(self) -> u64 {
        self.nanos
    }

    /// Returns the boot time `span` later; it saturates at the end of the range, after 584 years.
    #[must_use]
    pub const fn after(self, span: Span) -> BootTime {
        // Saturation is harmless: no machine is up for 584 years.
        BootTime { nanos: self.nanos.saturating_add(span.nanos) }
    }

    /// Returns the boot time `span` earlier, and no earlier than the machine's start.
    #[must_use]
    pub(crate) const fn before(self, span: Span) -> BootTime {
        BootTime { nanos: self.nanos.saturating_sub(span.nanos) }
    }

    /// Returns the time from `earlier` until this boot time; zero if it is not later.
    pub const fn since(self, earlier: BootTime) -> Span {
        Span { nanos: self.nanos.saturating_sub(earlier.nanos) }
    }
}

impl fmt::Display for Moment {
    /// Prints ISO 8601 in UTC, with 0, 3, 6 or 9 digits of a fraction, as `java.time.Instant` does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = (self.seconds, self.nanos());
        let (year, month, day) = civil_from_days(seconds.div_euclid(SECONDS_PER_DAY));
        let second = seconds.rem_euclid(SECONDS_PER_DAY);
        // The digits are put together here: each formatting step costs as much as all of them, and
        // a log is full of instants.
        let mut text = *b"-00-00T00:00:00.000000000Z";
        let parts = [month, day, second / 3_600, second / 60 % 60, second % 60, i64::from(nanos)];
        for (part, (end, digits)) in
            parts.into_iter().zip([(3, 2), (6, 2), (9, 2), (12, 2), (15, 2), (25, 9)])
        {
            put_digits(&mut text[end - digits..end], u32::try_from(part).unwrap_or(0));
        }
        let end = match nanos {
            0 => 15,
            n if n % 1_000_000 == 0 => 19,
            n if n % 1_000 == 0 => 22,
            _ => 25,
        };
        text[end] = b'Z';
        // ISO 8601 demands a sign for a year of more than four digits.
        if year > 9_999 {
            write!(f, "+{year}")?;
        } else if year < 0 {
            write!(f, "-{:04}", year.unsigned_abs())?;
        } else {
            let mut digits = [0; 4];
            put_digits(&mut digits, u32::try_from(year).unwrap_or(0));
            f.write_str(std::str::from_utf8(&digits).unwrap_or_default())?;
        }
        f.write_str(std::str::from_utf8(&text[..=end]).unwrap_or_default())
    }
}

/// Writes the last digits of a number, as many as there is room for.
fn put_digits(room: &mut [u8], mut number: u32) {
    for digit in room.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The parser of ISO instants, one function per part, all on bytes.
mod parse {
    use super::{Moment, SECONDS_PER_DAY, YEAR_MAX, days_from_civil, days_in_month};

    pub(in crate::domain) fn instant(text: &[u8]) -> Option<Moment> {
        let (year, rest) = year(text)?;
        let (month, rest) = two(strip(rest, b"-")?)?;
        let (day, rest) = two(strip(rest, b"-")?)?;
        // In lower case as well, as in the JDK.
        let (hour, rest) = two(strip(rest, b"Tt")?)?;
        let (minute, rest) = two(strip(rest, b":")?)?;
        let (second, rest) = two(strip(rest, b":")?)?;
        let (nanos, rest) = fraction(rest)?;
        let offset = offset(rest)?;
        if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month).into() {
            return None;
        }
        // As the JDK: midnight at the end of a day is accepted only if it is exact.
        let (hour, day_carry) = match (hour, minute, second, nanos) {
            (24, 0, 0, 0) => (0, 1),
            (24.., ..) => return None,
            _ => (hour, 0),
        };
        // A leap second is accepted at the end of a day only, and counts as the second before it.
        let second = if (hour, minute, second) == (23, 59, 60) { 59 } else { second };
        if minute > 59 || second > 59 {
            return None;
        }
        let days = days_from_civil(year, month, day) + day_carry;
        Moment::new(days * SECONDS_PER_DAY + hour * 3_600 + minute * 60 + second - offset, nanos)
    }

    fn strip<'a>(text: &'a [u8], any_of: &[u8]) -> Option<&'a [u8]> {
        let (first, rest) = text.split_first()?;
        any_of.contains(first).then_some(rest)
    }

    /// Parses leading digits, and returns the number and how many digits there were.
    fn digits(text: &[u8]) -> (i64, usize) {
        // Ten digits are more than any part may have, so the caller still sees that there are too
        // many.
        let (mut number, mut count) = (0, 0);
        for byte in text.iter().take(10).take_while(|byte| byte.is_ascii_digit()) {
            number = number * 10 + i64::from(byte - b'0');
            count += 1;
        }
        (number, count)
    }

    fn two(text: &[u8]) -> Option<(i64, &[u8])> {
        let [tens @ b'0'..=b'9', ones @ b'0'..=b'9', rest @ ..] = text else { return None };
        Some((i64::from(tens - b'0') * 10 + i64::from(ones - b'0'), rest))
    }

    fn year(text: &[u8]) -> Option<(i64, &[u8])> {
        let (sign, rest) = match text.first()? {
            b'+' => (1, text.get(1..)?),
            b'-' => (-1, text.get(1..)?),
            _ => (0, text),
        };
        let (number, count) = digits(rest);
        // Four digits stand alone or behind a minus; more need a sign, as the JDK demands.
        let allowed = match sign {
            0 => count == 4,
            1 => count > 4,
            _ => count >= 4,
        };
        let year = if sign < 0 { -number } else { number };
        // `-0000` is no year: year 0 has one spelling, as in the JDK.
        (allowed && number <= YEAR_MAX && (sign >= 0 || number != 0)).then_some((year, rest.get(count..)?))
    }

    fn fraction(text: &[u8]) -> Option<(u32, &[u8])> {
        let Some(rest) = strip(text, b".") else {
            return Some((0, text));
        };
        let (number, count) = digits(rest);
        // No digit at all is fine, as for the JDK. Digits beyond the ninth would be lost, so they are refused.
        if count > 9 {
            return None;
        }
        let scale = 10_i64.pow(9 - u32::try_from(count).ok()?);
        Some((u32::try_from(number * scale).ok()?, rest.get(count..)?))
    }

    /// Parses an offset, as seconds east of UTC.
    fn offset(text: &[u8]) -> Option<i64> {
        let sign = match text {
            b"Z" | b"z" => return Some(0),
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return None,
        };
        let (hours, rest) = two(text.get(1..)?)?;
        let (minutes, rest) = two(strip(rest, b":")?)?;
        // 18 hours are the limit of the JDK's offsets.
        let inside = minutes <= 59 && hours * 60 + minutes <= 18 * 60;
        (rest.is_empty() && inside).then_some(sign * (hours * 3_600 + minutes * 60))
    }
}

/// The number of days of a month, from 1 to 12.
pub(crate) fn days_in_month(year: i64, month: i64) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let answer = Moment::parse(text).map_or("refused".into(), |moment| moment.to_string());
        assert_eq!(answer, expected, "{text}");
    }

    /// Source: spec of psi, §3, observed on JDK 17.
    #[test]
    fn instants_read_as_the_jdk_reads_them() {
        check("2026-04-22T13:00:00Z", "2026-04-22T13:00:00Z");
        check("2026-04-22t13:00:00z", "2026-04-22T13:00:00Z");
        check("2026-04-22T13:00:00.5Z", "2026-04-22T13:00:00.500Z");
        check("2026-04-22T13:00:00.123456Z", "2026-04-22T13:00:00.123456Z");
        check("2026-04-22T13:00:00.123456789Z", "2026-04-22T13:00:00.123456789Z");
        check("2026-04-22T13:00:00.1234567890Z", "refused");
        check("2026-04-22T15:00:00+02:00", "2026-04-22T13:00:00Z");
        check("2026-04-22T24:00:00Z", "2026-04-23T00:00:00Z");
        check("2026-04-22T24:00:01Z", "refused");
        check("2026-04-22T23:59:60Z", "2026-04-22T23:59:59Z");
        check("2026-04-22T12:59:60Z", "refused");
        check("+12026-04-22T13:00:00Z", "+12026-04-22T13:00:00Z");
        check("+2026-04-22T13:00:00Z", "refused");
        check("-0001-04-22T13:00:00Z", "-0001-04-22T13:00:00Z");
        check("-0000-04-22T13:00:00Z", "refused");
        check("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z");
        check("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z");
        check("2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z");
        check("2026-02-29T00:00:00Z", "refused");
        for text in [
            "",
            "2026-04-22",
            "2026-04-22T13:00Z",
            "2026-04-22T13:00:00",
            "2026-04-22T13:00:00+0200",
            "2026-04-22T13:00:00+02",
            "2026-04-22T13:00:00Z[UTC]",
            "2026-04-22 13:00:00Z",
            " 2026-04-22T13:00:00Z",
            "2026-04-22T13:00:00+18:01",
            "2026-13-01T00:00:00Z",
            "26-04-22T13:00:00Z",
            "+9999999999-01-01T00:00:00Z",
        ] {
            check(text, "refused");
        }
    }

    #[test]
    fn arithmetic_is_checked() {
        let end = Moment::parse("+999999999-12-31T23:59:59Z").unwrap();
        assert_eq!(end.checked_add(Span::from_millis(1_000)), None);
        assert_eq!(Moment::new(i64::MAX, 0), None);
        let half = Moment::new(-1, 500_000_000).unwrap();
        assert_eq!(half.checked_add(Span::from_millis(600)), Moment::new(0, 100_000_000));
        assert_eq!(Moment::EPOCH.checked_sub(Span::from_millis(500)), Some(half));
        assert_eq!(Moment::EPOCH.since(half), Span::from_millis(500));
        assert_eq!(half.since(Moment::EPOCH), Span::ZERO);
        assert_eq!(end.since(half), Span::from_nanos(u64::MAX));
    }
}

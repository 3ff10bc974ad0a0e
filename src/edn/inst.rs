//! Instants of `#inst`, and the conversion between days and civil dates that they need.
//!
//! Lives here: the point in time, its text form, and the two conversions between days and civil
//! dates. Does not live here: time zones, clocks, spans.
//!
//! Invariant: an instant lies in the years 0000 to 9999, so that it can always be printed
//! and read back. The calendar is the proleptic Gregorian one; Clojure's default reader
//! goes through Java's Julian calendar before October 1582 and cuts to milliseconds.

use std::fmt;

/// A point in time, in nanoseconds since 1970-01-01T00:00:00Z.
///
/// ```
/// use reveille::edn::Inst;
/// let inst = Inst::parse("2026-01-01T01:00:00+01:00").unwrap();
/// assert_eq!(inst.seconds(), 1_767_225_600);
/// assert_eq!(inst.to_string(), "2026-01-01T00:00:00.000-00:00");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inst {
    seconds: i64,
    nanos: u32,
}

impl Inst {
    /// Makes an instant of seconds since 1970, rounded down, and the nanoseconds on top;
    /// returns nothing outside the years 0000 to 9999 or for a second or more of nanoseconds.
    pub fn new(seconds: i64, nanos: u32) -> Option<Self> {
        let is_valid = (SECONDS_MIN..=SECONDS_MAX).contains(&seconds) && nanos < NANOS_PER_SECOND;
        is_valid.then_some(Self { seconds, nanos })
    }

    /// Parses the text of an `#inst`: a date of at least a year, which may end after any part, with
    /// an optional offset; returns nothing for any other text.
    ///
    /// Source: `clojure.instant/parse-timestamp`, including the second 60 at minute 59.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = Digits(text.as_bytes());
        // Absent parts default to the first of January at midnight.
        let mut parts = [0, 1, 1, 0, 0, 0];
        parts[0] = rest.number(4)?;
        let separators = [b'-', b'-', b'T', b':', b':'];
        let mut count = 1;
        for separator in separators {
            // A `-` may also begin the offset, `-05:00` after any part.
            if !rest.begins(separator) || (separator == b'-' && rest.is_offset()) {
                break;
            }
            rest.skip();
            parts[count] = rest.number(2)?;
            count += 1;
        }
        let nanos = if count == parts.len() { rest.fraction()? } else { 0 };
        let offset_seconds = rest.offset()?;
        // Anything behind the offset makes it another text.
        rest.0.is_empty().then_some(())?;
        let seconds = seconds_of(parts)?;
        // The years are checked here, because the offset may lead out of those that can be printed.
        Self::new(seconds - offset_seconds, nanos)
    }

    /// Returns the whole seconds since 1970, rounded down.
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Returns the nanoseconds after [`Inst::seconds`], below 1 000 000 000.
    pub fn nanos(self) -> u32 {
        self.nanos
    }
}

/// Whether an instant of whole seconds is written with a fraction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fraction {
    /// With a fraction, as `#inst` is written.
    Always,
    /// Without a fraction, as `java.time.Instant` prints it.
    AsNeeded,
}

/// Counts the days from 1970-01-01 to a civil date. The month is 1 to 12 and the day in
/// its month, or the result is of another date; years beyond ±1 000 000 000 000 overflow.
///
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
pub(crate) const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    // Months from March have 31, 30, 31, 30, 31 days, twice and a bit: 153 days in five months.
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970
}

/// Returns year, month (1 to 12) and day (1 to 31) of the date that is this many days
/// after 1970-01-01.
///
/// Source: as [`days_from_civil`].
pub(crate) fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let era = days.div_euclid(DAYS_PER_ERA);
    let day_of_era = days.rem_euclid(DAYS_PER_ERA);
    // Leap days are taken off first: one in 4 years, none in 100, one in 400.
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

impl Inst {
    /// Appends date and time without an offset, with 0 (if allowed), 3, 6 or 9 digits of a
    /// fraction, as few as suffice.
    ///
    /// The digits are written directly, because answers are full of instants, and the formatting
    /// machinery takes five times as long.
    pub(crate) fn push(self, out: &mut String, fraction: Fraction) {
        // Writing to a string cannot fail.
        let _ = self.write(out, fraction);
    }

    /// Writes date and time, and Clojure's spelling of UTC, so that both programs print one instant alike.
    pub(super) fn print(self, out: &mut impl fmt::Write) -> fmt::Result {
        self.write(out, Fraction::Always)?;
        out.write_str("-00:00")
    }

    /// Writes what [`push`](Inst::push) appends.
    fn write(self, out: &mut impl fmt::Write, fraction: Fraction) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.seconds.div_euclid(SECONDS_PER_DAY));
        // In 32 bits, because a division of 64 bits takes twice as long.
        // The years 0000 to 9999 fit, so the conversion never falls back to 0.
        let [year, month, day, second] = [year, month, day, self.seconds.rem_euclid(SECONDS_PER_DAY)]
            .map(|number| u32::try_from(number).unwrap_or(0));
        let mut text = *b"0000-00-00T00:00:00.000000000";
        for (at, number) in [
            (0, year / 100),
            (2, year),
            (5, month),
            (8, day),
            (11, second / 3600),
            (14, second / 60 % 60),
            (17, second % 60),
            (20, self.nanos / 10_000_000),
            (22, self.nanos / 100_000),
            (24, self.nanos / 1000),
            (26, self.nanos / 10),
            // Nine digits are four pairs and one digit: the last pair overlaps the one before it.
            (27, self.nanos),
        ] {
            [text[at], text[at + 1]] = pair(number);
        }
        let end = match self.nanos {
            // Without a fraction there is no point either.
            0 if fraction == Fraction::AsNeeded => 19,
            nanos if nanos % 1_000_000 == 0 => 23,
            nanos if nanos % 1000 == 0 => 26,
            _ => 29,
        };
        // Digits and signs are always UTF-8.
        out.write_str(std::str::from_utf8(&text[..end]).unwrap_or_default())
    }
}

/// Returns the last two digits of a number.
fn pair(number: u32) -> [u8; 2] {
    PAIRS[number as usize % PAIRS.len()]
}

/// The pairs of digits from 00 to 99.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 1;
    while number < pairs.len() {
        let [tens, ones] = pairs[number - 1];
        pairs[number] = if ones == b'9' { [tens + 1, b'0'] } else { [tens, ones + 1] };
        number += 1;
    }
    pairs
};

impl fmt::Display for Inst {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(out)
    }
}

impl fmt::Debug for Inst {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// The unread part of a timestamp.
struct Digits<'a>(&'a [u8]);

impl Digits<'_> {
    fn begins(&self, byte: u8) -> bool {
        self.0.first() == Some(&byte)
    }

    fn skip(&mut self) {
        self.0 = self.0.get(1..).unwrap_or_default();
    }

    /// Reads exactly `count` digits.
    fn number(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let mut number = 0;
        for digit in digits {
            number = number * 10 + i64::from(digit.is_ascii_digit().then(|| digit - b'0')?);
        }
        self.0 = rest;
        Some(number)
    }

    /// Reads `.` and any number of digits, of which the first nine count.
    fn fraction(&mut self) -> Option<u32> {
        if !self.begins(b'.') {
            return Some(0);
        }
        self.skip();
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return None;
        }
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        // Digits that are missing count as zeros, and those behind the ninth are dropped.
        let padded = digits.iter().copied().chain(std::iter::repeat(b'0')).take(9);
        Some(padded.fold(0, |nanos, digit| nanos * 10 + u32::from(digit - b'0')))
    }

    /// Returns whether what follows is a whole offset, `±hh:mm`.
    fn is_offset(&self) -> bool {
        self.0.len() == 6 && self.0[3] == b':'
    }

    /// Reads `Z`, an offset or nothing, as seconds east of UTC.
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.0.first() {
            None => return Some(0),
            // Upper case only, as in Clojure's grammar.
            Some(b'Z') => {
                self.skip();
                return Some(0);
            }
            Some(b'+') => 1,
            Some(b'-') => -1,
            Some(_) => return None,
        };
        self.skip();
        let hours = self.number(2).filter(|hours| *hours <= 23)?;
        self.begins(b':').then(|| self.skip())?;
        let minutes = self.number(2).filter(|minutes| *minutes <= 59)?;
        Some(sign * (hours * 3600 + minutes * 60))
    }
}

/// Counts the seconds from 1970 to year, month, day, hour, minute and second, if they are
/// a date and a time of day.
fn seconds_of([year, month, day, hour, minute, second]: [i64; 6]) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_in_month = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    // Clojure checks a leap second by its minute alone. It counts as the second that follows it.
    let second_max = if minute == 59 { 60 } else { 59 };
    let is_valid = (1..=days_in_month).contains(&day) && hour <= 23 && minute <= 59 && second <= second_max;
    is_valid.then(|| days_from_civil(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second)
}

const SECONDS_PER_DAY: i64 = 86_400;
const NANOS_PER_SECOND: u32 = 1_000_000_000;
/// Days in the 400 years after which the Gregorian calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;
/// 0000-01-01T00:00:00Z.
const SECONDS_MIN: i64 = -62_167_219_200;
/// 9999-12-31T23:59:59Z.
const SECONDS_MAX: i64 = 253_402_300_799;

//! Instants and spans of time.
//!
//! They are the checker's own, so that it depends on nothing of a scheduler that it judges; jiff parses and prints them.
//! Nothing here reads a clock. Invariant: arithmetic is checked, so a moment always lies in the years -9999 to 9999.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const NANOS_PER_MILLI: u64 = 1_000_000;

/// An instant on the wall clock, to the nanosecond, in the years -9999 to 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(Timestamp);

/// A length of time, never negative, in nanoseconds: up to 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    nanos: u64,
}

/// Why a text is not an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an ISO 8601 instant with an offset, such as 2026-04-22T13:00:00Z")]
pub struct MomentError;

impl Moment {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Moment = Moment(Timestamp::UNIX_EPOCH);

    /// Makes the instant this many seconds and nanoseconds (below 10^9) after 1970; `None` outside the years -9999 to 9999.
    pub fn new(seconds: i64, nanos: u32) -> Option<Moment> {
        let nanos = Some(i128::from(nanos)).filter(|nanos| *nanos < NANOS_PER_SECOND)?;
        let instant = Timestamp::from_nanosecond(i128::from(seconds) * NANOS_PER_SECOND + nanos);
        instant.ok().map(Moment)
    }

    /// Returns the whole seconds since 1970, rounded down.
    pub fn seconds(self) -> i64 {
        let seconds = self.0.as_nanosecond().div_euclid(NANOS_PER_SECOND);
        i64::try_from(seconds).unwrap_or_default()
    }

    /// Returns the nanoseconds past the second, below 10^9.
    pub fn nanos(self) -> u32 {
        let nanos = self.0.as_nanosecond().rem_euclid(NANOS_PER_SECOND);
        u32::try_from(nanos).unwrap_or_default()
    }

    /// Returns the instant `span` later; `None` after the year 9999.
    pub fn checked_add(self, span: Span) -> Option<Moment> {
        self.0.checked_add(Duration::from_nanos(span.nanos)).ok().map(Moment)
    }

    /// Returns the instant `span` earlier; `None` before the year -9999.
    pub fn checked_sub(self, span: Span) -> Option<Moment> {
        self.0.checked_sub(Duration::from_nanos(span.nanos)).ok().map(Moment)
    }

    /// Returns the time from `earlier` until this instant: zero if it is not later, at most 584 years.
    pub fn since(self, earlier: Moment) -> Span {
        let nanos = self.0.as_nanosecond() - earlier.0.as_nanosecond();
        Span { nanos: u64::try_from(nanos.max(0)).unwrap_or(u64::MAX) }
    }

    /// Parses an ISO 8601 instant with an offset, as in RFC 3339.
    ///
    /// # Errors
    /// [`MomentError`] for anything else, and for instants outside the years -9999 to 9999.
    ///
    /// ```
    /// use reveille_checker::Moment;
    /// assert_eq!(Moment::parse("2026-04-22T15:00:00+02:00")?.to_string(), "2026-04-22T13:00:00Z");
    /// assert!(Moment::parse("2026-04-22").is_err());
    /// # Ok::<(), reveille_checker::MomentError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Moment, MomentError> {
        text.parse().map(Moment).map_err(|_| MomentError)
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

    /// Returns the whole milliseconds, rounded down.
    pub const fn millis(self) -> u64 {
        self.nanos / NANOS_PER_MILLI
    }

    /// Returns the nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.nanos
    }
}

impl fmt::Display for Moment {
    /// Prints RFC 3339 in UTC, with 0, 3, 6 or 9 digits of a fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = match self.nanos() {
            0 => 0,
            nanos if nanos % 1_000_000 == 0 => 3,
            nanos if nanos % 1_000 == 0 => 6,
            _ => 9,
        };
        write!(f, "{:.digits$}", self.0)
    }
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

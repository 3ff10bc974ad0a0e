//! A cron expression, understood: which minutes, hours and days it names.
//!
//! What lives elsewhere: its grammar and its slots (`calendar::cron`). Invariant: the only maker is the parser, so
//! every field names something and some date of the calendar matches.

use std::fmt;

/// A cron expression of five fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    text: Box<str>,
    fields: CronFields,
}

/// What the five fields name, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CronFields {
    /// Bits 0 to 59.
    pub minutes: u64,
    /// Bits 0 to 23.
    pub hours: u32,
    /// The days, by either field.
    pub days: CronDays,
    /// Bits 1 to 12.
    pub months: u16,
    /// Whether there are several slots in an hour or slots in every hour, or minutes or hours are named by `*` or a
    /// step: such rules run through both passes of an hour that the clock repeats, the others only through the first.
    pub repeats: bool,
}

/// Which days of a month match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CronDays {
    /// Bits 1 to 31 of the day-of-month field.
    pub of_month: u32,
    /// `L` in the day-of-month field: the last day of the month.
    pub last: bool,
    /// Whether the day-of-month field is not `*`.
    pub of_month_restricts: bool,
    /// Bits 0 (Sunday) to 6 of the day-of-week field.
    pub of_week: u8,
    /// `5#2` in the day-of-week field: for the first to fifth of the month, bits of weekdays.
    pub nth: [u8; 5],
    /// `5L` or `5#L` in the day-of-week field: bits of weekdays whose last in the month matches.
    pub last_of_week: u8,
    /// Whether the day-of-week field is not `*`. If both fields restrict, a day needs to match only one of them.
    pub of_week_restricts: bool,
}

impl Cron {
    /// What the parser has checked, and its canonical text.
    pub(crate) fn new(text: Box<str>, fields: CronFields) -> Cron {
        Cron { text, fields }
    }

    /// The canonical text: five fields, one space between, names and numbers as they were given, names in capitals.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What it names.
    pub const fn fields(&self) -> &CronFields {
        &self.fields
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

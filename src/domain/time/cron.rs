//! A parsed cron expression: which minutes, hours and days it matches.
//!
//! What lives elsewhere: the grammar (`calendar::cron`) and the slots (`calendar::slots`). Invariant: only the parser
//! makes these values, so every field matches something, and some date of the calendar matches.

use std::fmt;

/// A parsed cron expression of five fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    // Stored beside the fields, because the fields do not tell how the expression was written.
    text: Box<str>,
    fields: CronFields,
}

/// What the five fields match, as bit sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CronFields {
    /// Minutes: bits 0 to 59.
    pub minutes: u64,
    /// Hours: bits 0 to 23.
    pub hours: u32,
    /// Days, as matched by the day-of-month and day-of-week fields.
    pub days: CronDays,
    /// Months: bits 1 to 12.
    pub months: u16,
    /// Whether the rule recurs within a day by intervals: there are several slots in an hour or
    /// slots in every hour, or minutes or hours are given by `*` or a step. When the clock repeats
    /// an hour, such a rule runs in both passes, any other rule only in the first.
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
    /// Makes a cron value of fields that the parser has checked, and their canonical text.
    pub(crate) fn new(text: Box<str>, fields: CronFields) -> Cron {
        Cron { text, fields }
    }

    /// Returns the canonical text: five fields with one space between, names and numbers as they
    /// were given, names in capitals.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns what the fields match.
    pub const fn fields(&self) -> &CronFields {
        &self.fields
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

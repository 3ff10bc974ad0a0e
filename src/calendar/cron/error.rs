//! Errors of cron expressions, each with a code and a hint.

use crate::domain::names;
use crate::limits;

names! {
    /// One of the five fields of a cron expression.
    Field {
        /// The first field.
        Minute = "minute",
        /// The second field.
        Hour = "hour",
        /// The third field.
        DayOfMonth = "day-of-month",
        /// The fourth field.
        Month = "month",
        /// The fifth field.
        DayOfWeek = "day-of-week",
    }
}

/// Why a text is not a cron expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// The text is longer than `limits::CRON_BYTES`.
    #[error("a cron expression has at most {} bytes", limits::CRON_BYTES.value)]
    TooLong,
    /// The text does not have five fields.
    #[error("a cron expression has exactly 5 fields, not {found}")]
    FieldCount {
        /// Number of fields that were found.
        found: usize,
    },
    /// `@reboot`, which names no instant.
    #[error("@reboot names no time")]
    Reboot,
    /// An `@` word that is not an alias.
    #[error("unknown alias: {alias}")]
    UnknownAlias {
        /// The unknown alias.
        alias: Box<str>,
    },
    /// An item is empty: there is nothing between two commas.
    #[error("an empty item in {}: {text:?}", field.name())]
    EmptyItem {
        /// The field at fault.
        field: Field,
        /// The text of the field.
        text: Box<str>,
    },
    /// An item is not written as an item can be.
    #[error("malformed item in {}: {item:?}", field.name())]
    Malformed {
        /// The field at fault.
        field: Field,
        /// The item that was given.
        item: Box<str>,
    },
    /// A number is outside the range of its field.
    #[error("{value} is no {}: {min} to {max}", field.name())]
    OutOfRange {
        /// The field at fault.
        field: Field,
        /// The number that was given.
        value: Box<str>,
        /// The smallest valid value.
        min: u8,
        /// The largest valid value.
        max: u8,
    },
    /// A word is not a name in its field.
    #[error("unknown name in {}: {name:?}", field.name())]
    UnknownName {
        /// The field at fault.
        field: Field,
        /// The word that was given.
        name: Box<str>,
    },
    /// A step is zero, or so long that it reaches no second value.
    #[error("a step of {step} in {}: 1 to {max} are possible here", field.name())]
    Step {
        /// The field at fault.
        field: Field,
        /// The step that was given.
        step: Box<str>,
        /// The longest step that reaches a second value.
        max: u8,
    },
    /// An item is valid in another cron dialect, but not in this one.
    #[error("not supported in {}: {item:?}", field.name())]
    Unsupported {
        /// The field at fault.
        field: Field,
        /// The item that was given.
        item: Box<str>,
    },
    /// No date matches, such as for 30 February.
    #[error("no date ever matches {text:?}")]
    Impossible {
        /// The expression in its canonical form.
        text: Box<str>,
    },
}

impl CronError {
    /// Returns the error's code, in kebab case.
    pub const fn code(&self) -> &'static str {
        match self {
            CronError::TooLong => "cron-too-long",
            CronError::FieldCount { .. } => "cron-field-count",
            CronError::Reboot => "cron-reboot",
            CronError::UnknownAlias { .. } => "cron-unknown-alias",
            CronError::EmptyItem { .. } => "cron-empty-item",
            CronError::Malformed { .. } => "cron-malformed",
            CronError::OutOfRange { .. } => "cron-out-of-range",
            CronError::UnknownName { .. } => "cron-unknown-name",
            CronError::Step { .. } => "cron-step",
            CronError::Unsupported { .. } => "cron-unsupported",
            CronError::Impossible { .. } => "cron-impossible",
        }
    }

    /// Returns what the caller can do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            CronError::TooLong => "use ranges and steps instead of long lists",
            CronError::FieldCount { found: 6 | 7 } => {
                "write minute hour day-of-month month day-of-week: there are no seconds and no years"
            }
            CronError::FieldCount { .. } => {
                "write minute hour day-of-month month day-of-week, such as 0 9 * * MON-FRI"
            }
            CronError::Reboot => "give a time: the scheduler does not start with the machine",
            CronError::UnknownAlias { .. } => {
                "there are @hourly @daily @midnight @weekly @monthly @yearly @annually, in lower case"
            }
            CronError::EmptyItem { .. } => "remove the comma, or put a value behind it",
            CronError::Malformed { .. } => {
                "an item is *, a value, a range such as 1-5, and a step such as */15"
            }
            CronError::OutOfRange { .. } => "use a value that the field has",
            CronError::UnknownName { field: Field::Month, .. } => "months are 1 to 12 or JAN to DEC",
            CronError::UnknownName { field: Field::DayOfWeek, .. } => {
                "days of the week are 0 to 7 or SUN to SAT"
            }
            CronError::UnknownName { .. } => "this field has numbers only",
            CronError::Step { .. } => {
                "choose a step that reaches a second value, or give the one value alone"
            }
            CronError::Unsupported { .. } => {
                "give the value itself: W, R, H, ? outside the days, L as a day of the week are not supported"
            }
            CronError::Impossible { .. } => "choose a day that one of the months has",
        }
    }
}

//! Why a text is no cron expression.

use crate::domain::names;
use crate::limits;

names! {
    /// One of the five fields.
    Field {
        /// The first.
        Minute = "minute",
        /// The second.
        Hour = "hour",
        /// The third.
        DayOfMonth = "day-of-month",
        /// The fourth.
        Month = "month",
        /// The fifth.
        DayOfWeek = "day-of-week",
    }
}

/// Why a text is no cron expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// Longer than `limits::CRON_BYTES`.
    #[error("a cron expression has at most {} bytes", limits::CRON_BYTES.value)]
    TooLong,
    /// Not five fields.
    #[error("a cron expression has exactly 5 fields, not {found}")]
    FieldCount {
        /// How many there are.
        found: usize,
    },
    /// `@reboot`: there is no instant in it.
    #[error("@reboot names no time")]
    Reboot,
    /// An `@` word that is none of the aliases.
    #[error("unknown alias: {alias}")]
    UnknownAlias {
        /// What was given.
        alias: Box<str>,
    },
    /// Nothing between two commas.
    #[error("an empty item in {}: {text:?}", field.name())]
    EmptyItem {
        /// Where.
        field: Field,
        /// The field's text.
        text: Box<str>,
    },
    /// Not written as an item can be.
    #[error("malformed item in {}: {item:?}", field.name())]
    Malformed {
        /// Where.
        field: Field,
        /// What was given.
        item: Box<str>,
    },
    /// A number that the field does not have.
    #[error("{value} is not a {}: {min} to {max}", field.name())]
    OutOfRange {
        /// Where.
        field: Field,
        /// What was given.
        value: Box<str>,
        /// The least.
        min: u8,
        /// The greatest.
        max: u8,
    },
    /// A word that the field does not have.
    #[error("unknown name in {}: {name:?}", field.name())]
    UnknownName {
        /// Where.
        field: Field,
        /// What was given.
        name: Box<str>,
    },
    /// A step of zero, or one that leaves its range at once.
    #[error("a step of {step} in {}: 1 to {max} are possible here", field.name())]
    Step {
        /// Where.
        field: Field,
        /// What was given.
        step: Box<str>,
        /// The longest step that reaches a second value.
        max: u8,
    },
    /// Known from other dialects, and not part of this one.
    #[error("not supported in {}: {item:?}", field.name())]
    Unsupported {
        /// Where.
        field: Field,
        /// What was given.
        item: Box<str>,
    },
    /// No date matches, such as 30 February.
    #[error("no date ever matches {text:?}")]
    Impossible {
        /// The expression.
        text: Box<str>,
    },
}

impl CronError {
    /// A name for it, in kebab case.
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

    /// What the caller can do about it.
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

//! Errors of time phrases, each with a code and a hint.

use crate::calendar::{CronError, ZoneFault};
use crate::domain::{Moment, TimeOfDay, names};
use crate::limits;

names! {
    /// The kind of text that a phrase lacks.
    Part {
        /// A duration: `5 minutes`.
        Duration = "a length of time, such as 5 minutes",
        /// A time of day: `9am`.
        Time = "a time of day, such as 9:00",
        /// A day: `monday`.
        Day = "a day of the week, such as monday",
        /// A day of a month: `3 march`.
        Date = "a day of a month, such as the 1st or 3 march",
        /// The words that say in which months: `of every month`.
        Month = "which months, such as of every month",
        /// An instant: `2026-04-22T13:00:00Z`.
        Instant = "an instant, such as 2026-04-22T13:00:00Z",
    }
}

/// Why a phrase was not understood, or not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PhraseError {
    /// The phrase is blank.
    #[error("nothing says when")]
    Empty,
    /// The phrase is longer than `limits::PHRASE_BYTES`.
    #[error("a phrase has at most {} bytes", limits::PHRASE_BYTES.value)]
    TooLong,
    /// A word has no meaning at its position.
    #[error("not understood: {word:?}")]
    UnknownWord {
        /// The word at fault.
        word: Box<str>,
    },
    /// The phrase ends too early.
    #[error("something is missing after {after:?}: {}", part.name())]
    Missing {
        /// The phrase so far.
        after: Box<str>,
        /// The kind of text that must follow.
        part: Part,
    },
    /// The text can be understood in several ways.
    #[error("{text:?} can be read in more than one way")]
    Ambiguous {
        /// The ambiguous text.
        text: Box<str>,
        /// The possible meanings, as they may be written.
        choices: &'static str,
    },
    /// The text is not a time of day.
    #[error("not a time of day: {text:?}")]
    BadTime {
        /// The text that was given.
        text: Box<str>,
    },
    /// The text is not a duration, or one beyond 64 bits of milliseconds.
    #[error("not a length of time: {text:?}")]
    BadDuration {
        /// The text that was given.
        text: Box<str>,
    },
    /// The unit is a month or a year, which have no fixed length.
    #[error("a {unit} has no fixed length")]
    NoFixedLength {
        /// The unit that was given.
        unit: Box<str>,
    },
    /// The text looks like a date, but is not one.
    #[error("not a date and time: {text:?}")]
    BadInstant {
        /// The text that was given.
        text: Box<str>,
    },
    /// The instant has passed.
    #[error("{asked} has passed")]
    Past {
        /// The instant that was asked for.
        asked: Moment,
        /// The next instant at that time of day.
        next: Moment,
        /// A phrase that means the next such instant.
        fix: Box<str>,
    },
    /// The instant is farther ahead than `limits::PERIOD_MS_MAX`.
    #[error("more than {} days ahead", limits::PERIOD_MS_MAX.value / 86_400_000)]
    TooFar,
    /// The period is outside of `limits::PERIOD_MS_MIN` and `limits::PERIOD_MS_MAX`.
    #[error("a period has {} ms to {} days", limits::PERIOD_MS_MIN.value, limits::PERIOD_MS_MAX.value / 86_400_000)]
    Period,
    /// The delay is zero.
    #[error("a delay of zero is no delay")]
    NoDelay,
    /// Every so many days at a time of day, in a zone whose clock changes.
    #[error("every {days} days at a time of day cannot be kept in {zone}, where the clocks change")]
    Stepped {
        /// The number of days.
        days: u64,
        /// The zone.
        zone: Box<str>,
        /// The first such instant, as it may be written.
        first: Box<str>,
        /// The time of day.
        time: TimeOfDay,
    },
    /// The phrase looks like cron, but is not a cron expression.
    #[error(transparent)]
    Cron(#[from] CronError),
    /// The phrase ends with a text that is not a zone, or is to be read on the clock of one that nobody knows.
    #[error("{fault}")]
    Zone {
        /// What is wrong with the zone.
        fault: ZoneFault,
        /// The phrase with the zone that is meant, if that is clear and the phrase names it.
        fix: Option<Box<str>>,
    },
}

impl PhraseError {
    /// Returns the error's code, in kebab case.
    pub const fn code(&self) -> &'static str {
        match self {
            PhraseError::Empty => "phrase-empty",
            PhraseError::TooLong => "phrase-too-long",
            PhraseError::UnknownWord { .. } => "phrase-unknown-word",
            PhraseError::Missing { .. } => "phrase-unfinished",
            PhraseError::Ambiguous { .. } => "phrase-ambiguous",
            PhraseError::BadTime { .. } => "phrase-bad-time",
            PhraseError::BadDuration { .. } => "phrase-bad-duration",
            PhraseError::NoFixedLength { .. } => "phrase-no-fixed-length",
            PhraseError::BadInstant { .. } => "phrase-bad-instant",
            PhraseError::Past { .. } => "phrase-past",
            PhraseError::TooFar => "phrase-too-far",
            PhraseError::Period => "phrase-period",
            PhraseError::NoDelay => "phrase-no-delay",
            PhraseError::Stepped { .. } => "phrase-stepped",
            PhraseError::Cron(error) => error.code(),
            PhraseError::Zone { fault, .. } => fault.code(),
        }
    }

    /// Returns the phrase that the caller can say instead, if there is one.
    pub(crate) fn fix(&self) -> Option<&str> {
        match self {
            PhraseError::Past { fix, .. } => Some(fix),
            PhraseError::Zone { fix, .. } => fix.as_deref(),
            PhraseError::Empty
            | PhraseError::TooLong
            | PhraseError::UnknownWord { .. }
            | PhraseError::Missing { .. }
            | PhraseError::Ambiguous { .. }
            | PhraseError::BadTime { .. }
            | PhraseError::BadDuration { .. }
            | PhraseError::NoFixedLength { .. }
            | PhraseError::BadInstant { .. }
            | PhraseError::TooFar
            | PhraseError::Period
            | PhraseError::NoDelay
            | PhraseError::Stepped { .. }
            | PhraseError::Cron(_) => None,
        }
    }

    /// Returns what the caller can do about it.
    pub fn hint(&self) -> String {
        let fixed = match self {
            PhraseError::Empty | PhraseError::UnknownWord { .. } | PhraseError::Missing { .. } => FORMS,
            PhraseError::TooLong => "say it shorter, or use cron",
            PhraseError::Ambiguous { choices, .. } => return format!("say one of: {choices}"),
            PhraseError::BadTime { .. } => "write a time as 17:30, 5:30pm, 9am or noon",
            PhraseError::BadDuration { .. } => "write a length of time as 5m, 1h30m, 90s or 2 days",
            PhraseError::NoFixedLength { .. } => {
                "count in days, or give the date, such as 2026-04-22 13:00; again and again by cron, such as 0 9 1 * *"
            }
            PhraseError::BadInstant { .. } => {
                "write 2026-04-22T13:00:00Z, or 2026-04-22 13:00 for the zone's own clock"
            }
            PhraseError::Past { fix, .. } => return format!("say a time that lies ahead, such as {fix}"),
            PhraseError::TooFar => "choose an earlier time",
            PhraseError::Period => "choose a period within these bounds",
            PhraseError::NoDelay => "say now, or in 1 second",
            PhraseError::Stepped { days, first, time, .. } => {
                let period = format!(
                    "say every {days} days from {first}, which moves by an hour when the clocks change"
                );
                if *days != 2 {
                    return format!("{period}; or name a zone whose clocks never change, such as UTC");
                }
                let (minute, hour) = (time.minute(), time.hour());
                // Cron counts the days of a month, and begins again with each.
                return format!(
                    "{period}; or use cron, such as {minute} {hour} */2 * * for every odd day of the month"
                );
            }
            PhraseError::Cron(error) => error.hint(),
            PhraseError::Zone { fault, .. } => return fault.hint(),
        };
        fixed.to_owned()
    }
}

/// The forms of a phrase, as hints show them.
const FORMS: &str = "say: in 5m, in 2 hours, tomorrow 9am, today at 17:30, next monday 08:00, every 5 minutes, every day \
                     at 9, weekdays at 8:30, an instant such as 2026-04-22T13:00:00Z, or five fields of cron; a zone may follow";

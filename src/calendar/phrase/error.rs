//! Why a phrase was not understood, or not accepted.

use crate::calendar::CronError;
use crate::domain::{Moment, ZoneError, names};
use crate::limits;

names! {
    /// What a phrase lacks.
    Part {
        /// A length of time: `5 minutes`.
        Duration = "a length of time, such as 5 minutes",
        /// A time of day: `9am`.
        Time = "a time of day, such as 9:00",
        /// A day: `monday`.
        Day = "a day of the week, such as monday",
        /// An instant: `2026-04-22T13:00:00Z`.
        Instant = "an instant, such as 2026-04-22T13:00:00Z",
    }
}

/// Why a phrase was not understood, or not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PhraseError {
    /// Nothing but white space.
    #[error("nothing says when")]
    Empty,
    /// Longer than `limits::PHRASE_BYTES`.
    #[error("a phrase has at most {} bytes", limits::PHRASE_BYTES.value)]
    TooLong,
    /// A word that has no meaning where it stands.
    #[error("not understood: {word:?}")]
    UnknownWord {
        /// The word.
        word: Box<str>,
    },
    /// The phrase ends too early.
    #[error("something is missing after {after:?}: {}", part.name())]
    Missing {
        /// What is there.
        after: Box<str>,
        /// What is not.
        part: Part,
    },
    /// Two readings are possible.
    #[error("{text:?} can be read in more than one way")]
    Ambiguous {
        /// What was given.
        text: Box<str>,
        /// The readings, as one may write them.
        choices: &'static str,
    },
    /// Not a time of day.
    #[error("not a time of day: {text:?}")]
    BadTime {
        /// What was given.
        text: Box<str>,
    },
    /// Not a length of time, or one beyond 64 bits.
    #[error("not a length of time: {text:?}")]
    BadDuration {
        /// What was given.
        text: Box<str>,
    },
    /// Months and years have no fixed length.
    #[error("a {unit} has no fixed length")]
    NoFixedLength {
        /// The unit given.
        unit: Box<str>,
    },
    /// Looks like a date, and is none.
    #[error("not a date and time: {text:?}")]
    BadInstant {
        /// What was given.
        text: Box<str>,
    },
    /// It has passed.
    #[error("{asked} has passed")]
    Past {
        /// The instant that was asked for.
        asked: Moment,
        /// The next instant at that time of day.
        next: Moment,
        /// A phrase that means the next.
        fix: Box<str>,
    },
    /// Farther ahead than `limits::PERIOD_MS_MAX`.
    #[error("more than {} days ahead", limits::PERIOD_MS_MAX.value / 86_400_000)]
    TooFar,
    /// A period outside of `limits::PERIOD_MS_MIN` and `limits::PERIOD_MS_MAX`.
    #[error("a period has {} ms to {} days", limits::PERIOD_MS_MIN.value, limits::PERIOD_MS_MAX.value / 86_400_000)]
    Period,
    /// It looks like cron, and is none.
    #[error(transparent)]
    Cron(#[from] CronError),
    /// It ends with what is no zone.
    #[error(transparent)]
    Zone(#[from] ZoneError),
}

impl PhraseError {
    /// A name for it, in kebab case.
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
            PhraseError::Cron(error) => error.code(),
            PhraseError::Zone(error) => error.code(),
        }
    }

    /// What the caller can do about it.
    pub fn hint(&self) -> String {
        let fixed = match self {
            PhraseError::Empty | PhraseError::UnknownWord { .. } | PhraseError::Missing { .. } => FORMS,
            PhraseError::TooLong => "say it shorter, or use cron",
            PhraseError::Ambiguous { choices, .. } => return format!("say one of: {choices}"),
            PhraseError::BadTime { .. } => "write a time as 17:30, 5:30pm, 9am or noon",
            PhraseError::BadDuration { .. } => "write a length of time as 5m, 1h30m, 90s or 2 days",
            PhraseError::NoFixedLength { .. } => "count in days, or use cron, such as @monthly or 0 9 1 * *",
            PhraseError::BadInstant { .. } => {
                "write 2026-04-22T13:00:00Z, or 2026-04-22 13:00 for the zone's own clock"
            }
            PhraseError::Past { fix, .. } => return format!("the next such time is: {fix}"),
            PhraseError::TooFar => "choose an earlier time",
            PhraseError::Period => "choose a period within these bounds",
            PhraseError::Cron(error) => error.hint(),
            PhraseError::Zone(error) => error.hint(),
        };
        fixed.to_owned()
    }
}

/// The forms of a phrase, as hints show them.
const FORMS: &str = "say: in 5m, in 2 hours, tomorrow 9am, today at 17:30, next monday 08:00, every 5 minutes, every day \
                     at 9, weekdays at 8:30, an instant such as 2026-04-22T13:00:00Z, or five fields of cron; a zone may follow";

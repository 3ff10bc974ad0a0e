//! Days of a month in phrases: `the 1st and the 15th`, `the last day`, `the last friday`; and the cron trigger of them.

use super::context::PhraseContext;
use super::error::{Part, PhraseError};
use super::words::Words;
use super::{date, numbers, time};
use crate::calendar::cron::parse_cron;
use crate::domain::{TimeOfDay, Trigger, Weekday};

/// The days of a month that a phrase names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MonthDays {
    /// By number.
    Dates(Vec<u8>),
    /// The last day.
    Last,
    /// The weekday with this number in the month; `None` for the last.
    Weekday(Weekday, Option<u8>),
}

impl MonthDays {
    /// Returns whether days of a month can come next.
    pub(super) fn starts(words: &Words<'_>) -> bool {
        words.peek().is_some_and(|word| matches!(word, "the" | "last") || numbers::ordinal(word).is_some())
    }

    /// Parses one day, or several dates.
    pub(super) fn read(words: &mut Words<'_>) -> Result<MonthDays, PhraseError> {
        let mut dates = Vec::new();
        loop {
            words.take(&["the"]);
            words.take(&["day"]);
            if dates.is_empty() && words.take(&["last"]) {
                return MonthDays::read_last(words);
            }
            let day = words.peek().and_then(date::day).and_then(|day| u8::try_from(day).ok());
            let day = day.ok_or_else(|| words.refuse(Part::Date))?;
            words.next();
            // No weekday comes more than five times in a month.
            if let Some(weekday) =
                words.peek().and_then(time::weekday).filter(|_| dates.is_empty() && day <= 5)
            {
                words.next();
                return Ok(MonthDays::Weekday(weekday, Some(day)));
            }
            words.take(&["day"]);
            dates.push(day);
            // `and` may also begin something else, which is refused then as a word that is left.
            let mut ahead = words.clone();
            ahead.take(&["and", "&"]);
            ahead.take(&["the"]);
            if ahead.peek().is_none_or(|word| numbers::ordinal(word).is_none()) {
                return Ok(MonthDays::Dates(dates));
            }
            *words = ahead;
        }
    }

    /// Parses what follows `last`.
    fn read_last(words: &mut Words<'_>) -> Result<MonthDays, PhraseError> {
        if words.take(&["day"]) {
            return Ok(MonthDays::Last);
        }
        let weekday = words.peek().and_then(time::weekday).ok_or_else(|| words.refuse(Part::Day))?;
        words.next();
        Ok(MonthDays::Weekday(weekday, None))
    }
}

/// Returns the trigger of days of a month, given as cron has it: its number, or `*` for every month.
pub(super) fn trigger(
    days: &MonthDays,
    month: &str,
    time: TimeOfDay,
    asked: &PhraseContext<'_>,
) -> Result<Trigger, PhraseError> {
    if time.second() != 0 {
        // Cron has no seconds.
        return Err(PhraseError::BadTime { text: time.to_string().into() });
    }
    let (of_month, of_week) = match days {
        MonthDays::Dates(dates) => {
            check_dates(dates, month)?;
            (dates.iter().map(u8::to_string).collect::<Vec<_>>().join(","), "*".to_owned())
        }
        MonthDays::Last => ("L".to_owned(), "*".to_owned()),
        MonthDays::Weekday(weekday, Some(nth)) => ("*".to_owned(), format!("{}#{nth}", weekday.number())),
        MonthDays::Weekday(weekday, None) => ("*".to_owned(), format!("{}L", weekday.number())),
    };
    let expr = format!("{} {} {of_month} {month} {of_week}", time.minute(), time.hour());
    Ok(Trigger::Cron(parse_cron(&expr)?.into(), asked.zone.clone().into()))
}

/// Refuses days that some months do not have: nothing says what is meant then.
fn check_dates(dates: &[u8], month: &str) -> Result<(), PhraseError> {
    let Some(late) = dates.iter().find(|date| **date > LEAST_DAYS) else { return Ok(()) };
    let choices = match month {
        "*" => {
            "on the last day of every month at 9, cron such as 0 9 31 * * for the months that have the day"
        }
        "2" => "every year on 28 february at 9, cron such as 0 9 29 2 * for leap years",
        _ => return Ok(()),
    };
    Err(PhraseError::Ambiguous { text: format!("day {late} of the month").into(), choices })
}

/// The days of the shortest month.
const LEAST_DAYS: u8 = 28;

//! Parser of phrases that mean a trigger: `every 5 minutes`, `every day at 9`, `weekdays at 8:30`, `at noon on mondays`,
//! `on the 15th of every month at 9`.
//!
//! The time of day comes before or after the days. What lives elsewhere: days of a month (`monthly`).

use super::context::PhraseContext;
use super::date::{self, NamedDate};
use super::error::{Part, PhraseError};
use super::monthly::{self, MonthDays};
use super::time::{DayPart, Said};
use super::words::Words;
use super::{duration, instant, stepped, time};
use crate::calendar::cron::parse_cron;
use crate::domain::{Calendar, CountFrom, Every, Span, TimeOfDay, Trigger, Weekdays};

/// Returns whether the phrase has a word that only recurring ones have.
pub(super) fn starts(words: &Words<'_>) -> bool {
    let is_plural = |word: &str| {
        word.ends_with("days") && time::weekday(word).is_some()
            || word.ends_with('s') && DayPart::parse(word).is_some()
    };
    words.any(|word| MARKS.contains(&word) || is_plural(word)) || words.contains(&["of", "the", "month"])
}

/// Parses a recurring phrase to its trigger.
pub(super) fn read(words: &mut Words<'_>, asked: &PhraseContext<'_>) -> Result<Trigger, PhraseError> {
    let is_time_first = words.peek() == Some("at") || time::starts(words);
    let mut phrase = Recurring { asked, said: None };
    if is_time_first {
        phrase.said = Some(time::read_said(words)?);
    }
    phrase.read(words)
}

/// A recurring phrase, and the time of day if it came first.
struct Recurring<'a, 'z> {
    asked: &'a PhraseContext<'z>,
    said: Option<Said>,
}

impl Recurring<'_, '_> {
    fn read(&mut self, words: &mut Words<'_>) -> Result<Trigger, PhraseError> {
        words.take(&["on"]);
        if self.said.is_none() && words.take(&["hourly"]) {
            // Cron, because `hourly` means the full hours of the clock and not every 3,600 seconds from some instant.
            return Ok(Trigger::Cron(parse_cron("@hourly")?.into(), self.asked.zone.clone().into()));
        }
        if words.take(&["daily"]) {
            return self.on_weekdays(Weekdays::DAILY, None, words);
        }
        if words.take(&["weekly"]) {
            words.take(&["on"]);
            return self.on_days(words);
        }
        if words.take(&["monthly"]) {
            return self.monthly(words);
        }
        if words.take(&["yearly", "annually"]) {
            return self.yearly(words);
        }
        if words.take(&["every", "each"]) {
            return self.every(words);
        }
        if MonthDays::starts(words) {
            return self.days_of_months(words);
        }
        self.on_days(words)
    }

    /// Parses what follows `every`.
    fn every(&mut self, words: &mut Words<'_>) -> Result<Trigger, PhraseError> {
        if words.take(&["day"]) {
            return self.on_weekdays(Weekdays::DAILY, None, words);
        }
        if let Some(part) = DayPart::take(words) {
            return self.on_weekdays(Weekdays::DAILY, Some(part), words);
        }
        if words.take(&["week"]) {
            words.take(&["on"]);
            return self.on_days(words);
        }
        if words.peek() == Some("month") {
            return self.every_month(words);
        }
        if words.peek() == Some("year") && words.peek_at(1) == Some("on") {
            words.next();
            return self.yearly(words);
        }
        if words.peek().and_then(date::month).is_some() {
            return self.yearly(words);
        }
        // `every second monday of the month` counts days, `every second monday` and `every other monday` leave one out.
        if !words.contains(&["of"]) && is_alternate(words) {
            words.next();
            return self.alternate(words);
        }
        if MonthDays::starts(words) && !is_second(words) {
            return self.days_of_months(words);
        }
        if duration::starts_period(words) {
            let period = duration::read_period(words)?;
            return self.every_span(period, words);
        }
        self.on_days(words)
    }

    /// Parses `month on the 1st`. A month alone is no period.
    fn every_month(&mut self, words: &mut Words<'_>) -> Result<Trigger, PhraseError> {
        // If the time came first, the days may follow without `on`: `at 9 every month the 1st`.
        let has_days = words.peek_at(1) == Some("on") || self.said.is_some() && words.peek_at(1).is_some();
        if !has_days {
            return Err(PhraseError::NoFixedLength { unit: "month".into() });
        }
        words.next();
        self.monthly(words)
    }

    /// Parses the days of every month, and the time.
    fn monthly(&mut self, words: &mut Words<'_>) -> Result<Trigger, PhraseError> {
        words.take(&["on"]);
        let days = MonthDays::read(words)?;
        let time = self.time(None, words)?;
        monthly::trigger(&days, "*", time, self.asked)
    }

    /// Parses `the 15th of every month`, and the time.
    fn days_of_months(&mut self, words: &mut Words<'_>) -> Result<Trigger, PhraseError> {
        // `every 3rd of march` comes once a year.
        if NamedDate::take(&mut words.clone())?.is_some_and(|date| date.month.is_some()) {
            return self.yearly(words);
        }
        let days = MonthDays::read(words)?;
        let is_monthly = words.take(&["of"]) && {
            words.take(&["the", "every", "each"]);
            words.take(&["month"])
        };
        if !is_monthly {
            return Err(words.refuse(Part::Month));
        }
        let time = self.time(None, words)?;
        monthly::trigger(&days, "*", time, self.asked)
    }

    /// Parses a date that comes every year, and the time.
    fn yearly(&mut self, words: &mut Words<'_>) -> Result<Trigger, PhraseError> {
        words.take(&["on"]);
        let date = NamedDate::take(words)?.ok_or_else(|| words.refuse(Part::Date))?;
        // With a year, the date would come only once.
        let month = date.month.filter(|_| date.year.is_none()).ok_or_else(|| words.refuse(Part::Date))?;
        words.take_all(&["of", "every", "year"]);
        let day = u8::try_from(date.day).unwrap_or_default();
        let time = self.time(None, words)?;
        monthly::trigger(&MonthDays::Dates(vec![day]), &month.to_string(), time, self.asked)
    }

    /// Parses what follows `every other`: days or weeks, with a time of day.
    fn alternate(&mut self, words: &mut Words<'_>) -> Result<Trigger, PhraseError> {
        let is_week = words.take(&["week"]);
        if is_week {
            words.take(&["on"]);
        }
        let is_day = !is_week && words.take(&["day"]);
        let weekday = if is_day { None } else { words.peek().and_then(time::weekday) };
        // Every second one, but counted from which? Without a time of day the phrase does not say.
        if !is_day && weekday.is_none() || is_day && self.said.is_none() && words.peek().is_none() {
            return Err(PhraseError::Ambiguous {
                text: "every other".into(),
                choices: "every 2 days, every 2 weeks, every other day at 9, cron",
            });
        }
        if weekday.is_some() {
            words.next();
        }
        let time = self.time(DayPart::take(words), words)?;
        let days = if is_day { 2 } else { 14 };
        stepped::trigger(days, weekday, time, self.asked)
    }

    fn on_days(&mut self, words: &mut Words<'_>) -> Result<Trigger, PhraseError> {
        if let Some(part) = DayPart::take(words) {
            return self.on_weekdays(Weekdays::DAILY, Some(part), words);
        }
        let weekdays = time::read_days(words)?;
        let part = DayPart::take(words);
        self.on_weekdays(weekdays, part, words)
    }

    fn on_weekdays(
        &mut self,
        weekdays: Weekdays,
        part: Option<DayPart>,
        words: &mut Words<'_>,
    ) -> Result<Trigger, PhraseError> {
        let time = self.time(part, words)?;
        Ok(Trigger::Calendar(Box::new(Calendar { weekdays, time, zone: self.asked.zone.clone() })))
    }

    /// Returns the time of day: the one that came first, or else the one that follows.
    fn time(&mut self, part: Option<DayPart>, words: &mut Words<'_>) -> Result<TimeOfDay, PhraseError> {
        // `every day in the morning at 8`
        let part = if part.is_none() && words.take_all(&["in", "the"]) {
            Some(DayPart::take(words).ok_or_else(|| words.refuse(Part::Time))?)
        } else {
            part
        };
        let said = match self.said.take() {
            Some(said) => said,
            None => time::read_said(words)?,
        };
        said.daily(part)
    }

    /// Parses what may follow a period: `from 2026-04-22T13:00:00Z` and `after each finish`; or for days, a time of day.
    fn every_span(&mut self, period: Span, words: &mut Words<'_>) -> Result<Trigger, PhraseError> {
        if let Some(said) = self.said.take() {
            return self.every_days(period, &said, words);
        }
        if period.millis() >= DAY_MS && matches!(words.peek(), Some("at" | "on")) {
            if words.take(&["on"]) {
                return self.every_weeks(period, words);
            }
            let said = time::read_said(words)?;
            return self.every_days(period, &said, words);
        }
        let anchor = if words.take(&["from"]) {
            if !instant::starts(words) {
                return Err(words.refuse(Part::Instant));
            }
            instant::read(words, self.asked)?.0
        } else {
            // One period ahead: the engine takes a slot at the anchor itself, and nobody who says `every 6 hours` means at once.
            self.asked.now.checked_add(period).ok_or(PhraseError::TooFar)?
        };
        let from = if words.take(&["after"]) {
            words.take(&["each", "every", "the"]);
            if !words.take(&["finish"]) {
                return Err(words.refuse(Part::Duration));
            }
            CountFrom::Finish
        } else {
            CountFrom::Slot
        };
        Every::new(period, anchor, from).map(Trigger::from).ok_or(PhraseError::Period)
    }

    /// Every so many days at a time of day.
    fn every_days(&self, period: Span, said: &Said, words: &Words<'_>) -> Result<Trigger, PhraseError> {
        let days = period.millis() / DAY_MS;
        if days == 0 || !period.millis().is_multiple_of(DAY_MS) {
            return Err(words.refuse(Part::Day));
        }
        stepped::trigger(days, None, said.daily(None)?, self.asked)
    }

    /// Parses `monday at 9` after `every 2 weeks on`.
    fn every_weeks(&mut self, period: Span, words: &mut Words<'_>) -> Result<Trigger, PhraseError> {
        let days = period.millis() / DAY_MS;
        // Only whole weeks stay on one weekday.
        let weekday = words.peek().and_then(time::weekday).filter(|_| days.is_multiple_of(7));
        let weekday = weekday.ok_or_else(|| words.refuse(Part::Day))?;
        words.next();
        let part = DayPart::take(words);
        let time = self.time(part, words)?;
        // Each week is a calendar trigger, which keeps its time of day when the clocks change.
        if days == 7 {
            let weekdays = Weekdays::new([weekday]).unwrap_or(Weekdays::DAILY);
            return Ok(Trigger::Calendar(Box::new(Calendar {
                weekdays,
                time,
                zone: self.asked.zone.clone(),
            })));
        }
        stepped::trigger(days, Some(weekday), time, self.asked)
    }
}

fn is_second(words: &Words<'_>) -> bool {
    words.peek() == Some("second") && !words.contains(&["of"])
}

/// Returns whether `other`, or `second` in its sense, comes next: `every second` alone is a period.
fn is_alternate(words: &Words<'_>) -> bool {
    let is_day = |word: &str| matches!(word, "day" | "week") || time::weekday(word).is_some();
    words.peek() == Some("other") || is_second(words) && words.peek_at(1).is_some_and(is_day)
}

/// Words that make a phrase a recurring one.
const MARKS: &[&str] =
    &["every", "each", "daily", "weekly", "hourly", "monthly", "yearly", "annually", "weekdays", "weekends"];
const DAY_MS: u64 = 86_400_000;

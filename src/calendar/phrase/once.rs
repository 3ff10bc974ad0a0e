//! Parser of phrases that mean one instant.

use super::context::PhraseContext;
use super::date::NamedDate;
use super::error::{Part, PhraseError};
use super::time::{DayPart, Said};
use super::words::Words;
use super::{duration, instant, numbers, time};
use crate::calendar::Warning;
use crate::domain::{Span, TimeOfDay, Weekday, When};

/// Parses `in 5m`, `5m`, `now`, an instant, `tomorrow 9am`, `next monday 08:00`, `at 17:30`, `9am
/// tomorrow`, `on 3 march at 9`.
pub(super) fn read(
    words: &mut Words<'_>,
    asked: &PhraseContext<'_>,
) -> Result<(When, Option<Warning>), PhraseError> {
    if words.take(&["now"]) {
        return Ok((When::After(Span::ZERO), None));
    }
    // The order matters, because three forms begin with a digit: a date first, then a duration,
    // then a time of day.
    if instant::starts(words) {
        let (moment, warning) = instant::read(words, asked)?;
        return Ok((When::At(asked.ahead(moment)?), warning));
    }
    if words.take(&["in"]) || is_duration(words) {
        return read_after(words, asked).map(|when| (when, None));
    }
    if let Some(day) = read_day(words)? {
        let said = time::read_said(words)?;
        return on_day(Some(day), &said, asked);
    }
    if words.peek() != Some("at") && !time::starts(words) {
        return Err(words.refuse(Part::Time));
    }
    let said = time::read_said(words)?;
    on_day(read_day(words)?, &said, asked)
}

/// The day that a phrase names, and the part of it.
#[derive(Clone, Copy)]
struct Day {
    day: Which,
    part: Option<DayPart>,
}

#[derive(Clone, Copy)]
enum Which {
    /// This many days from today.
    In(i64),
    /// The night that begins today.
    Tonight,
    /// The first day of that name whose time has not passed, today included.
    Coming(Weekday),
    /// The first day of that name after today.
    Next(Weekday),
    /// A date.
    Date(NamedDate),
}

fn on_day(
    day: Option<Day>,
    said: &Said,
    asked: &PhraseContext<'_>,
) -> Result<(When, Option<Warning>), PhraseError> {
    let which = day.map(|day| day.day);
    let time = time_on(which, said, day.and_then(|day| day.part))?;
    let today = asked.today();
    let (moment, warning) = match which {
        Some(Which::In(days)) => asked.instant(today + days, time)?,
        // Midnight tonight is the beginning of tomorrow.
        Some(Which::Tonight) => asked.instant(today + i64::from(said.is_midnight), time)?,
        Some(Which::Next(weekday)) => asked.instant(today + asked.days_until(weekday, 1), time)?,
        Some(Which::Coming(weekday)) => asked.coming(Some(weekday), time)?,
        Some(Which::Date(date)) => first_ahead(date, time, asked)?,
        None => asked.coming(None, time)?,
    };
    Ok((When::At(asked.ahead(moment)?), warning))
}

/// Returns the time on a day. Midnight belongs to two days: a daily trigger may leave that open, a
/// single instant may not.
fn time_on(which: Option<Which>, said: &Said, part: Option<DayPart>) -> Result<TimeOfDay, PhraseError> {
    let part = match which {
        Some(Which::Tonight) if said.is_midnight => None,
        Some(Which::Tonight) => Some(DayPart::Night),
        Some(Which::In(_) | Which::Coming(_) | Which::Next(_) | Which::Date(_)) if said.is_midnight => {
            let choices = "the day at 00:00, or the day after at 00:00";
            return Err(PhraseError::Ambiguous { text: "midnight".into(), choices });
        }
        Some(Which::In(_) | Which::Coming(_) | Which::Next(_) | Which::Date(_)) | None => part,
    };
    said.within(part)
}

/// Returns the first instant of a date that is ahead, or else the last of those that it may mean.
fn first_ahead(
    date: NamedDate,
    time: TimeOfDay,
    asked: &PhraseContext<'_>,
) -> Result<(crate::domain::Moment, Option<Warning>), PhraseError> {
    let days = date.days_from(asked.today());
    let mut last = None;
    for day in days {
        let found = asked.instant(day, time)?;
        if found.0 > asked.now {
            return Ok(found);
        }
        last = Some(found);
    }
    // A day that no such month has.
    last.ok_or_else(|| PhraseError::BadInstant { text: date.print().into() })
}

fn read_day(words: &mut Words<'_>) -> Result<Option<Day>, PhraseError> {
    let Some(day) = read_which(words)? else { return Ok(None) };
    if matches!(day, Which::Tonight) && words.peek().is_none() {
        return Err(PhraseError::Ambiguous {
            text: "tonight".into(),
            choices: "today at 20:00, today at 22:00",
        });
    }
    let part = match day {
        Which::Tonight => None,
        Which::In(_) | Which::Coming(_) | Which::Next(_) | Which::Date(_) => DayPart::take(words),
    };
    Ok(Some(Day { day, part }))
}

fn read_which(words: &mut Words<'_>) -> Result<Option<Which>, PhraseError> {
    if words.take(&["today"]) {
        return Ok(Some(Which::In(0)));
    }
    if words.take(&["tonight"]) {
        return Ok(Some(Which::Tonight));
    }
    if words.take(&["tomorrow"]) {
        return Ok(Some(Which::In(1)));
    }
    if words.take_all(&["the", "day", "after", "tomorrow"]) {
        return Ok(Some(Which::In(2)));
    }
    if words.take(&["day"]) {
        let is_known = words.take(&["after"]) && words.take(&["tomorrow"]);
        return if is_known { Ok(Some(Which::In(2))) } else { Err(words.refuse(Part::Day)) };
    }
    // `this evening` is a part of today.
    if words.peek() == Some("this") && words.peek_at(1).is_some_and(|word| DayPart::parse(word).is_some()) {
        words.next();
        return Ok(Some(Which::In(0)));
    }
    let is_next = words.take(&["next"]);
    let is_named = is_next || words.take(&["on", "this"]);
    if !is_next && let Some(date) = NamedDate::take(words)? {
        return Ok(Some(Which::Date(date)));
    }
    // `mondays` is a trigger, not a day: leave it for `finish` to refuse.
    let Some(weekday) = words.peek().filter(|word| !word.ends_with("days")).and_then(time::weekday) else {
        return if is_named { Err(words.refuse(Part::Day)) } else { Ok(None) };
    };
    words.next();
    Ok(Some(if is_next { Which::Next(weekday) } else { Which::Coming(weekday) }))
}

/// Returns whether the phrase begins with a duration: with a digit, but not with a time of day or a date.
fn is_duration(words: &Words<'_>) -> bool {
    let mut rest = words.clone();
    let first = rest.next().unwrap_or_default().to_owned();
    if matches!(&*first, "half" | "quarter" | "a" | "an") || numbers::starts(words) {
        return true;
    }
    if !first.starts_with(|c: char| c.is_ascii_digit())
        || first.contains(':')
        || first.ends_with("am")
        || first.ends_with("pm")
        || numbers::ordinal(&first).is_some()
    {
        return false;
    }
    // A bare number is a duration only in front of a unit: `5 minutes`, but `9 tomorrow`.
    let is_bare = first.bytes().all(|byte| byte.is_ascii_digit());
    let is_unit = |word: &str| !matches!(duration::unit_ms(word), Ok(None));
    !is_bare || rest.peek().is_some_and(is_unit)
}

fn read_after(words: &mut Words<'_>, asked: &PhraseContext<'_>) -> Result<When, PhraseError> {
    let span = duration::read(words)?;
    let moment = asked.now.checked_add(span).ok_or(PhraseError::TooFar)?;
    // Zero may be a slip or mean `now`: the caller has to choose.
    if span == Span::ZERO {
        return Err(PhraseError::NoDelay);
    }
    asked.ahead(moment)?;
    Ok(When::After(span))
}

//! Parser of phrases that mean one instant.

use super::context::PhraseContext;
use super::error::{Part, PhraseError};
use super::words::Words;
use super::{duration, instant, time};
use crate::calendar::Warning;
use crate::domain::{Span, TimeOfDay, Weekday, When};

/// Parses `in 5m`, `5m`, `now`, an instant, `tomorrow 9am`, `next monday 08:00`, `at 17:30`, `9am
/// tomorrow`.
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
    let (day, time) = if let Some(day) = read_day(words)? {
        (Some(day), read_time(words)?)
    } else if words.take(&["at"]) || time::starts(words) {
        let time = read_time(words)?;
        (read_day(words)?, time)
    } else {
        return Err(words.refuse(Part::Time));
    };
    on_day(day, time, asked)
}

/// Parses a time of day. Midnight belongs to two days: a daily trigger may leave that open, a
/// single instant may not.
fn read_time(words: &mut Words<'_>) -> Result<TimeOfDay, PhraseError> {
    words.take(&["at"]);
    if words.take(&["midnight"]) {
        let choices = "the day at 00:00, or the day after at 00:00";
        return Err(PhraseError::Ambiguous { text: "midnight".into(), choices });
    }
    time::read(words)
}

/// The day that a phrase names.
#[derive(Clone, Copy)]
enum Day {
    /// This many days from today.
    In(i64),
    /// The first day of that name whose time has not passed, today included.
    Coming(Weekday),
    /// The first day of that name after today.
    Next(Weekday),
}

fn on_day(
    day: Option<Day>,
    time: TimeOfDay,
    asked: &PhraseContext<'_>,
) -> Result<(When, Option<Warning>), PhraseError> {
    let today = asked.today();
    // Days until that weekday, at least `least`. 1970-01-01 was a Thursday, which is day 4.
    let until = |weekday: Weekday, least: i64| {
        least + (i64::from(weekday.number()) - today - 4 - least).rem_euclid(7)
    };
    // The second candidate counts if the time of the first one has passed; where both are equal,
    // `ahead` refuses it below.
    let candidates = match day {
        Some(Day::In(days)) => [days, days],
        Some(Day::Next(weekday)) => [until(weekday, 1); 2],
        Some(Day::Coming(weekday)) => [until(weekday, 0), until(weekday, 1)],
        None => [0, 1],
    };
    let (moment, warning) = asked.instant(today + candidates[0], time)?;
    let (moment, warning) =
        if moment > asked.now { (moment, warning) } else { asked.instant(today + candidates[1], time)? };
    Ok((When::At(asked.ahead(moment)?), warning))
}

fn read_day(words: &mut Words<'_>) -> Result<Option<Day>, PhraseError> {
    if words.take(&["today"]) {
        return Ok(Some(Day::In(0)));
    }
    if words.take(&["tonight"]) {
        return Err(PhraseError::Ambiguous {
            text: "tonight".into(),
            choices: "today at 20:00, today at 22:00",
        });
    }
    if words.take(&["tomorrow"]) {
        return Ok(Some(Day::In(1)));
    }
    if words.take(&["day"]) {
        let is_known = words.take(&["after"]) && words.take(&["tomorrow"]);
        return if is_known { Ok(Some(Day::In(2))) } else { Err(words.refuse(Part::Day)) };
    }
    let is_next = words.take(&["next"]);
    let is_named = is_next || words.take(&["on", "this"]);
    // `mondays` is a trigger, not a day: leave it for `finish` to refuse.
    let Some(weekday) = words.peek().filter(|word| !word.ends_with("days")).and_then(time::weekday) else {
        return if is_named { Err(words.refuse(Part::Day)) } else { Ok(None) };
    };
    words.next();
    Ok(Some(if is_next { Day::Next(weekday) } else { Day::Coming(weekday) }))
}

/// Returns whether the phrase begins with a duration: with a digit, but not with a time of day.
fn is_duration(words: &Words<'_>) -> bool {
    let mut rest = words.clone();
    let first = rest.next().unwrap_or_default().to_owned();
    if first == "half" || first == "a" || first == "an" {
        return true;
    }
    if !first.starts_with(|c: char| c.is_ascii_digit())
        || first.contains(':')
        || first.ends_with("am")
        || first.ends_with("pm")
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
        return Err(PhraseError::Ambiguous { text: "in no time".into(), choices: "now, in 1s" });
    }
    asked.ahead(moment)?;
    Ok(When::After(span))
}

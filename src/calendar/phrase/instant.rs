//! Parser of instants in digits: `2026-04-22T13:00:00Z`, and `2026-04-22 13:00` on the zone's
//! clock.

use super::context::PhraseContext;
use super::error::{Part, PhraseError};
use super::time;
use super::words::{Words, cut};
use crate::calendar::Warning;
use crate::domain::{Moment, TimeOfDay};
use crate::edn::{civil_from_days, days_from_civil};

/// Returns whether the next word begins like a date: four digits and a hyphen.
pub(super) fn starts(words: &Words<'_>) -> bool {
    words.peek().is_some_and(|word| {
        // A year of more than four digits has a sign.
        let word = word.strip_prefix(['+', '-']).unwrap_or(word).as_bytes();
        word.iter().take_while(|byte| byte.is_ascii_digit()).count() >= 4
            && word.iter().skip(4).any(|byte| *byte == b'-')
    })
}

/// Parses an instant, or a date and a time on the zone's clock.
pub(super) fn read(
    words: &mut Words<'_>,
    asked: &PhraseContext<'_>,
) -> Result<(Moment, Option<Warning>), PhraseError> {
    let Some(word) = words.next_given() else {
        return Err(words.refuse(Part::Instant));
    };
    if let Some(moment) = absolute(word) {
        return Ok((moment, None));
    }
    let bad = || PhraseError::BadInstant { text: cut(word) };
    let (date, rest) = match word.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (word, None),
    };
    let day = read_date(date).ok_or_else(bad)?;
    let time = match rest {
        Some(text) => TimeOfDay::parse(text).ok_or_else(bad)?,
        // A date alone is no instant: the time is asked for, and not guessed.
        None if words.peek().is_none() => return Err(words.refuse(Part::Time)),
        None => time::read(words)?,
    };
    asked.instant(day, time)
}

/// Parses an instant with an offset; the seconds are optional.
pub(super) fn absolute(word: &str) -> Option<Moment> {
    if let Ok(moment) = Moment::parse(word) {
        return Some(moment);
    }
    // 2026-04-22T13:00Z and 2026-04-22T13:00+02:00 lack only the seconds.
    let (head, tail) = word.split_at_checked("2026-04-22T13:00".len())?;
    if !tail.starts_with(['Z', 'z', '+', '-']) {
        return None;
    }
    Moment::parse(&format!("{head}:00{tail}")).ok()
}

fn read_date(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let mut number = |digits: usize| -> Option<i64> {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| part.parse().ok())?
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = days_from_civil(year, month, day);
    // The conversion back finds days that the month does not have.
    (civil_from_days(days) == (year, month, day)).then_some(days)
}

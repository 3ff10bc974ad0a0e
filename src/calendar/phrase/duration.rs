//! Parser and printer of durations: `5m`, `1h30m`, `2 hours and 15 minutes`, `half an hour`.

use super::error::{Part, PhraseError};
use super::words::{Words, cut};
use crate::domain::Span;

/// Parses a duration of at least one part.
pub(super) fn read(words: &mut Words<'_>) -> Result<Span, PhraseError> {
    if words.take(&["half"]) {
        words.take(&["a", "an"]);
        return if words.take(&["hour"]) {
            Ok(Span::from_millis(HOUR_MS / 2))
        } else {
            Err(words.refuse(Part::Duration))
        };
    }
    let mut millis: u64 = 0;
    let mut parts = 0;
    while starts(words) {
        let part = read_part(words)?;
        let too_long = || PhraseError::BadDuration { text: "a sum beyond 64 bits".into() };
        millis = millis.checked_add(part).ok_or_else(too_long)?;
        parts += 1;
        // `and` belongs to the duration only if more of it follows.
        if words.take(&["and"]) && !starts(words) {
            words.back();
            break;
        }
    }
    if parts == 0 { Err(words.refuse(Part::Duration)) } else { Ok(Span::from_millis(millis)) }
}

/// Returns whether the next word can begin a duration.
pub(super) fn starts(words: &Words<'_>) -> bool {
    words
        .peek()
        .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()) || matches!(word, "a" | "an"))
}

/// Parses one word such as `1h30m`, or a number and its unit.
fn read_part(words: &mut Words<'_>) -> Result<u64, PhraseError> {
    if words.take(&["a", "an"]) {
        return read_unit(words);
    }
    let Some(word) = words.next().map(str::to_owned) else {
        return Err(words.refuse(Part::Duration));
    };
    let bad = || PhraseError::BadDuration { text: cut(&word) };
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        let number: u64 = word.parse().map_err(|_| bad())?;
        return read_unit(words)?.checked_mul(number).ok_or_else(bad);
    }
    let mut rest = word.as_str();
    let mut millis: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(bad)?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let number: u64 = number.parse().map_err(|_| bad())?;
        let part = unit_ms(unit)?.ok_or_else(bad)?.checked_mul(number).ok_or_else(bad)?;
        millis = millis.checked_add(part).ok_or_else(bad)?;
        rest = tail;
    }
    Ok(millis)
}

fn read_unit(words: &mut Words<'_>) -> Result<u64, PhraseError> {
    let unit = words.peek().map_or(Ok(None), unit_ms)?;
    let unit = unit.ok_or_else(|| words.refuse(Part::Duration))?;
    words.next();
    Ok(unit)
}

/// Returns the milliseconds of a unit; `None` if the word is not a unit.
pub(super) fn unit_ms(unit: &str) -> Result<Option<u64>, PhraseError> {
    Ok(Some(match unit {
        "ms" => 1,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
        "h" | "hr" | "hrs" | "hour" | "hours" => HOUR_MS,
        "d" | "day" | "days" => 24 * HOUR_MS,
        "w" | "wk" | "week" | "weeks" => 7 * 24 * HOUR_MS,
        // Known words get an error of their own: a month of 30 days would be wrong in most
        // months.
        "mo" | "month" | "months" => return Err(PhraseError::NoFixedLength { unit: "month".into() }),
        "y" | "yr" | "year" | "years" => return Err(PhraseError::NoFixedLength { unit: "year".into() }),
        _ => return Ok(None),
    }))
}

/// Prints whole milliseconds in the longest unit that divides them: `90 minutes`.
pub fn print(span: Span) -> String {
    let millis = span.millis();
    let units = [(24 * HOUR_MS, "day"), (HOUR_MS, "hour"), (60_000, "minute"), (1_000, "second")];
    let fitting = units.into_iter().find(|(unit, _)| millis > 0 && millis.is_multiple_of(*unit));
    match fitting {
        Some((unit, name)) if millis == unit => format!("1 {name}"),
        Some((unit, name)) => format!("{} {name}s", millis / unit),
        None => format!("{millis} ms"),
    }
}

const HOUR_MS: u64 = 3_600_000;

//! Parser and printer of durations: `5m`, `1h30m`, `2 hours and 15 minutes`, `half an hour`, `five minutes`.

use super::error::{Part, PhraseError};
use super::numbers;
use super::words::{Words, cut};
use crate::domain::Span;

/// Parses a duration of at least one part.
pub(super) fn read(words: &mut Words<'_>) -> Result<Span, PhraseError> {
    if !starts(words) {
        return Err(words.refuse(Part::Duration));
    }
    let first = read_part(words)?;
    read_more(first, words)
}

/// Parses a period, which may be a unit alone: `every hour`.
pub(super) fn read_period(words: &mut Words<'_>) -> Result<Span, PhraseError> {
    if words.peek().map_or(Ok(None), unit_ms)?.is_none() {
        return read(words);
    }
    let first = read_units(words, 1)?;
    read_more(first, words)
}

/// Returns whether a period comes next.
pub(super) fn starts_period(words: &Words<'_>) -> bool {
    starts(words) || words.peek().is_some_and(|word| !matches!(unit_ms(word), Ok(None)))
}

/// Parses the other parts of a duration.
fn read_more(first: u64, words: &mut Words<'_>) -> Result<Span, PhraseError> {
    let mut millis = first;
    loop {
        let has_and = words.take(&["and"]);
        if !starts(words) {
            // `and` belongs to the duration only if more of it follows.
            if has_and {
                words.back();
            }
            return Ok(Span::from_millis(millis));
        }
        let part = read_part(words)?;
        let too_long = || PhraseError::BadDuration { text: "a sum beyond 64 bits".into() };
        millis = millis.checked_add(part).ok_or_else(too_long)?;
    }
}

/// Returns whether the next word can begin a duration.
pub(super) fn starts(words: &Words<'_>) -> bool {
    let is_start = |word: &str| {
        // `3rd` begins a date, and no duration.
        let is_digits = word.starts_with(|c: char| c.is_ascii_digit()) && numbers::ordinal(word).is_none();
        is_digits || matches!(word, "a" | "an" | "half" | "quarter" | "couple")
    };
    words.peek().is_some_and(is_start) || numbers::starts(words)
}

/// Parses one word such as `1h30m`, or a quantity and its unit.
fn read_part(words: &mut Words<'_>) -> Result<u64, PhraseError> {
    if let Some(fraction) = take_fraction(words) {
        return read_fraction(words, fraction);
    }
    let has_article = words.take(&["a", "an"]);
    if let Some(fraction) = take_fraction(words).filter(|_| has_article) {
        return read_fraction(words, fraction);
    }
    if words.take(&["couple"]) {
        // `a couple of hours`, or without `of`.
        words.take(&["of"]);
        return read_units(words, 2);
    }
    if has_article {
        return read_units(words, 1);
    }
    if let Some(number) = numbers::take_word(words) {
        return read_units(words, number);
    }
    let Some(word) = words.next().map(str::to_owned) else {
        return Err(words.refuse(Part::Duration));
    };
    let bad = || PhraseError::BadDuration { text: cut(&word) };
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return read_units(words, word.parse().map_err(|_| bad())?);
    }
    if word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return times(&word, read_unit(words)?).ok_or_else(bad);
    }
    // Any other word is numbers and units without blanks, such as `1h30m`.
    let mut rest = word.as_str();
    let mut millis: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(bad)?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let unit = unit_ms(unit)?.ok_or_else(bad)?;
        millis = millis.checked_add(times(number, unit).ok_or_else(bad)?).ok_or_else(bad)?;
        rest = tail;
    }
    Ok(millis)
}

/// Consumes `half` or `quarter`, and returns how many of them make a whole.
fn take_fraction(words: &mut Words<'_>) -> Option<u64> {
    if words.take(&["half"]) {
        Some(2)
    } else if words.take(&["quarter"]) {
        Some(4)
    } else {
        None
    }
}

/// Parses the unit of a fraction: `half an hour`, `a quarter of an hour`, `half hour`.
fn read_fraction(words: &mut Words<'_>, parts: u64) -> Result<u64, PhraseError> {
    words.take(&["of"]);
    words.take(&["a", "an"]);
    Ok(read_unit(words)? / parts)
}

/// Parses the unit of a number, with a fraction before or after it: `2 and a half hours`, `an hour and a half`.
fn read_units(words: &mut Words<'_>, number: u64) -> Result<u64, PhraseError> {
    let too_long = || PhraseError::BadDuration { text: number.to_string().into() };
    if number == 3 && words.take(&["quarters"]) {
        return Ok(read_fraction(words, 4)? * 3);
    }
    // `and a half` stands before the unit or behind it, and not in both places.
    let before = words.take_all(&["and", "a", "half"]);
    let unit = read_unit(words)?;
    let after = !before && words.take_all(&["and", "a", "half"]);
    let half = if before || after { unit / 2 } else { 0 };
    unit.checked_mul(number).and_then(|whole| whole.checked_add(half)).ok_or_else(too_long)
}

/// Returns a number in digits, such as `1` or `1.5`, times a unit; `None` if that is not a whole number of milliseconds.
fn times(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(fraction) || number.ends_with('.') || fraction.len() > DECIMALS_MAX {
        return None;
    }
    let scale = 10_u64.pow(u32::try_from(fraction.len()).ok()?);
    let part = if fraction.is_empty() { 0 } else { fraction.parse::<u64>().ok()?.checked_mul(unit)? };
    // Nothing is rounded: a part of a millisecond is refused.
    let part = part.is_multiple_of(scale).then_some(part / scale)?;
    whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(part)
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
const DECIMALS_MAX: usize = 3;

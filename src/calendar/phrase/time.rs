//! Parser of times of day and days of the week in phrases: `9`, `9:30pm`, `17:30`, `noon`; `mon`,
//! `mondays`.

use super::error::{Part, PhraseError};
use super::words::{Words, cut};
use crate::domain::{TimeOfDay, Weekday, Weekdays};

/// Parses a time of day, with or without `at`. A bare hour is by the 24-hour clock.
pub(super) fn read(words: &mut Words<'_>) -> Result<TimeOfDay, PhraseError> {
    words.take(&["at"]);
    if !starts(words) {
        return Err(words.refuse(Part::Time));
    }
    if words.take(&["noon"]) {
        return Ok(TimeOfDay::NOON);
    }
    if words.take(&["midnight"]) {
        return Ok(TimeOfDay::MIDNIGHT);
    }
    let word = words.next().unwrap_or_default().to_owned();
    let half = ["am", "pm"].into_iter().find(|half| word.ends_with(half));
    let digits = half.map_or(word.as_str(), |half| &word[..word.len() - half.len()]);
    // `9pm` is one word, `9 pm` are two.
    let half = half.or_else(|| ["am", "pm"].into_iter().find(|half| words.take(&[half])));
    let bad = || PhraseError::BadTime { text: cut(&word) };
    let is_hour = (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let time = if is_hour {
        TimeOfDay::new(digits.parse().map_err(|_| bad())?, 0, 0)
    } else {
        TimeOfDay::parse(digits)
    };
    let time = time.ok_or_else(bad)?;
    // With am or pm the clock has hours 1 to 12: 12 am is midnight, 12 pm is noon, and 13 pm is an
    // error.
    let hour = match (half, time.hour()) {
        (None, hour) => hour,
        (Some("am"), hour @ 1..=11) => hour,
        (Some("am"), 12) => 0,
        (Some(_), hour @ 1..=11) => hour + 12,
        (Some("pm"), 12) => 12,
        (Some(_), _) => return Err(bad()),
    };
    TimeOfDay::new(hour, time.minute(), time.second()).ok_or_else(bad)
}

/// Returns whether the next word can be a time of day.
pub(super) fn starts(words: &Words<'_>) -> bool {
    let is_time =
        |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) || matches!(word, "noon" | "midnight");
    words.peek().is_some_and(is_time)
}

/// Parses days of the week: `mon`, `mondays and thursdays`, `weekdays`, `weekend`.
pub(super) fn read_days(words: &mut Words<'_>) -> Result<Weekdays, PhraseError> {
    if words.take(&["weekday", "weekdays"]) {
        return Ok(Weekdays::WORKDAYS);
    }
    if words.take(&["weekend", "weekends"]) {
        return Ok(Weekdays::WEEKEND);
    }
    let mut days = Vec::new();
    while let Some(day) = words.peek().and_then(weekday) {
        days.push(day);
        words.next();
        words.take(&["and", "&"]);
    }
    Weekdays::new(days).ok_or_else(|| words.refuse(Part::Day))
}

/// Returns the day that a word names: in full, in three letters, or in the plural.
pub(super) fn weekday(word: &str) -> Option<Weekday> {
    let singular = word.strip_suffix('s').filter(|word| word.ends_with("day")).unwrap_or(word);
    let is_short = |day: &Weekday| {
        singular == &day.name()[..3]
            || matches!(singular, "tues" | "weds" | "thur" | "thurs")
                && day.name().starts_with(&singular[..3])
    };
    Weekday::ALL.iter().copied().find(|day| day.name() == singular || is_short(day))
}

//! Parser of times of day and days of the week in phrases: `9`, `9:30pm`, `17:30`, `noon`, `8 in the evening`; `mon`,
//! `mondays`.

use super::error::{Part, PhraseError};
use super::numbers;
use super::words::{Words, cut};
use crate::domain::{TimeOfDay, Weekday, Weekdays};

/// A time of day as a phrase gives it.
#[derive(Clone, Debug)]
pub(super) struct Said {
    time: TimeOfDay,
    /// Whether the half of the day is certain: by am or pm, or by words such as noon.
    is_certain: bool,
    /// Whether it is the word midnight, which belongs to two days.
    pub(super) is_midnight: bool,
    /// The part of the day that is named with it.
    pub(super) part: Option<DayPart>,
    text: Box<str>,
}

/// A part of the day, which tells `at 8` from `at 20`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DayPart {
    Morning,
    Afternoon,
    Evening,
    Night,
}

/// Parses a time of day, with or without `at`. A bare hour is by the 24-hour clock.
pub(super) fn read(words: &mut Words<'_>) -> Result<TimeOfDay, PhraseError> {
    read_said(words)?.within(None)
}

/// Parses a time of day with the part of the day that may follow it: `8 in the evening`.
pub(super) fn read_said(words: &mut Words<'_>) -> Result<Said, PhraseError> {
    let mut said = read_clock(words)?;
    // `8 in the evening`, and `10 at night`.
    let is_part =
        words.take_all(&["in", "the"]) || words.peek() == Some("at") && words.peek_at(1) == Some("night");
    if is_part {
        words.take(&["at"]);
        let part = DayPart::take(words).ok_or_else(|| words.refuse(Part::Time))?;
        said.part = Some(part);
    }
    Ok(said)
}

fn read_clock(words: &mut Words<'_>) -> Result<Said, PhraseError> {
    words.take(&["at"]);
    if !starts(words) {
        return Err(words.refuse(Part::Time));
    }
    let word = words.next().unwrap_or_default().to_owned();
    let said = |time, is_certain| Said { time, is_certain, is_midnight: false, part: None, text: cut(&word) };
    if word == "noon" {
        return Ok(said(TimeOfDay::NOON, true));
    }
    if word == "midnight" {
        return Ok(Said { is_midnight: true, ..said(TimeOfDay::MIDNIGHT, true) });
    }
    let half = ["am", "pm"].into_iter().find(|half| word.ends_with(half));
    let digits = half.map_or(word.as_str(), |half| &word[..word.len() - half.len()]);
    words.take(&["o'clock", "oclock"]);
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
    let time = TimeOfDay::new(hour, time.minute(), time.second()).ok_or_else(bad)?;
    // `08:00` and hours from 13 on are by the 24-hour clock.
    Ok(said(time, half.is_some() || hour > 12 || digits.starts_with('0')))
}

impl Said {
    /// Returns the time in a part of the day: `8` in the evening is 20:00. A time that is not in that part is refused.
    pub(super) fn within(&self, part: Option<DayPart>) -> Result<TimeOfDay, PhraseError> {
        let bad = || PhraseError::BadTime { text: self.text.clone() };
        let part = match (part, self.part) {
            (Some(one), Some(two)) if one != two => return Err(bad()),
            (one, two) => one.or(two),
        };
        let Some(part) = part else { return Ok(self.time) };
        let hour = self.time.hour();
        let meant = match part {
            _ if part.has(hour) => hour,
            DayPart::Morning => return Err(bad()),
            DayPart::Afternoon | DayPart::Evening | DayPart::Night
                if !self.is_certain && part.has(hour + 12) =>
            {
                hour + 12
            }
            DayPart::Afternoon | DayPart::Evening | DayPart::Night => return Err(bad()),
        };
        TimeOfDay::new(meant, self.time.minute(), self.time.second()).ok_or_else(bad)
    }
}

impl Said {
    /// Returns the time of something that comes every day, where the hours after midnight are clear: `every night at 2`.
    pub(super) fn daily(&self, part: Option<DayPart>) -> Result<TimeOfDay, PhraseError> {
        // If two parts of the day are named, both must be the night.
        let is_night = self.part.or(part) == Some(DayPart::Night)
            && self.part.is_none_or(|it| Some(it) == part.or(self.part));
        if is_night && self.time.hour() < 6 { Ok(self.time) } else { self.within(part) }
    }
}

impl DayPart {
    /// Consumes a part of the day, if one comes next.
    pub(super) fn take(words: &mut Words<'_>) -> Option<DayPart> {
        let part = words.peek().and_then(DayPart::parse)?;
        words.next();
        Some(part)
    }

    /// Returns the part that a word names, in the plural as well.
    pub(super) fn parse(word: &str) -> Option<DayPart> {
        Some(match word.strip_suffix('s').unwrap_or(word) {
            "morning" => DayPart::Morning,
            "afternoon" => DayPart::Afternoon,
            "evening" => DayPart::Evening,
            "night" => DayPart::Night,
            _ => return None,
        })
    }

    /// Returns whether an hour of the 24-hour clock is in this part of the day. A night begins in the evening; its hours after
    /// midnight belong to the day after, so that nobody knows which day is meant.
    fn has(self, hour: u8) -> bool {
        match self {
            DayPart::Morning => hour < 12,
            DayPart::Afternoon => (12..=18).contains(&hour),
            DayPart::Evening => (16..=23).contains(&hour),
            DayPart::Night => (18..=23).contains(&hour),
        }
    }
}

/// Returns whether the next word can be a time of day.
pub(super) fn starts(words: &Words<'_>) -> bool {
    let is_time = |word: &str| {
        let is_digits = word.starts_with(|c: char| c.is_ascii_digit()) && numbers::ordinal(word).is_none();
        is_digits || matches!(word, "noon" | "midnight")
    };
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
        if words.take(&["to", "through"]) {
            let last = words.peek().and_then(weekday).ok_or_else(|| words.refuse(Part::Day))?;
            words.next();
            // From the day after the first up to the last, around the end of the week if need be.
            let after = Weekday::ALL.iter().cycle().skip_while(|it| **it != day).skip(1);
            days.extend(after.take_while(|it| **it != last));
            days.push(last);
        }
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

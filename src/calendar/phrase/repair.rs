//! Corrections of phrases and zones that were refused, where only one thing can have been meant.
//!
//! Invariant: a corrected phrase is understood, and differs from the given one in misspelt words, or says the same zone or the
//! same day of the month in another way.

use super::context::PhraseContext;
use super::error::PhraseError;
use super::understand::understand;
use crate::calendar::Zones;
use crate::domain::{Trigger, Weekdays, When, Zone, clearly_nearest};

/// A corrected phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repaired {
    /// The phrase.
    pub(crate) when: String,
    /// The zone that the phrase named in words.
    pub(crate) zone: Option<String>,
}

/// Corrects a phrase: misspelt words, and a zone given as the time of a place.
pub(crate) fn repair_phrase(phrase: &str, asked: &PhraseContext<'_>) -> Option<Repaired> {
    if let Some((rest, zone)) = split_place(phrase, asked.zones) {
        let asked = PhraseContext { zone: Zone::parse(&zone).ok()?, ..asked.clone() };
        let when = spelled(rest, &asked)?;
        return Some(Repaired { when, zone: Some(zone) });
    }
    let when = monthly(phrase, asked).or_else(|| spelled(phrase, asked))?;
    (when != phrase).then_some(Repaired { when, zone: None })
}

/// The cron expression of a phrase such as `every month on the 1st at 9`. A day that some months lack is none of it: cron
/// leaves those months out.
fn monthly(phrase: &str, asked: &PhraseContext<'_>) -> Option<String> {
    let lower = phrase.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let is_monthly = words.contains(&"monthly")
        || words.windows(2).any(|pair| ["every", "each"].contains(&pair[0]) && pair[1] == "month");
    let day = |word: &&str| {
        let number = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end))?;
        number.parse::<u8>().ok().filter(|day| (1..=28).contains(day))
    };
    let day_of_month = words.iter().find_map(day).filter(|_| is_monthly)?;
    let is_of_day = |word: &&str| MONTHLY_WORDS.contains(word) || day(word) == Some(day_of_month);
    let time: Vec<&str> = words.iter().copied().filter(|word| !is_of_day(word)).collect();
    let daily = understand(&format!("every day {}", time.join(" ")), asked).ok()?;
    let When::By(Trigger::Calendar(daily)) = daily.meant else { return None };
    let is_sayable =
        daily.weekdays == Weekdays::DAILY && daily.time.second() == 0 && daily.zone == asked.zone;
    is_sayable.then(|| format!("{} {} {day_of_month} * *", daily.time.minute(), daily.time.hour()))
}

/// The phrase with its misspelt words put right.
fn spelled(phrase: &str, asked: &PhraseContext<'_>) -> Option<String> {
    let mut phrase = phrase.to_owned();
    for _ in 0..WORDS_MAX {
        let wrong = match understand(&phrase, asked) {
            Ok(_) => return Some(phrase),
            Err(PhraseError::UnknownWord { word }) => word,
            Err(_) => return None,
        };
        phrase = replaced(&phrase, &wrong, meant(&wrong)?)?;
    }
    None
}

/// The word of the grammar that a misspelt one is.
fn meant(wrong: &str) -> Option<&'static str> {
    let wrong = wrong.to_lowercase();
    if WORDS.contains(&wrong.as_str()) {
        return None;
    }
    // Short words are too near to each other, and hardly anybody misses the first letter.
    let initial = wrong.chars().next().filter(|_| wrong.len() >= LETTERS_MIN)?;
    let words = WORDS.iter().filter(|word| word.starts_with(initial) && word.len() >= LETTERS_MIN);
    clearly_nearest(words.map(|word| (*word, *word)), &wrong)
}

/// The text with one of its words replaced; `None` unless the word occurs once.
fn replaced(text: &str, word: &str, by: &str) -> Option<String> {
    let is_end = |text: &str| text.chars().next().is_none_or(|c| c.is_whitespace() || c == ',');
    let is_start = |text: &str| text.chars().next_back().is_none_or(|c| c.is_whitespace() || c == ',');
    let mut places = text
        .match_indices(word)
        .map(|(at, _)| at)
        .filter(|at| is_start(&text[..*at]) && is_end(&text[at + word.len()..]));
    let at = places.next()?;
    let is_only = places.next().is_none();
    is_only.then(|| format!("{}{by}{}", &text[..at], &text[at + word.len()..]))
}

/// Splits a place from the end of a phrase, as in `9am Berlin time` or `9am in Berlin`, and names its zone.
fn split_place<'a>(phrase: &'a str, zones: &Zones) -> Option<(&'a str, String)> {
    let words: Vec<&str> = phrase.split_whitespace().collect();
    let words = match words.split_last()? {
        (last, before) if last.eq_ignore_ascii_case("time") => before,
        _ => &words,
    };
    // The longest name first, so that `New York` is not a place called York.
    let named = |count: usize| {
        let (_, place) = words.split_at_checked(words.len().checked_sub(count)?)?;
        let place_text = place.join(" ");
        let zone = repair_offset(&place_text).or_else(|| of_place(&place_text, zones))?;
        let start = place.first()?.as_ptr().addr().checked_sub(phrase.as_ptr().addr())?;
        let rest = phrase.get(..start)?.trim_end();
        Some((rest.strip_suffix(" in").unwrap_or(rest).trim_end(), zone))
    };
    (1..=PLACE_WORDS_MAX).rev().find_map(named)
}

/// The zone that is meant by a name or an offset that was refused; `None` unless it is clear.
pub(crate) fn repair_zone(text: &str, zones: &Zones) -> Option<String> {
    let text = text.trim();
    if zones.canonical(text).is_some() {
        return None;
    }
    repair_offset(text).or_else(|| of_place(text, zones)).or_else(|| {
        let lower = |name: &str| name.to_ascii_lowercase();
        let names: Vec<(&str, String)> = zones.names().map(|name| (name, lower(name))).collect();
        let near = clearly_nearest(names.iter().map(|(name, lower)| (*name, lower.as_str())), &lower(text));
        // A short name is near to many others by chance.
        near.filter(|name| name.contains('/')).map(str::to_owned)
    })
}

/// The offset from UTC in its one form, such as `+02:00` for `GMT+2`; `None` if the text already has it, or is none.
pub(crate) fn repair_offset(text: &str) -> Option<String> {
    let text = text.trim().replace('\u{2212}', "-");
    let is_prefixed =
        text.get(..3).is_some_and(|head| ["utc", "gmt"].iter().any(|it| head.eq_ignore_ascii_case(it)));
    let bare = if is_prefixed { text.get(3..)?.trim() } else { &text };
    let sign = bare.chars().next().filter(|sign| ['+', '-'].contains(sign))?;
    let (hours, minutes) = match bare[1..].split_once(':') {
        Some(parts) => parts,
        None if bare.len() == 5 => bare.split_at_checked(3).map(|(hours, minutes)| (&hours[1..], minutes))?,
        None => (&bare[1..], "00"),
    };
    let number = |text: &str| text.parse::<u8>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    let fixed = format!("{sign}{:02}:{:02}", number(hours)?, number(minutes).filter(|it| *it < 60)?);
    (Zone::parse(&fixed).is_ok() && fixed != text).then_some(fixed)
}

/// The only zone whose name ends in this place.
fn of_place(place: &str, zones: &Zones) -> Option<String> {
    let place = place.trim().replace(' ', "_");
    let is_there = |name: &&str| name.rsplit_once('/').is_some_and(|(_, it)| it.eq_ignore_ascii_case(&place));
    let mut there = zones.names().filter(is_there);
    let zone = there.next()?;
    there.next().is_none().then(|| zone.to_owned())
}

/// The words that surround the day of a month.
const MONTHLY_WORDS: &[&str] = &["every", "each", "month", "monthly", "on", "the", "of"];
/// The most misspelt words of one phrase that are corrected.
const WORDS_MAX: u32 = 4;
const LETTERS_MIN: usize = 4;
/// `Dar es Salaam` has three.
const PLACE_WORDS_MAX: usize = 3;
/// The words that phrases have. One that the grammar does not take anywhere does no harm: the result would be refused.
const WORDS: &[&str] = &[
    "second",
    "seconds",
    "minute",
    "minutes",
    "hour",
    "hours",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "today",
    "tonight",
    "tomorrow",
    "noon",
    "midnight",
    "morning",
    "afternoon",
    "evening",
    "night",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mondays",
    "tuesdays",
    "wednesdays",
    "thursdays",
    "fridays",
    "saturdays",
    "sundays",
    "weekday",
    "weekdays",
    "weekend",
    "weekends",
    "every",
    "each",
    "other",
    "daily",
    "weekly",
    "hourly",
    "monthly",
    "yearly",
    "next",
    "first",
    "third",
    "fourth",
    "last",
    "half",
    "quarter",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "from",
    "until",
    "after",
    "three",
    "four",
    "five",
    "seven",
    "eight",
    "nine",
    "eleven",
    "twelve",
    "fifteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "couple",
    "this",
    "with",
    "past",
    "then",
];

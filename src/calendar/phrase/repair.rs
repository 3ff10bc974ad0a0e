//! Corrections of phrases and zones that were refused, where only one thing can have been meant.
//!
//! Invariant: a corrected phrase is understood, and differs from the given one in misspelt words, or says the same zone in
//! another way.

use super::context::PhraseContext;
use super::duration;
use super::error::PhraseError;
use super::understand::understand;
use super::words::Words;
use crate::calendar::{Zones, zone_names};
use crate::domain::{Span, Zone, clearly_nearest};

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
    let when = spelled(phrase, asked)?;
    (when != phrase).then_some(Repaired { when, zone: None })
}

/// The delay that these words are, such as `in ten minutes`; `None` if they are more than a delay, or none.
pub(crate) fn delay_in_words(phrase: &str) -> Option<Span> {
    let mut words = Words::new(phrase);
    words.take(&["in"]);
    let delay = duration::read(&mut words).ok()?;
    words.peek().is_none().then_some(delay)
}

/// The phrase with its misspelt words put right.
fn spelled(phrase: &str, asked: &PhraseContext<'_>) -> Option<String> {
    let mut phrase = phrase.to_owned();
    // The parser names one word at a time, so each round corrects one.
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
    // A word that phrases have is not misspelt, but in the wrong place.
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
        // A zone's own name is one word: what stands before it is another clause of the phrase.
        if count > 1 && place_text.contains('/') {
            return None;
        }
        let zone = repair_offset(&place_text).or_else(|| zones.place(&place_text))?;
        // The words are slices of the phrase, so their addresses say where the place begins.
        let start = place.first()?.as_ptr().addr().checked_sub(phrase.as_ptr().addr())?;
        let rest = phrase.get(..start)?.trim_end();
        Some((rest.strip_suffix(" in").unwrap_or(rest).trim_end(), zone))
    };
    (1..=PLACE_WORDS_MAX).rev().find_map(named)
}

/// The zone that is meant by a name or an offset that was refused; `None` unless it is clear.
pub(crate) fn repair_zone(text: &str, zones: &Zones) -> Option<String> {
    zones.named(text.trim()).err()?.meant()
}

/// The offset from UTC in its one form, such as `+02:00` for `GMT+2`; `None` if the text already has it, or is none.
pub(crate) fn repair_offset(text: &str) -> Option<String> {
    zone_names::offset_in(text.trim()).map(|zone| zone.to_string()).filter(|fixed| fixed != text)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Moment;

    #[test]
    fn a_zone_takes_no_other_clause_with_it() {
        let (zones, now) = (Zones::bundled(), Moment::parse("2026-11-27T07:00:00Z").expect("an instant"));
        let asked = PhraseContext { now, zone: Zone::Utc, zones: &zones };
        let fixed = |phrase| repair_phrase(phrase, &asked).map(|fixed| (fixed.when, fixed.zone));
        let berlin = Some("Europe/Berlin".to_owned());
        assert_eq!(fixed("tomorow at 9 in Berlin"), Some(("tomorrow at 9".to_owned(), berlin)));
        // There every second day at nine cannot be kept, and every second day is not what was asked.
        assert_eq!(fixed("every 2 days at 9 Europe/Berlin"), None);
    }
}

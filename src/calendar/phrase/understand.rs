//! Entry point of the phrase parser: from a phrase to its meaning, with an echo.

use super::context::PhraseContext;
use super::error::PhraseError;
use super::words::{Words, cut};
use super::{echo, once, recurring};
use crate::calendar::cron::parse_cron;
use crate::calendar::{Slots, Warning, ZoneFault};
use crate::domain::{Moment, Trigger, When, Zone};
use crate::limits;

/// The meaning of a phrase, with what an answer shows to its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Understood {
    /// What the phrase means.
    pub meant: When,
    /// The meaning in words, with the zone.
    pub words: String,
    /// The zone whose clock was read.
    pub(crate) zone: Zone,
    /// The next instants, at most three.
    pub next: Vec<Moment>,
    /// What the author should be warned about.
    pub warnings: Vec<Warning>,
}

/// Parses a time phrase.
///
/// # Errors
/// [`PhraseError`], which names the word at fault and suggests what to write instead.
///
/// ```
/// use reveille::calendar::{PhraseContext, Zones, understand};
/// use reveille::domain::{Moment, Zone};
///
/// let zones = Zones::bundled();
/// let now = Moment::parse("2026-04-22T13:00:00Z")?;
/// let asked = PhraseContext { now, zone: Zone::parse("Europe/Berlin")?, zones: &zones };
/// let understood = understand("weekdays at 8:30", &asked)?;
/// assert_eq!(understood.words, "every weekday (monday to friday) at 08:30 (Europe/Berlin)");
/// assert_eq!(understood.next[0].to_string(), "2026-04-23T06:30:00Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn understand(phrase: &str, asked: &PhraseContext<'_>) -> Result<Understood, PhraseError> {
    if u64::try_from(phrase.len()).unwrap_or(u64::MAX) > limits::PHRASE_BYTES.value {
        return Err(PhraseError::TooLong);
    }
    let phrase = phrase.trim();
    let (rest, zone) = split_zone(phrase, asked)?;
    let zone = match zone {
        Some(zone) => zone,
        // Checked even if the phrase reads no clock: the caller wants to know that the zone is misspelt.
        None => {
            asked.zones.known(asked.zone.clone()).map_err(|fault| PhraseError::Zone { fault, fix: None })?
        }
    };
    let asked = PhraseContext { zone, ..asked.clone() };
    if rest.is_empty() {
        return Err(if phrase.is_empty() {
            PhraseError::Empty
        } else {
            PhraseError::UnknownWord { word: cut(phrase) }
        });
    }
    let (meant, warning) = read(rest, &asked)?;
    let warnings: Vec<Warning> = warning.into_iter().collect();
    let next = match &meant {
        When::After(span) => asked.now.checked_add(*span).into_iter().collect(),
        When::At(moment) => vec![*moment],
        When::Each(_) => {
            let trigger = meant.clone().resolve(asked.now);
            trigger
                .map(|trigger| Slots::new(&trigger, asked.zones).upcoming(asked.now, SHOWN))
                .unwrap_or_default()
        }
        When::By(trigger) => Slots::new(trigger, asked.zones).upcoming(asked.now, SHOWN),
    };
    let words = echo::words(&meant, &asked);
    Ok(Understood { meant, words, zone: asked.zone, next, warnings })
}

/// Parses a phrase without its zone. Cron comes first, because no other phrase begins like it;
/// recurring phrases come before single instants, because both may begin with a day of the week.
fn read(text: &str, asked: &PhraseContext<'_>) -> Result<(When, Option<Warning>), PhraseError> {
    if is_cron(text) {
        let cron = parse_cron(text)?;
        return Ok((When::By(Trigger::Cron(cron.into(), asked.zone.clone().into())), None));
    }
    let mut words = Words::new(text);
    let answer = if recurring::starts(&words) {
        (When::By(recurring::read(&mut words, asked)?), None)
    } else {
        once::read(&mut words, asked)?
    };
    words.finish()?;
    Ok(answer)
}

/// Returns whether a text is cron: an alias, or two fields of signs and digits. Of the other phrases
/// only a date with an hour begins like that.
fn is_cron(text: &str) -> bool {
    let is_field = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit() || b"*,-/?".contains(&byte));
    let mut words = text.split_ascii_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_date = first.len() == 10 && first.bytes().filter(|byte| *byte == b'-').count() == 2;
    first.starts_with(['@', '*']) || !second.is_empty() && is_field(first) && is_field(second) && !is_date
}

/// Splits the zone from the end of a phrase, with or without `in`, and returns the rest before it.
fn split_zone<'a>(
    phrase: &'a str,
    asked: &PhraseContext<'_>,
) -> Result<(&'a str, Option<Zone>), PhraseError> {
    if let Some(quoted) = phrase.strip_suffix('"') {
        // `print` quotes names that contain spaces or look like no zone.
        let Some((rest, name)) = quoted.rsplit_once('"') else {
            return Err(PhraseError::UnknownWord { word: cut(phrase) });
        };
        return zone_after(without_in(rest), asked.zones.named(name));
    }
    let (rest, last) = phrase.rsplit_once([' ', '\t']).unwrap_or(("", phrase));
    if rest.is_empty() {
        return Ok((phrase, None));
    }
    if is_zone(last, asked) {
        return zone_after(without_in(rest), asked.zones.named(last));
    }
    match informal(phrase, asked) {
        Some((rest, fault)) => zone_after(rest, Err(fault)),
        None => Ok((phrase, None)),
    }
}

/// Returns the zone with the phrase before it, or an error with the phrase as it would be right.
fn zone_after(rest: &str, zone: Result<Zone, ZoneFault>) -> Result<(&str, Option<Zone>), PhraseError> {
    zone.map(|zone| (rest, Some(zone))).map_err(|fault| {
        let fix = fault.meant().map(|zone| format!("{rest} {zone}").into());
        PhraseError::Zone { fault, fix }
    })
}

/// Finds words at the end of a phrase that people use for a zone, such as `Pacific Time`, or a misspelt place after `in`.
fn informal<'a>(phrase: &'a str, asked: &PhraseContext<'_>) -> Option<(&'a str, ZoneFault)> {
    // The longest first: `new york` before `york`.
    let starts = phrase.char_indices().filter(|(_, letter)| letter.is_whitespace()).map(|(at, _)| at);
    let starts: Vec<usize> = starts.collect();
    let last = starts.iter().rev().take(WORDS_OF_A_ZONE).rev();
    let mut tails = last.map(|at| (without_in(&phrase[..*at]), phrase[*at..].trim()));
    let found = tails.find_map(|(rest, tail)| Some((rest, asked.zones.informal(tail)?)));
    if found.is_some() {
        return found;
    }
    let (rest, place) = starts.last().map(|at| (&phrase[..*at], phrase[*at..].trim()))?;
    let before = without_in(rest);
    let fault = asked.zones.named(place).err().filter(|_| before.len() < rest.trim_end().len())?;
    fault.is_near().then_some((before, fault))
}

fn without_in(rest: &str) -> &str {
    let rest = rest.trim_end();
    rest.strip_suffix(" in").unwrap_or(rest).trim_end()
}

/// Returns whether a word is a zone: a name in the database, an offset, or two names with a slash
/// between. No other word of a phrase looks like that.
fn is_zone(word: &str, asked: &PhraseContext<'_>) -> bool {
    let is_name = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_offset = word.starts_with(['+', '-']) && word.contains(':');
    let is_prefixed = word
        .get(..3)
        .is_some_and(|head| head.eq_ignore_ascii_case("utc") || head.eq_ignore_ascii_case("gmt"));
    // At least four letters before the slash, so that `mon/wed` is no zone. Areas with fewer
    // letters, such as `Etc`, are found by their full names in the database.
    let is_label =
        word.split_once('/').is_some_and(|(area, place)| area.len() > 3 && is_name(area) && is_name(place));
    let is_local = word.eq_ignore_ascii_case("local");
    is_offset || is_prefixed || is_label || is_local || asked.zones.canonical(word).is_some()
}

const SHOWN: usize = 3;
/// The most words that a zone has, such as `central european summer time`.
const WORDS_OF_A_ZONE: usize = 4;

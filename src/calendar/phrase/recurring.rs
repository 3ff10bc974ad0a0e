//! Parser of phrases that mean a trigger: `every 5 minutes`, `every day at 9`, `weekdays at 8:30`.

use super::context::PhraseContext;
use super::error::{Part, PhraseError};
use super::words::Words;
use super::{duration, instant, time};
use crate::calendar::cron::parse_cron;
use crate::domain::{Calendar, CountFrom, Every, Span, Trigger, Weekdays};

/// Returns whether the phrase begins like a recurring one.
pub(super) fn starts(words: &Words<'_>) -> bool {
    let plural = |word: &str| word.ends_with("days") && time::weekday(word).is_some();
    let is_known = |word: &str| {
        matches!(word, "every" | "each" | "daily" | "weekly" | "hourly" | "weekdays" | "weekends")
            || plural(word)
    };
    words.peek().is_some_and(is_known)
}

/// Parses a recurring phrase to its trigger.
pub(super) fn read(words: &mut Words<'_>, asked: &PhraseContext<'_>) -> Result<Trigger, PhraseError> {
    if words.take(&["hourly"]) {
        // Cron, because `hourly` means the full hours of the clock and not every 3,600 seconds from some instant.
        return Ok(Trigger::Cron(parse_cron("@hourly")?.into(), asked.zone.clone().into()));
    }
    if words.take(&["daily"]) {
        return at_time(Weekdays::DAILY, words, asked);
    }
    if words.take(&["weekly"]) {
        words.take(&["on"]);
        return on_days(words, asked);
    }
    if !words.take(&["every", "each"]) {
        return on_days(words, asked);
    }
    if words.take(&["day"]) {
        return at_time(Weekdays::DAILY, words, asked);
    }
    if words.take(&["week"]) {
        words.take(&["on"]);
        return on_days(words, asked);
    }
    // Every second one, but counted from which? The phrase does not say.
    if words.take(&["other"]) {
        return Err(PhraseError::Ambiguous {
            text: "every other".into(),
            choices: "every 2 days, every 2 weeks, cron",
        });
    }
    if duration::starts(words) {
        let period = duration::read(words)?;
        return every(period, words, asked);
    }
    if let Some(millis) = words.peek().map_or(Ok(None), duration::unit_ms)? {
        words.next();
        return every(Span::from_millis(millis), words, asked);
    }
    on_days(words, asked)
}

fn on_days(words: &mut Words<'_>, asked: &PhraseContext<'_>) -> Result<Trigger, PhraseError> {
    let weekdays = time::read_days(words)?;
    at_time(weekdays, words, asked)
}

fn at_time(
    weekdays: Weekdays,
    words: &mut Words<'_>,
    asked: &PhraseContext<'_>,
) -> Result<Trigger, PhraseError> {
    let time = time::read(words)?;
    Ok(Trigger::Calendar(Box::new(Calendar { weekdays, time, zone: asked.zone.clone() })))
}

/// Parses what may follow a period: `from 2026-04-22T13:00:00Z` and `after each finish`.
fn every(period: Span, words: &mut Words<'_>, asked: &PhraseContext<'_>) -> Result<Trigger, PhraseError> {
    let anchor = if words.take(&["from"]) {
        if !instant::starts(words) {
            return Err(words.refuse(Part::Instant));
        }
        instant::read(words, asked)?.0
    } else {
        // One period ahead: the engine takes a slot at the anchor itself, and nobody who says `every 6 hours` means at once.
        asked.now.checked_add(period).ok_or(PhraseError::TooFar)?
    };
    let from = if words.take(&["after"]) {
        words.take(&["each", "every", "the"]);
        if !words.take(&["finish"]) {
            return Err(words.refuse(Part::Duration));
        }
        CountFrom::Finish
    } else {
        CountFrom::Slot
    };
    Every::new(period, anchor, from).map(Trigger::from).ok_or(PhraseError::Period)
}

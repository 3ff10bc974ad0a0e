//! Short forms of what a tool's answer mentions in passing: instants to the second, texts by their beginning.
//!
//! An answer about one thing that was asked for by its id has its texts whole. Pages of lists are in `page.rs`. Invariant: a
//! text that was cut says so, and how long it is.

use crate::calendar;
use crate::domain::{Moment, Trigger};
use crate::edn::Value;

/// Prints an instant to the second.
pub(crate) fn instant(moment: Moment) -> Value {
    Value::string(moment.brief().to_string())
}

/// Prints the instants within words, such as those of a trigger, to the second.
pub(crate) fn words(text: &str) -> String {
    let word = |word: &str| Moment::parse(word).map_or_else(|_| word.to_owned(), |it| it.brief().to_string());
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The words of a trigger that recurs: `every 2 hours from …`. For lists of tools whose own schedules are due once: other means
/// make theirs recur.
pub(crate) fn recurrence(trigger: &Trigger) -> Option<String> {
    match trigger {
        Trigger::At(_) | Trigger::Event(_) => None,
        Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..) => {
            Some(words(&calendar::print(trigger)))
        }
    }
}

/// The beginning of a text and its length: `Sum up what has… (60,000 characters)`. A text that would not be shorter then is
/// whole.
pub(crate) fn text(text: &str) -> String {
    let count = text.chars().count();
    if count <= SHOWN + NOTE {
        return text.to_owned();
    }
    let shown: String = text.chars().take(SHOWN).collect();
    format!("{}… ({} characters)", shown.trim_end(), grouped(count))
}

/// A number with commas: `60,000`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Characters that are shown of a text: enough to tell one thing from another.
const SHOWN: usize = 80;
/// Characters that the note of the length takes.
const NOTE: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_told_by_its_beginning_and_length() {
        for (given, expected) in [
            ("short", "short".to_owned()),
            (&"é".repeat(100), "é".repeat(100)),
            (&"é".repeat(101), format!("{}… (101 characters)", "é".repeat(80))),
            (&"a ".repeat(600_000), format!("{}… (1,200,000 characters)", "a ".repeat(40).trim_end())),
        ] {
            assert_eq!(text(given), expected);
        }
    }

    #[test]
    fn instants_are_told_to_the_second_unless_somebody_wrote_milliseconds() {
        for (given, expected) in [
            ("every 2 hours from 2026-04-22T12:00:00.397887993Z", "every 2 hours from 2026-04-22T12:00:00Z"),
            ("2026-04-22T12:00:00.250Z", "2026-04-22T12:00:00.250Z"),
            ("when the job \"a\" is ready", "when the job \"a\" is ready"),
        ] {
            assert_eq!(words(given), expected);
        }
    }
}

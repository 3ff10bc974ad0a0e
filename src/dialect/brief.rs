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

pub(crate) use crate::calendar::brief_words as words;
pub(crate) use crate::domain::excerpt as text;

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

#[cfg(test)]
mod tests {
    use super::*;

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

//! Printer of triggers: as phrases that parse back equal, at any time and place. Only an event has
//! no phrase: its words are for people.

use super::phrase::print_duration;
use crate::domain::{CountFrom, Event, Moment, Trigger, Weekday, Weekdays, Zone};

/// Prints the canonical phrase of a trigger. [`understand`](super::understand) parses it to an
/// equal trigger, as long as an instant in it has not passed.
///
/// ```
/// use reveille::calendar::{parse_cron, print};
/// use reveille::domain::{Trigger, Zone};
/// let trigger = Trigger::Cron(parse_cron("@daily")?.into(), Zone::Local.into());
/// assert_eq!(print(&trigger), "0 0 * * * local");
/// # Ok::<(), reveille::calendar::CronError>(())
/// ```
pub fn print(trigger: &Trigger) -> String {
    match trigger {
        Trigger::At(moment) => moment.to_string(),
        Trigger::Every(every) => {
            let (period, anchor) = (print_duration(every.period()), every.anchor());
            match every.from() {
                CountFrom::Slot => format!("every {period} from {anchor}"),
                CountFrom::Finish => format!("every {period} from {anchor} after each finish"),
            }
        }
        Trigger::Calendar(calendar) => {
            let days = match calendar.weekdays {
                Weekdays::DAILY => "every day".to_owned(),
                Weekdays::WORKDAYS => "weekdays".to_owned(),
                Weekdays::WEEKEND => "weekends".to_owned(),
                days => format!("every {}", print_weekdays(days)),
            };
            format!("{days} at {} {}", calendar.time, print_zone(&calendar.zone))
        }
        Trigger::Cron(cron, zone) => format!("{cron} {}", print_zone(zone)),
        Trigger::Event(event) => print_event(event),
    }
}

/// Prints the instants within words, such as those of a trigger, to the second.
pub(crate) fn brief_words(text: &str) -> String {
    let word = |word: &str| Moment::parse(word).map_or_else(|_| word.to_owned(), |it| it.brief().to_string());
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Prints days in words: `monday and thursday`.
pub(super) fn print_weekdays(days: Weekdays) -> String {
    let names: Vec<&str> = days.days().map(Weekday::name).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Prints an event. The job's id is in quotes, because it may be any text.
pub(super) fn print_event(event: &Event) -> String {
    let words = format!("when the job {:?} is ready", event.job.as_str());
    event.latest.map_or_else(|| words.clone(), |latest| format!("{words}, on {latest} at the latest"))
}

/// Prints a zone. A name that a parser might not recognize is in quotes.
fn print_zone(zone: &Zone) -> String {
    match zone {
        Zone::Named(name) if !is_plain(name.as_str()) => format!("\"{name}\"", name = name.as_str()),
        Zone::Utc | Zone::Local | Zone::Offset(_) | Zone::Named(_) => zone.to_string(),
    }
}

/// Returns whether every parser takes the name for a zone: two names with a slash between.
fn is_plain(name: &str) -> bool {
    let is_name = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
    // No look at the database: the text has to parse on a machine with another version of it.
    let is_word = !name.contains(|c: char| c.is_whitespace());
    is_word
        && name.split_once('/').is_some_and(|(area, place)| area.len() > 3 && is_name(area) && is_name(place))
}

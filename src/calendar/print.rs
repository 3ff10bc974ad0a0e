//! Triggers as phrases that parse back equal, whenever and wherever they are read. An event alone has no phrase: its words
//! are for people.

use super::phrase::{print_duration, print_weekdays};
use crate::domain::{CountFrom, Event, Trigger, Weekdays, Zone};

/// The canonical phrase of a trigger: [`understand`](super::understand) makes the same trigger of it, as long as an instant
/// in it has not passed.
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

/// A job's id stands in quotes, because it may be any text.
pub(super) fn print_event(event: &Event) -> String {
    let words = format!("when the job {:?} is ready", event.job.as_str());
    event.latest.map_or_else(|| words.clone(), |latest| format!("{words}, on {latest} at the latest"))
}

/// A name stands in quotes, because it may be one that no database knows.
fn print_zone(zone: &Zone) -> String {
    match zone {
        Zone::Named(name) if !is_plain(name.as_str()) => format!("\"{name}\"", name = name.as_str()),
        Zone::Utc | Zone::Local | Zone::Offset(_) | Zone::Named(_) => zone.to_string(),
    }
}

/// Two names with a slash between are a zone to any reader.
fn is_plain(name: &str) -> bool {
    let is_name = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_word = !name.contains(|c: char| c.is_whitespace());
    is_word
        && name.split_once('/').is_some_and(|(area, place)| area.len() > 3 && is_name(area) && is_name(place))
}

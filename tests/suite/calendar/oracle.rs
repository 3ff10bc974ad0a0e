//! The slow way: the history checker's own search, which asks every reading of the clock on the wall.
//!
//! It shares nothing with the crate's search, not even the grammar of cron: it is given the text.

use jiff::Timestamp;
use reveille::domain::{Calendar, Moment, Trigger, Weekday};
use reveille_checker::{self as checker, Day};

use super::at;

/// All slots in `(a, b]` of a calendar or cron trigger.
pub(crate) fn slots(trigger: &Trigger, a: i64, b: i64) -> Vec<Moment> {
    let trigger = match trigger {
        Trigger::Cron(cron, zone) => {
            checker::Trigger::Cron { expr: cron.to_string(), zone: zone.to_string() }
        }
        Trigger::Calendar(calendar) => {
            let Calendar { weekdays, time, zone } = &**calendar;
            let time = format!("{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second());
            let weekdays = weekdays.days().map(day).collect();
            checker::Trigger::Calendar { weekdays, time, zone: zone.to_string() }
        }
        Trigger::At(_) | Trigger::Every(_) | Trigger::Event(_) => panic!("not on a clock"),
    };
    let judged = |seconds| checker::Moment::new(seconds, 0).expect("within jiff's years");
    let slots = checker::slots(&trigger, judged(a), judged(b));
    let slots = slots.unwrap_or_else(|error| panic!("{trigger:?}: {error}"));
    slots.into_iter().map(|slot| at(slot.seconds())).collect()
}

fn day(weekday: Weekday) -> Day {
    match weekday {
        Weekday::Sunday => Day::Sunday,
        Weekday::Monday => Day::Monday,
        Weekday::Tuesday => Day::Tuesday,
        Weekday::Wednesday => Day::Wednesday,
        Weekday::Thursday => Day::Thursday,
        Weekday::Friday => Day::Friday,
        Weekday::Saturday => Day::Saturday,
    }
}

pub(crate) fn stamp(instant: i64) -> Timestamp {
    Timestamp::from_second(instant).expect("within jiff's years")
}

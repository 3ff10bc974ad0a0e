//! The echo of a phrase: what was understood, in words.

use super::context::PhraseContext;
use super::duration;
use crate::calendar::cron::Field;
use crate::calendar::pattern::SECONDS_PER_DAY;
use crate::calendar::print::print_weekdays;
use crate::domain::{CountFrom, Cron, Moment, Trigger, Weekday, Weekdays, When};
use crate::edn::civil_from_days;

/// Prints what was understood, with the zone.
pub(super) fn words(meant: &When, asked: &PhraseContext<'_>) -> String {
    let zone = asked.zones.resolved(&asked.zone);
    match meant {
        When::After(span) => {
            let instant = asked.now.checked_add(*span).unwrap_or(asked.now);
            let length =
                if span.nanos() == 0 { "now".into() } else { format!("in {}", duration::print(*span)) };
            format!("once, {length}: on {}", shown(instant, asked))
        }
        When::At(moment) | When::By(Trigger::At(moment)) => {
            format!("once, on {}", shown(*moment, asked))
        }
        When::Each(period) => format!("every {0}, for the first time in {0}", duration::print(*period)),
        When::By(Trigger::Every(every)) => {
            let (period, anchor) = (duration::print(every.period()), shown(every.anchor(), asked));
            match every.from() {
                // An anchor that has passed is no first slot.
                CountFrom::Slot if every.anchor() < asked.now => {
                    format!("every {period}, counted from {anchor}")
                }
                CountFrom::Slot => format!("every {period}, first on {anchor}"),
                CountFrom::Finish => format!("{period} after each run has finished, first on {anchor}"),
            }
        }
        When::By(Trigger::Calendar(calendar)) => {
            let days = match calendar.weekdays {
                Weekdays::DAILY => "every day".into(),
                Weekdays::WORKDAYS => "every weekday (monday to friday)".into(),
                days => format!("every {}", print_weekdays(days)),
            };
            format!("{days} at {} ({zone})", calendar.time)
        }
        When::By(trigger @ Trigger::Event(_)) => crate::calendar::print(trigger),
        When::By(Trigger::Cron(cron, _)) => format!("by cron {cron}: {} ({zone})", fields(cron)),
    }
}

/// Prints an instant: `thursday 23 April 2026 at 09:00 (Europe/Berlin, UTC+02:00)`.
fn shown(moment: Moment, asked: &PhraseContext<'_>) -> String {
    let offset = asked.zones.clock(&asked.zone).offset_at(moment.seconds());
    let reading = moment.seconds() + offset;
    let (days, second) = (reading.div_euclid(SECONDS_PER_DAY), reading.rem_euclid(SECONDS_PER_DAY));
    let (year, month, day) = civil_from_days(days);
    let index = |number: i64| usize::try_from(number).unwrap_or_default();
    // 1970-01-01 was a Thursday.
    let weekday = Weekday::ALL[index((days + 4).rem_euclid(7))].name();
    let month = MONTHS[index(month - 1)];
    let mut time = format!("{:02}:{:02}", second / 3_600, second / 60 % 60);
    if second % 60 != 0 {
        time += &format!(":{:02}", second % 60);
    }
    let minutes = offset.unsigned_abs() / 60;
    let sign = if offset < 0 { '-' } else { '+' };
    let name = asked.zones.resolved(&asked.zone);
    let zone = match offset {
        0 => name.to_string(),
        _ => format!("{name}, UTC{sign}{:02}:{:02}", minutes / 60, minutes % 60),
    };
    format!("{weekday} {day} {month} {year} at {time} ({zone})")
}

/// Prints the fields that restrict, by name.
fn fields(cron: &Cron) -> String {
    let mut said: Vec<String> = Vec::new();
    for (field, text) in Field::ALL.iter().zip(cron.as_str().split(' ')) {
        if text != "*" {
            said.push(format!("{} {text}", field.name()));
        }
    }
    let days = &cron.fields().days;
    // Of two fields of days that both restrict, one is enough: the echo says "or", because readers
    // expect "and".
    if days.of_month_restricts && days.of_week_restricts {
        let of_week = said.pop().unwrap_or_default();
        said.push(format!("or {of_week}"));
    }
    if said.is_empty() { "every minute".into() } else { said.join(", ") }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

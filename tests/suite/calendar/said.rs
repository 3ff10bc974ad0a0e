//! Phrases as people say them, made from what they mean, against a second computation of it: jiff's civil days, one by one.

use jiff::civil::{Date, Weekday as Day};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use reveille::calendar::{PhraseContext, understand};
use reveille::domain::{Moment, Zone};

use super::laws::{cases, timezone};
use super::oracle::stamp;
use super::{at, zones};

/// The days that a phrase names.
#[derive(Clone, Debug)]
enum Days {
    Daily,
    Workdays,
    Weekend,
    Weekday(Day),
    OfMonth(i8),
    LastOfMonth,
    NthWeekday(Day, i8),
    LastWeekday(Day),
    OfYear(i8, i8),
}

#[derive(Clone, Debug)]
struct Case {
    days: Days,
    hour: i8,
    minute: i8,
    /// Chooses between ways to say the days and the time.
    ways: (usize, usize),
    once: bool,
}

const DAYS: [(Day, &str); 7] = [
    (Day::Monday, "monday"),
    (Day::Tuesday, "Tuesday"),
    (Day::Wednesday, "wed"),
    (Day::Thursday, "Thursday"),
    (Day::Friday, "friday"),
    (Day::Saturday, "SATURDAY"),
    (Day::Sunday, "sunday"),
];
const MONTHS: [&str; 12] = [
    "January",
    "feb",
    "March",
    "april",
    "May",
    "june",
    "July",
    "aug",
    "September",
    "october",
    "Nov",
    "December",
];
const NTH: [&str; 4] = ["first", "2nd", "third", "4th"];

impl Days {
    fn has(&self, date: Date) -> bool {
        let nth = (date.day() - 1) / 7 + 1;
        let is_last = date.last_of_month().day() - date.day() < 7;
        match *self {
            Days::Daily => true,
            Days::Workdays => !matches!(date.weekday(), Day::Saturday | Day::Sunday),
            Days::Weekend => matches!(date.weekday(), Day::Saturday | Day::Sunday),
            Days::Weekday(day) => date.weekday() == day,
            Days::OfMonth(day) => date.day() == day,
            Days::LastOfMonth => date == date.last_of_month(),
            Days::NthWeekday(day, n) => date.weekday() == day && nth == n,
            Days::LastWeekday(day) => date.weekday() == day && is_last,
            Days::OfYear(month, day) => (date.month(), date.day()) == (month, day),
        }
    }

    /// Ways to say it of something recurring.
    fn ways(&self) -> Vec<String> {
        let say = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        match *self {
            Days::Daily => say(&["every day", "each day", "daily", "Every Day"]),
            Days::Workdays => say(&["weekdays", "every weekday", "on weekdays", "every monday to friday"]),
            Days::Weekend => {
                say(&["weekends", "every weekend", "on saturdays and sundays", "every sat, sun"])
            }
            Days::Weekday(day) => {
                let name = name(day);
                vec![format!("every {name}"), format!("weekly on {name}"), format!("each week on {name}")]
            }
            Days::OfMonth(day) => {
                let nth = ordinal(day);
                vec![
                    format!("every month on the {nth}"),
                    format!("on the {nth} of every month"),
                    format!("monthly on the {nth}"),
                    format!("the {nth} of each month"),
                    format!("every {nth} of the month"),
                    format!("monthly on day {day}"),
                ]
            }
            Days::LastOfMonth => say(&["on the last day of the month", "every month on the last day"]),
            Days::NthWeekday(day, n) => {
                let (name, nth) = (name(day), NTH[usize::try_from(n - 1).expect("one to four")]);
                vec![
                    format!("the {nth} {name} of the month"),
                    format!("every {nth} {name} of the month"),
                    format!("monthly on the {nth} {name}"),
                ]
            }
            Days::LastWeekday(day) => {
                let name = name(day);
                vec![
                    format!("last {name} of the month"),
                    format!("on the last {name} of every month"),
                    format!("every month on the last {name}"),
                ]
            }
            Days::OfYear(month, day) => {
                let (month, nth) = (MONTHS[usize::try_from(month - 1).expect("a month")], ordinal(day));
                vec![
                    format!("every year on {day} {month}"),
                    format!("yearly on {month} {nth}"),
                    format!("every {month} {nth}"),
                    format!("every {nth} of {month}"),
                ]
            }
        }
    }

    /// Ways to say it of something single; none if nobody would.
    fn ways_once(&self) -> Vec<String> {
        match *self {
            Days::Weekday(day) => vec![name(day).to_owned(), format!("on {}", name(day))],
            Days::OfMonth(day) => vec![format!("on the {}", ordinal(day)), format!("the {}", ordinal(day))],
            Days::OfYear(month, day) => {
                let (month, nth) = (MONTHS[usize::try_from(month - 1).expect("a month")], ordinal(day));
                vec![
                    format!("on {day} {month}"),
                    format!("{month} {nth}"),
                    format!("on the {nth} of {month}"),
                    format!("{month} {day}"),
                    format!("on {month} the {nth}"),
                ]
            }
            Days::Daily
            | Days::Workdays
            | Days::Weekend
            | Days::LastOfMonth
            | Days::NthWeekday(..)
            | Days::LastWeekday(_) => Vec::new(),
        }
    }
}

fn name(day: Day) -> &'static str {
    DAYS.iter().find(|(it, _)| *it == day).map(|(_, name)| *name).expect("seven days")
}

fn ordinal(day: i8) -> String {
    let end = match day {
        1 | 21 | 31 => "st",
        2 | 22 => "nd",
        3 | 23 => "rd",
        _ => "th",
    };
    format!("{day}{end}")
}

/// Ways to say a time of day.
fn times(hour: i8, minute: i8) -> Vec<String> {
    let (twelve, half) = ((hour + 11) % 12 + 1, if hour < 12 { "am" } else { "pm" });
    let mut ways = vec![
        format!("{hour:02}:{minute:02}"),
        format!("at {hour}:{minute:02}"),
        format!("at {twelve}:{minute:02}{half}"),
        format!("{twelve}:{minute:02} {half}"),
        format!("at {twelve}:{minute:02} {}.m.", &half[..1]),
    ];
    if minute == 0 {
        ways.extend([
            format!("at {twelve}{half}"),
            format!("at {twelve} o'clock {half}"),
            format!("at {hour}"),
        ]);
    }
    let part = match hour {
        4..=11 => Some("in the morning"),
        13..=17 => Some("in the afternoon"),
        18..=23 => Some("in the evening"),
        _ => None,
    };
    ways.extend(part.map(|part| format!("at {twelve}:{minute:02} {part}")));
    if (hour, minute) == (12, 0) {
        ways.push("at noon".to_owned());
    }
    ways
}

impl Case {
    fn phrase(&self) -> Option<String> {
        let days = if self.once { self.days.ways_once() } else { self.days.ways() };
        let (day, time) = (days.get(self.ways.0 % days.len().max(1))?, times(self.hour, self.minute));
        let time = &time[self.ways.1 % time.len()];
        // The time may come first.
        Some(if self.ways.1.is_multiple_of(2) || self.once && self.ways.0.is_multiple_of(2) {
            format!("{day} {time}")
        } else {
            format!("{time} {day}")
        })
    }

    /// The next slots, at most `most`: every day is asked.
    fn slots(&self, now: i64, zone: &TimeZone, most: usize) -> Vec<Moment> {
        let mut date = stamp(now).to_zoned(zone.clone()).date();
        let mut slots = Vec::new();
        while slots.len() < most {
            if self.days.has(date) {
                let slot = date.at(self.hour, self.minute, 0, 0).to_zoned(zone.clone()).expect("a time");
                let slot = slot.timestamp().as_second();
                slots.extend((slot > now).then(|| at(slot)));
            }
            date = date.tomorrow().expect("far from the last day");
        }
        slots
    }
}

fn days() -> impl Strategy<Value = Days> {
    let day = || prop::sample::select(DAYS.map(|(day, _)| day).to_vec());
    prop_oneof![
        1 => Just(Days::Daily),
        1 => Just(Days::Workdays),
        1 => Just(Days::Weekend),
        2 => day().prop_map(Days::Weekday),
        2 => (1..29_i8).prop_map(Days::OfMonth),
        1 => Just(Days::LastOfMonth),
        2 => (day(), 1..5_i8).prop_map(|(day, n)| Days::NthWeekday(day, n)),
        2 => day().prop_map(Days::LastWeekday),
        2 => (1..13_i8, 1..29_i8).prop_map(|(month, day)| Days::OfYear(month, day)),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    // From 4 on, no clock of these zones skips a time.
    let time = (4..24_i8, prop_oneof![Just(0_i8), 0..60_i8]);
    (days(), time, (0..60_usize, 0..60_usize), any::<bool>())
        .prop_map(|(days, (hour, minute), ways, once)| Case { days, hour, minute, ways, once })
}

fn number(n: u64) -> String {
    const ONES: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let index = |n: u64| usize::try_from(n).expect("small");
    match n {
        0..20 => ONES[index(n)].to_owned(),
        _ if n.is_multiple_of(10) => TENS[index(n / 10 - 2)].to_owned(),
        _ => format!("{}-{}", TENS[index(n / 10 - 2)], ONES[index(n % 10)]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4_000), ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_is_what_is_meant(
        case in case(),
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe"]),
        now in 1_700_000_000..2_500_000_000_i64,
    ) {
        let Some(phrase) = case.phrase() else { return Ok(()) };
        let asked = PhraseContext { now: at(now), zone: Zone::parse(zone).expect("a zone"), zones: zones() };
        let understood = understand(&phrase, &asked);
        let next = understood.map(|understood| understood.next).map_err(|error| error.to_string());
        let most = if case.once { 1 } else { 3 };
        prop_assert_eq!(next, Ok(case.slots(now, &timezone(zone), most)), "{}", phrase);
        // A word that is left is refused.
        for more in ["until friday", "or so", "except holidays", "9"] {
            prop_assert!(understand(&format!("{phrase} {more}"), &asked).is_err(), "{phrase} {more}");
        }
    }

    #[test]
    fn numbers_in_words_are_numbers(n in 1..100_u64, way in 0..4_usize, unit in 0..3_usize) {
        let (name, seconds) = [("minute", 60), ("hour", 3_600), ("day", 86_400)][unit];
        let now = at(1_800_000_000);
        let asked = PhraseContext { now, zone: Zone::Utc, zones: zones() };
        let (phrase, halves) = match way {
            0 => (format!("in {} {name}s", number(n)), 2 * n),
            1 => (format!("in {} and a half {name}s", number(n)), 2 * n + 1),
            2 => (format!("in {n}.5 {name}s"), 2 * n + 1),
            _ => (format!("in {} {name}s and a half", number(n).replace('-', " ")), 2 * n + 1),
        };
        let next = understand(&phrase, &asked).map(|understood| understood.next);
        let expected = 1_800_000_000 + i64::try_from(halves).expect("small") * seconds / 2;
        prop_assert_eq!(next, Ok(vec![at(expected)]), "{}", phrase);
        let every = understand(&phrase.replacen("in", "every", 1), &asked).map(|understood| understood.next[0]);
        prop_assert_eq!(every, Ok(at(expected)), "{}", phrase);
    }
}

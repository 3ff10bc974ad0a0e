//! Phrases: a table of what they mean, and laws over random ones.

use std::fmt::Write as _;

use proptest::prelude::*;
use reveille::calendar::{PhraseContext, Warning, Zones, from_edn, print, to_edn, understand};
use reveille::domain::{CountFrom, Every, Moment, Span, Trigger, When, Zone};
use reveille::edn::{Value, read};

use super::laws::{cases, trigger};
use super::{CAPS, items, listed, moment, table, text, zones};

fn asked<'a>(row: &Value, zones: &'a Zones) -> PhraseContext<'a> {
    let value = |key: &str, usual: &'static str| {
        row.as_map()
            .and_then(|row| row.keyword(key))
            .and_then(Value::as_str)
            .map_or(usual, |text| text)
            .to_owned()
    };
    let zone = Zone::parse(&value("zone", "Europe/Berlin")).expect("a zone");
    // A Wednesday, 15:00 in Berlin.
    PhraseContext { now: moment(&value("now", "2026-04-22T13:00:00Z")), zone, zones }
}

fn canonical(meant: &When) -> String {
    match meant {
        When::After(span) => format!("{} ms", span.millis()),
        When::At(moment) => moment.to_string(),
        When::By(trigger) => print(trigger),
        When::Each(_) => unreachable!("no phrase says it"),
    }
}

#[test]
fn the_table_of_phrases_holds() {
    let table = table("phrases");
    let mut faults = String::new();
    let mut check = |row: &Value, what: &str, found: &str, expected: &str| {
        if found != expected {
            writeln!(faults, "{} {what}: {found:?}, not {expected:?}", text(row, "say"))
                .expect("a string grows");
        }
    };
    for row in items(&table, "understood") {
        let understood = match understand(text(row, "say"), &asked(row, zones())) {
            Ok(understood) => understood,
            Err(error) => {
                check(row, "is refused", &error.to_string(), "");
                continue;
            }
        };
        let map = row.as_map().expect("a row");
        check(row, "means", &canonical(&understood.meant), text(row, "means"));
        if map.keyword("words").is_some() {
            check(row, "in words", &understood.words, text(row, "words"));
        }
        if map.keyword("next").is_some() {
            let expected: Vec<_> = items(row, "next").iter().filter_map(Value::as_str).collect();
            check(row, "next", &listed(&understood.next), &expected.join(" "));
        }
        let warnings: Vec<_> = understood.warnings.iter().map(Warning::code).collect();
        let expected: Vec<_> = items(row, "warns").iter().filter_map(Value::as_str).collect();
        check(row, "warns", &warnings.join(" "), &expected.join(" "));
    }
    for row in items(&table, "refused") {
        match understand(text(row, "say"), &asked(row, zones())) {
            Ok(understood) => check(row, "is accepted as", &canonical(&understood.meant), ""),
            Err(error) => {
                check(row, "code", error.code(), text(row, "code"));
                let says = row
                    .as_map()
                    .and_then(|row| row.keyword("says"))
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let said = format!("{error}: {}", error.hint());
                if !said.contains(says) {
                    check(row, "says", &said, says);
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// Words that phrases are made of, and some that they are not.
const WORDS: &str = "in at on every each next this today tomorrow now daily weekly hourly weekdays weekends monday mon \
    mondays fri sunday and noon midnight 9 9am 12pm 17:30 24:00 0 5 5m 1h30m 2 hours minutes days weeks month s ms a an \
    half hour day after each finish from 2026-04-22 2026-05-01T09:00 2026-04-22T13:00:00Z 9999-12-31T23:59:59Z UTC local \
    Europe/Berlin Mars/Phobos +02:00 +99:00 -00:00 EST \"x\" \" * */5 * 1-5 0 L @daily @reboot 99999999999999999999 é , ,, \
    18446744073709551615ms 1d1d1d 1.5h -1 +5 00:00:00 13pm 0am next next";

fn babble() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        12 => prop::sample::select(WORDS.split_whitespace().collect::<Vec<_>>()).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
        1 => "[0-9a-z:+/-]{1,8}",
    ];
    prop::collection::vec(word, 0..9).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(10_000), ..ProptestConfig::default() })]

    #[test]
    fn what_is_understood_lies_ahead_and_prints_back(phrase in babble(), now in -1_000_000_000..4_000_000_000_i64) {
        let now = super::at(now);
        let asked = PhraseContext { now, zone: Zone::parse("America/New_York").expect("a zone"), zones: zones() };
        let Ok(understood) = understand(&phrase, &asked) else { return Ok(()); };
        prop_assert!(understood.next.len() <= 3);
        let is_now = understood.meant == When::After(Span::ZERO);
        prop_assert!(understood.next.iter().all(|slot| *slot > now || is_now && *slot == now));
        prop_assert!(!understood.next.is_empty() || matches!(understood.meant, When::By(_)));
        if let When::By(trigger) = &understood.meant {
            let again = understand(&print(trigger), &asked).map(|again| again.meant);
            prop_assert_eq!(again, Ok(understood.meant.clone()), "{}", print(trigger));
        }
    }

    #[test]
    fn rules_print_back_equal(
        trigger in triggers(),
        zone in prop::sample::select(vec!["UTC", "local", "+05:45", "-00:30", "Asia/Tokyo", "CET", "Etc/GMT+5"]),
    ) {
        let zone = Zone::parse(zone).expect("a zone");
        let trigger = match trigger {
            Trigger::Cron(cron, _) => Trigger::Cron(cron, zone.into()),
            Trigger::Calendar(mut calendar) => { calendar.zone = zone; Trigger::Calendar(calendar) }
            Trigger::At(_) | Trigger::Every(_) | Trigger::Event(_) => trigger,
        };
        let asked = PhraseContext { now: moment("1970-01-01T00:00:00Z"), zone: Zone::Utc, zones: zones() };
        let meant = understand(&print(&trigger), &asked).map(|understood| understood.meant);
        let expected = match &trigger {
            Trigger::At(moment) => When::At(*moment),
            Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..) | Trigger::Event(_) => {
                When::By(trigger.clone())
            }
        };
        prop_assert_eq!(meant, Ok(expected), "{}", print(&trigger));
        let text = to_edn(&trigger).to_string();
        let value = read(text.as_bytes(), &CAPS).expect("EDN");
        prop_assert_eq!(from_edn(&value), Ok(trigger), "{}", text);
    }
}

fn triggers() -> impl Strategy<Value = Trigger> {
    let instant = (1..300_000_000_i64, 0..1_000_000_000_u32);
    let at = instant.clone().prop_map(|(seconds, nanos)| Moment::new(seconds, nanos).expect("in range"));
    let every = (at.clone(), 1_000..315_360_000_000_u64, 0..6_u32, any::<bool>()).prop_map(
        |(anchor, ms, zeros, slot)| {
            let ms = if zeros == 0 { ms } else { ms / 60_000 * 60_000 + 60_000 };
            let from = if slot { CountFrom::Slot } else { CountFrom::Finish };
            Trigger::from(
                Every::new(Span::from_millis(ms.min(315_360_000_000)), anchor, from).expect("in bounds"),
            )
        },
    );
    prop_oneof![1 => at.prop_map(Trigger::At), 2 => every, 4 => trigger()]
}

#[test]
fn values_that_are_no_rules_are_refused() {
    for text in [
        "nil",
        "{}",
        "{:kind :at}",
        "{:kind :at :at \"2026-04-22\"}",
        "{:kind :weekly}",
        "{:kind :at :at \"2026-04-22T13:00:00Z\" :zone \"UTC\"}",
        "{:kind :every :period-ms 0 :anchor \"2026-04-22T13:00:00Z\" :from :slot}",
        "{:kind :every :period-ms 99999999999999 :anchor \"2026-04-22T13:00:00Z\" :from :slot}",
        "{:kind :every :period-ms 1000 :anchor \"2026-04-22T13:00:00Z\" :from :start}",
        "{:kind :calendar :weekdays [] :time \"09:00\" :zone \"UTC\"}",
        "{:kind :calendar :weekdays [:funday] :time \"09:00\" :zone \"UTC\"}",
        "{:kind :calendar :weekdays [:monday] :time \"24:00\" :zone \"UTC\"}",
        "{:kind :calendar :weekdays [:monday] :time \"09:00\" :zone \"+99:00\"}",
        "{:kind :cron :expr \"* * * *\" :zone \"UTC\"}",
        "{:kind :cron :expr \"* * * * *\" :zon \"UTC\"}",
    ] {
        let value = read(text.as_bytes(), &CAPS).expect("EDN");
        assert!(from_edn(&value).is_err(), "{text}");
    }
}

//! Cron expressions: answers of other implementations, and what is refused.

use std::fmt::Write as _;

use reveille::calendar::{Slots, Zones, parse_cron};
use reveille::domain::{CronFields, Span};
use reveille::edn::Value;

use super::{cron_rule, items, listed, moment, table, text, zones};

#[test]
fn croniter_and_we_agree() {
    let zones = zones();
    let table = table("croniter");
    for row in table.as_items().expect("rows") {
        check_next(row, zones);
    }
}

#[track_caller]
fn check_next(row: &Value, zones: &Zones) {
    let zone = row.as_map().and_then(|row| row.keyword("zone")).and_then(Value::as_str).unwrap_or("UTC");
    let trigger = cron_rule(text(row, "cron"), zone);
    let expected: Vec<_> =
        items(row, "next").iter().map(|slot| moment(slot.as_str().expect("text"))).collect();
    let found = Slots::new(&trigger, zones).upcoming(moment(text(row, "after")), expected.len());
    assert_eq!(listed(&found), listed(&expected), "{row}");
}

#[test]
fn the_table_of_the_dialect_holds() {
    let (table, zones) = (table("cron"), zones());
    let rows = |key: &str| items(&table, key).to_vec();
    for row in rows("next") {
        check_next(&row, zones);
    }
    for row in rows("matches") {
        let trigger = cron_rule(text(&row, "cron"), "UTC");
        let slots = Slots::new(&trigger, zones);
        let has = |instant: &Value| {
            let slot = moment(instant.as_str().expect("text"));
            slots.latest_in(slot.checked_sub(Span::from_millis(1)).expect("in range"), slot).is_some()
        };
        assert!(items(&row, "on").iter().all(has), "{row}");
        assert!(!items(&row, "off").iter().any(has), "{row}");
    }
    for row in rows("same") {
        let row = row.as_items().expect("two expressions");
        let fields: Vec<CronFields> = row
            .iter()
            .map(|expr| *parse_cron(expr.as_str().expect("text")).expect("sound").fields())
            .collect();
        assert!(fields.windows(2).all(|pair| pair[0] == pair[1]), "{row:?}");
    }
    for row in rows("canonical") {
        let row = row.as_items().expect("given and canonical");
        let (given, canonical) = (row[0].as_str().expect("text"), row[1].as_str().expect("text"));
        let cron = parse_cron(given).expect("sound");
        assert_eq!((cron.as_str(), parse_cron(canonical)), (canonical, Ok(cron.clone())), "{given}");
    }
    let mut faults = String::new();
    for row in rows("refused") {
        let row = row.as_items().expect("expression and code");
        let (expr, code) = (row[0].as_str().expect("text"), row[1].as_str().expect("text"));
        match parse_cron(expr) {
            Err(error) if error.code() == code && !error.hint().is_empty() => {}
            other => writeln!(faults, "{expr:?} is {other:?}, not {code}").expect("a string grows"),
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn long_and_odd_texts_are_refused() {
    assert_eq!(parse_cron(&"* ".repeat(300)).map_err(|error| error.code()), Err("cron-too-long"));
    let long = format!("{} * * * *", vec!["1"; 200].join(","));
    assert!(parse_cron(&long).is_ok(), "{} bytes", long.len());
    for text in [
        "",
        " ",
        "\0",
        "é * * * *",
        "* * * * \u{1F600}",
        "١ * * * *",
        "999999999999999999999 * * * *",
        "-1 * * * *",
    ] {
        assert!(parse_cron(text).is_err(), "{text:?}");
    }
}

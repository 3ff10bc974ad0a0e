//! Changes of clocks that are known from elsewhere, and what triggers do around them.

use reveille::calendar::{Slots, Zones};
use reveille::domain::{Calendar, Moment, TimeOfDay, Trigger, Weekdays, Zone};
use reveille::edn::Value;

use super::{at, cron_rule, items, listed, moment, table, text, zones};

const DAY: i64 = 86_400;

struct Row<'a> {
    zone: &'a str,
    at: i64,
    before: i64,
    after: i64,
}

impl Row<'_> {
    /// The first instant at which the clock shows a reading, or more, by this row alone.
    fn first_showing(&self, reading: i64) -> i64 {
        let (by_old, by_new) = (reading - self.before, reading - self.after);
        if by_old < self.at { by_old } else { by_new.max(self.at) }
    }
}

fn number(row: &Value, key: &str) -> i64 {
    row.as_map()
        .and_then(|row| row.keyword(key))
        .and_then(Value::as_int)
        .unwrap_or_else(|| panic!("{key}: {row}"))
}

#[test]
fn known_changes_move_daily_rules_as_the_policy_says() {
    let (table, zones) = (table("changes"), zones());
    let rows = items(&table, "changes");
    assert!(rows.len() >= 40);
    for row in rows {
        let row = Row {
            zone: text(row, "zone"),
            at: moment(text(row, "at")).seconds(),
            before: number(row, "before"),
            after: number(row, "after"),
        };
        let (old, new) = (row.at + row.before, row.at + row.after);
        let (low, high) = (old.min(new), old.max(new));
        for reading in [low - 60, low, low + 1, low.midpoint(high), high - 1, high, high + 60] {
            check_daily(&row, reading, zones);
        }
        check_running(&row, zones);
    }
}

/// A daily trigger has one slot for every day, also for the day that was left out.
#[track_caller]
fn check_daily(row: &Row<'_>, reading: i64, zones: &Zones) {
    let time = reading.rem_euclid(DAY);
    let part = |number: i64| u8::try_from(number).expect("small");
    let time_of_day = TimeOfDay::new(part(time / 3_600), part(time / 60 % 60), part(time % 60));
    let zone = Zone::parse(row.zone).expect("a zone");
    let time_of_day = time_of_day.expect("in range");
    let trigger =
        Trigger::Calendar(Box::new(Calendar { weekdays: Weekdays::DAILY, time: time_of_day, zone }));
    let slots = Slots::new(&trigger, zones);
    let mut expected: Vec<Moment> = (-2..=2).map(|day| at(row.first_showing(reading + day * DAY))).collect();
    expected.dedup();
    let found = slots.upcoming(at(row.first_showing(reading - 2 * DAY) - 1), expected.len());
    assert_eq!(listed(&found), listed(&expected), "{} {} at {time_of_day}", row.zone, at(row.at));
    if time % 60 == 0 {
        let expr = format!("{} {} * * *", time / 60 % 60, time / 3_600);
        let cron = Slots::new(&cron_rule(&expr, row.zone), zones);
        assert_eq!(
            cron.upcoming(at(row.first_showing(reading - 2 * DAY) - 1), expected.len()),
            expected,
            "{expr}"
        );
    }
}

/// A trigger on every minute has a slot in every minute of real time.
#[track_caller]
fn check_running(row: &Row<'_>, zones: &Zones) {
    let slots = Slots::new(&cron_rule("* * * * *", row.zone), zones);
    let found = slots.between(at(row.at - 4 * 3_600), at(row.at + 4 * 3_600), 1_000);
    assert!((479..=481).contains(&found.slots.len()), "{} {}: {}", row.zone, at(row.at), found.slots.len());
    let is_even = (row.before | row.after) % 60 == 0;
    assert!(!is_even || found.slots.windows(2).all(|pair| pair[1].millis_since(pair[0]) == 60_000));
}

#[test]
fn laws_that_have_changed_are_known() {
    let (table, zones) = (table("changes"), zones());
    for row in items(&table, "steady") {
        let instant = moment(text(row, "at")).seconds();
        let noon = Slots::new(&cron_rule("0 12 * * *", text(row, "zone")), zones);
        let slot = noon.first_after(at(instant)).expect("tomorrow at the latest").seconds();
        let offset = 12 * 3_600 - slot.rem_euclid(DAY);
        assert_eq!(offset.rem_euclid(DAY), number(row, "offset").rem_euclid(DAY), "{row}");
    }
}

#[test]
fn the_latest_slot_is_found_before_1970_too() {
    let daily = Slots::new(&cron_rule("0 12 * * *", "UTC"), zones());
    let (a, b) = (moment("1969-12-29T00:00:00Z"), moment("1969-12-31T00:00:00Z"));
    assert_eq!(daily.latest_in(a, b), Some(moment("1969-12-30T12:00:00Z")));
}

//! Measures the next slot of cron rules with other crates, from moments spread over a year.
//!
//! `peer-crons croner|cron|saffron [--quick]` prints lines of a name and a number: microseconds per
//! slot in the fastest of several rounds. Invariant: rules and moments are those of our own
//! benchmark (`benches/table/cron.rs`).

use std::hint::black_box;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

use chrono::{DateTime, Utc};

#[path = "../../../table/rules.rs"]
mod rules;

use rules::{MOMENTS, RULES, Rule, moment};

const ROUNDS: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = if arguments.iter().any(|argument| argument == "--quick") { 100 } else { MOMENTS };
    let peer: fn(&Rule, usize) -> f64 = match arguments.first().map(String::as_str) {
        Some("croner") => by_croner,
        Some("cron") => by_cron,
        Some("saffron") => by_saffron,
        _ => return ExitCode::FAILURE,
    };
    for rule in &RULES {
        println!("{} {}", rule.figure, peer(rule, count));
    }
    ExitCode::SUCCESS
}

fn by_croner(rule: &Rule, count: usize) -> f64 {
    let zone = jiff::tz::TimeZone::get(rule.zone).expect("a zone");
    let parsed = croner::parser::CronParser::new().parse(rule.text).expect("it is sound");
    let at = |number| jiff::Timestamp::new(moment(number), 0).expect("this century").to_zoned(zone.clone());
    let moments: Vec<jiff::Zoned> = (0..count).map(at).collect();
    let next = |moment: &jiff::Zoned| {
        parsed.find_next_occurrence(moment, false).expect(ENDLESS).timestamp().as_second()
    };
    fastest(&moments, next, rule.first)
}

/// Measures `cron`, whose expressions begin with seconds.
fn by_cron(rule: &Rule, count: usize) -> f64 {
    let zone: chrono_tz::Tz = rule.zone.parse().expect("a zone");
    let parsed = cron::Schedule::from_str(&format!("0 {}", rule.text)).expect("it is sound");
    let moments: Vec<_> = (0..count).map(|number| utc(number).with_timezone(&zone)).collect();
    fastest(&moments, |moment| parsed.after(moment).next().expect(ENDLESS).timestamp(), rule.first)
}

/// Measures `saffron`, which has no zones: the rule is taken in UTC.
fn by_saffron(rule: &Rule, count: usize) -> f64 {
    let parsed: saffron::Cron = rule.text.parse().expect("it is sound");
    let moments: Vec<_> = (0..count).map(utc).collect();
    let next = |moment: &DateTime<Utc>| parsed.next_after(*moment).expect(ENDLESS).timestamp();
    let zone: chrono_tz::Tz = rule.zone.parse().expect("a zone");
    let first = DateTime::from_timestamp(rule.first, 0).expect("this century");
    // The expected slot has this wall-clock reading, but in UTC.
    let first = first.with_timezone(&zone).naive_local().and_utc().timestamp();
    fastest(&moments, next, first)
}

fn utc(number: usize) -> DateTime<Utc> {
    DateTime::from_timestamp(moment(number), 0).expect("this century")
}

/// Microseconds per slot in the fastest round.
fn fastest<T>(moments: &[T], next: impl Fn(&T) -> i64, first: i64) -> f64 {
    assert_eq!(next(&moments[0]), first, "the rule is understood as it is meant");
    let round = |_| {
        let begin = Instant::now();
        for moment in moments {
            black_box(next(black_box(moment)));
        }
        begin.elapsed()
    };
    let best = (0..ROUNDS).map(round).min().expect("there are rounds");
    best.as_secs_f64() * 1e6 / moments.len() as f64
}

const ENDLESS: &str = "each of the rules goes on for ever";

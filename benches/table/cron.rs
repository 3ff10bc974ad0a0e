//! Measures the next slot of cron rules, from moments spread over a year. Other crates are measured
//! in `benches/peers/crons`.

use std::hint::black_box;

use reveille::calendar::{Slots, Zones, parse_cron};
use reveille::domain::{Moment, Trigger, Zone};

use crate::child::Figures;
use crate::rules::{MOMENTS, RULES, Rule, moment};
use crate::system::boot_nanos;

const ROUNDS: usize = 5;

pub(crate) fn measure() -> Figures {
    let zones = Zones::bundled();
    RULES.iter().map(|rule| (rule.figure, micros(rule, &zones))).collect()
}

/// Microseconds per slot in the fastest round. Parsing the rule is not included, for any
/// competitor.
fn micros(rule: &Rule, zones: &Zones) -> f64 {
    let cron = parse_cron(rule.text).expect("it is sound");
    let trigger = Trigger::Cron(cron.into(), Zone::parse(rule.zone).expect("a zone").into());
    let slots = Slots::new(&trigger, zones);
    let at = |number| Moment::new(moment(number), 0).expect("this century");
    let moments: Vec<Moment> = (0..MOMENTS).map(at).collect();
    let first = slots.first_after(moments[0]).expect("each of the rules goes on for ever");
    // Every competitor must understand the rule in one way, or the times mean nothing.
    assert_eq!(first.seconds(), rule.first, "{}", rule.text);
    let round = |_| {
        let start = boot_nanos();
        for moment in &moments {
            assert!(slots.first_after(black_box(*moment)).is_some(), "each of the rules goes on for ever");
        }
        boot_nanos() - start
    };
    let best = (0..ROUNDS).map(round).min().unwrap_or(0);
    best as f64 / 1e3 / MOMENTS as f64
}

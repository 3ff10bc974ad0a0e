//! Benchmarks the calendar: the next slot of cron triggers near and far, the latest slot in five
//! years, and a phrase.
//!
//! Run with `cargo bench --bench calendar`. The target is 2 µs for the next slot of a cron trigger.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use reveille::calendar::{PhraseContext, Slots, Zones, parse_cron, understand};
use reveille::domain::{Moment, Trigger, Zone};

const RULES: [(&str, &str, &str); 6] = [
    ("minutely", "* * * * *", "Europe/Berlin"),
    ("five-minutes", "*/5 * * * *", "Europe/Berlin"),
    ("workdays", "30 9 * * MON-FRI", "Europe/Berlin"),
    ("workdays-utc", "30 9 * * MON-FRI", "UTC"),
    ("leap-day", "0 0 29 2 *", "America/New_York"),
    ("fifth-monday-in-february", "0 0 * 2 MON#5", "America/New_York"),
];

fn calendar(criterion: &mut Criterion) {
    let zones = Zones::bundled();
    let now = Moment::parse("2026-05-05T12:34:56Z").expect("an instant");
    // Long enough to contain a leap day and many clock changes.
    let five_years_ago = Moment::parse("2021-05-05T12:34:56Z").expect("an instant");
    let mut group = criterion.benchmark_group("calendar");
    for (name, expr, zone) in RULES {
        let cron = parse_cron(expr).expect("sound");
        let trigger = Trigger::Cron(cron.into(), Zone::parse(zone).expect("a zone").into());
        let slots = Slots::new(&trigger, &zones);
        group.bench_function(format!("next/{name}"), |bencher| {
            bencher.iter(|| slots.first_after(black_box(now)));
        });
        group.bench_function(format!("latest/{name}"), |bencher| {
            bencher.iter(|| slots.latest_in(black_box(five_years_ago), black_box(now)));
        });
    }
    let trigger = Trigger::Cron(
        parse_cron("30 9 * * MON-FRI").expect("sound").into(),
        Zone::parse("Europe/Berlin").expect("a zone").into(),
    );
    group.bench_function("slots-of-a-trigger", |bencher| {
        bencher.iter(|| Slots::new(black_box(&trigger), &zones));
    });
    group.bench_function("parse-cron", |bencher| bencher.iter(|| parse_cron(black_box("30 9 * * MON-FRI"))));
    group.bench_function("zones-bundled", |bencher| bencher.iter(Zones::bundled));
    let asked = PhraseContext { now, zone: Zone::parse("Europe/Berlin").expect("a zone"), zones: &zones };
    group.bench_function("phrase", |bencher| {
        bencher.iter(|| understand(black_box("every weekday at 8:30"), &asked));
    });
    group.finish();
}

criterion_group!(benches, calendar);
criterion_main!(benches);

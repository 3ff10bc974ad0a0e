//! The slots of triggers: tables of known answers, laws against a slow search, and a second implementation.
//!
//! `PROPTEST_CASES=1000000 cargo test --release --test suite calendar::` is the long run.

#![expect(clippy::panic, reason = "a helper of tests says which row it failed on")]

mod changes;
mod cron;
pub(crate) mod laws;
mod oracle;
mod phrases;
mod said;
mod second;

use std::sync::LazyLock;

use reveille::calendar::{Zones, parse_cron};
use reveille::domain::{Moment, Trigger, Zone};
use reveille::edn::{Caps, Value, read};

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 16, digits_max: 20, forms_max: 100_000 };

fn table(name: &str) -> Value {
    let path = format!("{}/fixtures/calendar/{name}.edn", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the table is there");
    read(text.as_bytes(), &CAPS).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row.as_map()
        .and_then(|row| row.keyword(key))
        .and_then(Value::as_str)
        .unwrap_or_else(|| panic!("{key}: {row}"))
}

fn items<'a>(row: &'a Value, key: &str) -> &'a [Value] {
    row.as_map().and_then(|row| row.keyword(key)).and_then(Value::as_items).unwrap_or_default()
}

fn moment(text: &str) -> Moment {
    Moment::parse(text).unwrap_or_else(|_| panic!("an instant: {text}"))
}

fn at(seconds: i64) -> Moment {
    Moment::new(seconds, 0).expect("within the calendar")
}

fn cron_rule(expr: &str, zone: &str) -> Trigger {
    let cron = parse_cron(expr).unwrap_or_else(|error| panic!("{expr}: {error}"));
    Trigger::Cron(cron.into(), Zone::parse(zone).expect("a zone").into())
}

fn listed(slots: &[Moment]) -> String {
    slots.iter().map(Moment::to_string).collect::<Vec<_>>().join(" ")
}

/// The table is made once: its zones stay parsed.
fn zones() -> &'static Zones {
    static ZONES: LazyLock<Zones> = LazyLock::new(Zones::bundled);
    &ZONES
}

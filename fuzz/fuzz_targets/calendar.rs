//! Any text as cron and as a phrase: refused or understood, never a panic or a hang; what is understood prints and
//! parses back, and its slots go forward.
//!
//! Run with `cargo +nightly fuzz run calendar`; what it finds becomes a row in `fixtures/calendar/`.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use reveille::calendar::{Asked, Slots, Zones, from_edn, parse_cron, print, to_edn, understand};
use reveille::domain::{Moment, When, Zone};

static ZONES: LazyLock<Zones> = LazyLock::new(Zones::bundled);

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if let Ok(cron) = parse_cron(text) {
        assert_eq!(
            parse_cron(cron.as_str()),
            Ok(cron),
            "cron does not print back"
        );
    }
    let now = Moment::new(1_775_000_000, 0).expect("in range");
    let zone = Zone::parse("America/New_York").expect("a zone");
    let asked = Asked {
        now,
        zone,
        zones: &ZONES,
    };
    let Ok(understood) = understand(text, &asked) else {
        return;
    };
    let When::By(rule) = &understood.meant else {
        return;
    };
    assert_eq!(
        understand(&print(rule), &asked).map(|again| again.meant),
        Ok(understood.meant.clone())
    );
    assert_eq!(from_edn(&to_edn(rule)).as_ref(), Ok(rule));
    let slots = Slots::new(rule, &ZONES).upcoming(now, 20);
    assert!(slots.iter().all(|slot| *slot > now));
    assert!(slots.windows(2).all(|pair| pair[0] < pair[1]));
});

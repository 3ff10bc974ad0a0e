//! A second implementation, croner, where no clock changes: there the two must agree.

use croner::Direction;
use croner::parser::CronParser;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use reveille::calendar::{Slots, parse_cron};
use reveille::domain::{Trigger, Zone};

use super::laws::{cases, expression, timezone};
use super::oracle::stamp;
use super::{at, zones};

const YEAR_1970: i64 = 0;
const YEAR_2100: i64 = 4_102_444_800;

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4_000), ..ProptestConfig::default() })]

    #[test]
    fn croner_and_we_agree(
        expr in expression(),
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Asia/Tokyo"]),
        start in YEAR_1970..YEAR_2100,
    ) {
        let parser = CronParser::builder().build();
        let Ok(theirs) = parser.parse(&expr) else {
            // Ranges that wrap around are not part of its dialect.
            prop_assert!(is_wrapping(&expr), "{expr}");
            return Ok(());
        };
        let tz: TimeZone = timezone(zone);
        let cron = parse_cron(&expr).expect("sound");
        let trigger = Trigger::Cron(cron.into(), Zone::parse(zone).expect("a zone").into());
        let zones = zones();
        let ours = Slots::new(&trigger, zones).upcoming(at(start), 3);
        let mut iterator = theirs.iter_from(stamp(start).to_zoned(tz.clone()), Direction::Forward);
        for slot in ours {
            let their = loop {
                let next = iterator.next().expect("within its years").timestamp();
                if next > stamp(start) { break next; }
            };
            // Both sides of a change are beyond this test: the policies differ there on purpose.
            let change = tz.following(stamp(start)).next().map_or(i64::MAX, |change| change.timestamp().as_second());
            if their.as_second().max(slot.seconds()) >= change { break; }
            prop_assert_eq!(their.as_second(), slot.seconds(), "{} {} {}", expr, zone, slot);
        }
    }
}

/// Whether some range of the expression goes backwards.
fn is_wrapping(expr: &str) -> bool {
    expr.split([' ', ',']).any(|item| {
        let range = item.split('/').next().unwrap_or_default().split_once('-');
        let number = |text: &str| text.parse::<u8>().ok();
        range.and_then(|(a, b)| Some(number(a)? > number(b)?)).unwrap_or(false)
    })
}

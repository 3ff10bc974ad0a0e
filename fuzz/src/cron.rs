//! Fuzzes cron expressions. The first byte chooses a zone and a time span around a change of its
//! clock. A parsed expression prints and parses back; its slots are those that the history checker
//! finds by testing each clock reading; both search directions agree.

use reveille::calendar::{Count, Slots, parse_cron};
use reveille::domain::{Cron, Moment, Span, Trigger, Zone};
use reveille_checker as checker;

use super::scene::{ZONES, moment};

/// Zones, each with an instant near an irregularity of its clock: gaps and overlaps of an hour or
/// half an hour, a midnight that is skipped, a skipped day, a leap day, an end of February without
/// one.
const STRETCHES: [(&str, &str); 10] = [
    ("America/New_York", "2026-03-07T12:00:00Z"),
    ("America/New_York", "2026-10-31T20:00:00Z"),
    ("Europe/Berlin", "2026-10-24T15:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T06:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T09:00:00Z"),
    ("America/Sao_Paulo", "2018-11-03T16:00:00Z"),
    ("Pacific/Apia", "2011-12-29T20:00:00Z"),
    ("UTC", "2028-02-28T12:00:00Z"),
    ("Asia/Kathmandu", "2026-12-30T18:00:00Z"),
    ("UTC", "2100-02-27T23:59:59Z"),
];

/// The length of the time span that is searched.
const STRETCH: Span = Span::from_millis(40 * 3_600_000);

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let Some((choice, text)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let (zone, from) = STRETCHES[usize::from(*choice) % STRETCHES.len()];
    match parse_cron(text) {
        Ok(cron) => understood(&cron, zone, moment(from)),
        Err(error) => {
            assert!(!error.code().is_empty() && !error.hint().is_empty() && !error.to_string().is_empty());
        }
    }
}

fn understood(cron: &Cron, zone: &str, from: Moment) {
    assert_eq!(parse_cron(cron.as_str()).as_ref(), Ok(cron), "printed");
    let trigger = Trigger::Cron(cron.clone().into(), Zone::parse(zone).expect("a zone").into());
    let slots = Slots::new(&trigger, &ZONES);
    let until = from.checked_add(STRETCH).expect("in range");
    let found = slots.between(from, until, usize::MAX);
    assert_eq!(found.slots, expected(cron, zone, (from, until)), "{cron} {zone}");
    assert!(!found.more, "all were wanted");
    assert_eq!(slots.latest_in(from, until), found.slots.last().copied(), "backwards");
    assert_eq!(slots.count_in(from, until, u64::MAX), Count::Exactly(found.slots.len() as u64), "counted");
    // The slots after that span: the checker confirms each, and every expression has one in some
    // year.
    let upcoming = slots.upcoming(until, 3);
    assert!(!upcoming.is_empty(), "{cron} is never due");
    assert!(upcoming.windows(2).all(|pair| pair[0] < pair[1]) && upcoming[0] > until, "{upcoming:?}");
    for slot in upcoming {
        let before = slot.checked_sub(Span::from_nanos(1)).expect("in range");
        assert_eq!(expected(cron, zone, (before, slot)), [slot], "{cron} {zone}");
    }
}

/// The slots that the history checker finds; it has a parser of its own.
fn expected(cron: &Cron, zone: &str, (from, until): (Moment, Moment)) -> Vec<Moment> {
    let trigger = checker::Trigger::Cron { expr: cron.to_string(), zone: zone.to_owned() };
    let judged = |moment: Moment| checker::Moment::new(moment.seconds(), moment.nanos()).expect("in range");
    let slots =
        checker::slots(&trigger, judged(from), judged(until)).expect("the checker understands it too");
    let ours = |slot: checker::Moment| Moment::new(slot.seconds(), slot.nanos()).expect("in range");
    slots.into_iter().map(ours).collect()
}

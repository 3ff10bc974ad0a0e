//! A year of two hundred schedules in thirty zones, in simulated time: one process after another over one store, with crashes,
//! lost batches, clock steps, suspends, pauses, edits and cancels, told from outside and judged by the checker of histories,
//! which knows neither the engine nor its calendar.

mod asked;
mod diary;
mod plan;
mod play;
mod target;

use play::{Size, Year};
use reveille_checker::{Busy, CountFrom, Event, Finding, Span, Trigger, check, write};

const WHOLE: Size = Size { schedules: 200, zones: 30, days: 365 };
const SHORT: Size = Size { schedules: 60, zones: 30, days: 40 };

#[test]
fn nothing_is_missing_and_nothing_extra_in_a_year() {
    live(2_026, WHOLE);
}

#[test]
fn nor_in_shorter_stretches_of_many_seeds() {
    let seeds = number("SEEDS").unwrap_or(8);
    for seed in number("SEED").map_or(0..seeds, |seed| seed..seed + 1) {
        live(seed, SHORT);
    }
}

#[test]
fn a_fault_in_the_record_is_found() {
    let events = live(7, SHORT).diary.events;
    let receipts: Vec<usize> = (0..events.len()).filter(|place| is_plain(&events, *place)).collect();
    assert!(receipts.len() > 40, "{}", receipts.len());
    for place in receipts.iter().copied().step_by(receipts.len() / 12) {
        let Event::Receive { at, schedule, slot: Some(slot), .. } = &events[place] else { unreachable!() };
        let (schedule, slot) = (schedule.clone(), *slot);
        let found = |name: &str, events: &[Event]| {
            let findings = check(events).findings;
            let is_it = |finding: &Finding| {
                let text = finding.to_string();
                text.starts_with(name) && text.contains(&schedule) && text.contains(&slot.to_string())
            };
            assert!(findings.iter().any(is_it), "{name}{schedule} {slot} is not among {findings:#?}");
        };
        let mut lost = events.clone();
        lost.remove(place);
        found("missing: ", &lost);
        let mut doubled = events.clone();
        doubled.insert(place + 1, events[place].clone());
        found("twice: ", &doubled);
        let mut hurried = events.clone();
        if let Event::Receive { at: early, .. } = &mut hurried[place] {
            *early = at.checked_sub(Span::from_millis(1)).expect("within the calendar");
        }
        found("early: ", &hurried);
    }
}

/// A delivery in its own instant, of a schedule that has nothing else to do with it and is not changed: what is wrong with it
/// has no other cause.
fn is_plain(events: &[Event], place: usize) -> bool {
    let Event::Receive { at, schedule, run, slot: Some(slot), session: Some(session) } = &events[place]
    else {
        return false;
    };
    let is_quiet = |event: &Event| match event {
        Event::Create { schedule: other, policy, trigger, .. } if other == schedule => {
            let from_finish = matches!(trigger, Trigger::Every { from: CountFrom::Finish, .. });
            policy.busy == Busy::Queue && policy.max_late_ms.is_none() && !from_finish
        }
        Event::Change { schedule: other, .. } | Event::Pause { schedule: other, .. } => other != schedule,
        Event::Create { .. }
        | Event::Cancel { .. }
        | Event::Resume { .. }
        | Event::Hold { .. }
        | Event::Release { .. }
        | Event::Busy { .. }
        | Event::Idle { .. }
        | Event::Down { .. }
        | Event::Up { .. }
        | Event::Jump { .. }
        | Event::Receive { .. }
        | Event::Finish { .. }
        | Event::Skip { .. }
        | Event::End { .. } => true,
    };
    // A turn that went on would be the fault of a second delivery in it.
    let goes_on =
        events.iter().any(|event| matches!(event, Event::Finish { run: other, .. } if other == run));
    // Nothing else happened within ten minutes but deliveries to others.
    let near = |event: &Event| {
        event.at().is_some_and(|other| other.since(*at).max(at.since(other)) < Span::from_millis(600_000))
    };
    let is_other = |event: &Event| match event {
        Event::Receive { session: Some(other), .. } => other != session,
        Event::Busy { session: other, .. } | Event::Idle { session: other, .. } => other != session,
        Event::Finish { run: other, .. } => other != run,
        Event::Down { .. } | Event::Up { .. } | Event::Jump { .. } | Event::End { .. } => false,
        Event::Create { .. }
        | Event::Change { .. }
        | Event::Cancel { .. }
        | Event::Pause { .. }
        | Event::Resume { .. }
        | Event::Hold { .. }
        | Event::Release { .. }
        | Event::Receive { session: None, .. }
        | Event::Skip { .. } => true,
    };
    let others = || events.iter().enumerate().filter(|(other, event)| *other != place && near(event));
    at == slot && !goes_on && events.iter().all(is_quiet) && others().all(|(_, event)| is_other(event))
}

#[expect(clippy::print_stdout, reason = "the figures are half of what a year is lived for")]
fn live(seed: u64, size: Size) -> Year {
    let mut year = Year::new(seed, size);
    year.live(size.days);
    let report = check(&year.diary.events);
    println!(
        "seed {seed}, {size:?}: {:?}; {}",
        year.happened,
        report.to_string().lines().last().unwrap_or_default(),
    );
    // `just check-history FILE` reads it, if anything is wrong.
    let path = format!("{}/year-{seed}.jsonl", env!("CARGO_TARGET_TMPDIR"));
    if !report.is_clean() {
        std::fs::write(&path, write(&year.diary.events)).expect("the directory is there");
    }
    assert!(report.is_clean(), "seed {seed}, written to {path}: {report}");
    year
}

#[expect(clippy::disallowed_methods, reason = "SEED and SEEDS choose what this test lives")]
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("SEED and SEEDS are numbers"))
}

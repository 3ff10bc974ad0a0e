//! A right history, made at random; one fault, planted at random; the checker has to find it.
//!
//! The histories are those of a scheduler that does everything at once: what is due is received some milliseconds later. All
//! slots are whole seconds, all that stands in the way begins and ends at half a second, and a delivery is given less than
//! that: so nothing is ever in doubt, and every fault must be found.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use reveille_checker::{
    Bounds, Day, Event, Missed, Moment, Overlap, Policy, Span, Trigger, check_within, read, slots, write,
};

use super::histories;

/// The day on which Europe's clocks go back, at 01:00 UTC.
const START: i64 = 1_792_879_200;
const HOURS: i64 = 12;
const PROMPT: Bounds = Bounds { prompt: Span::from_millis(400) };

#[derive(Clone, Debug)]
struct Plan {
    schedules: Vec<Scheduled>,
    /// Minute and length.
    downs: Vec<(i64, i64)>,
}

#[derive(Clone, Debug)]
struct Scheduled {
    trigger: Trigger,
    session: u8,
    missed: Missed,
    pause: Option<(i64, i64)>,
    cancel: Option<i64>,
}

/// A fault, and how its finding begins.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Lose,
    Repeat,
    Hurry,
    Misdirect,
    RunAnew,
    Invent,
    OutliveCancel,
    Swap,
    Excuse,
    Haunt,
    CatchUp,
    WaitTooLong,
    Conceal,
}

const FAULTS: [(Fault, &str); 13] = [
    (Fault::Lose, "missing: "),
    (Fault::Repeat, "twice: "),
    (Fault::Hurry, "early: "),
    (Fault::Misdirect, "wrong session: "),
    (Fault::RunAnew, "two runs: "),
    (Fault::Invent, "misplaced: "),
    (Fault::OutliveCancel, "after cancel: "),
    (Fault::Swap, "out of order: "),
    (Fault::Excuse, "skip without cause: "),
    (Fault::Haunt, "while down: "),
    (Fault::CatchUp, "caught up: "),
    (Fault::WaitTooLong, "late: "),
    (Fault::Conceal, "unaccounted for: "),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn right_histories_are_clean_and_faults_are_found(
        plan in plan(),
        (fault, finding) in select(&FAULTS[..]),
        pick in any::<Index>(),
    ) {
        let mut events = history(&plan);
        let report = check_within(&events, PROMPT);
        prop_assert!(report.is_clean(), "{report}\n{}", write(&events));
        prop_assert!(read(&write(&events)).is_ok_and(|read| read == events));

        if plant(&mut events, fault, pick) {
            let report = check_within(&events, PROMPT);
            let found: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
            prop_assert!(found.iter().any(|found| found.starts_with(finding)), "{found:#?}\n{}", write(&events));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Whatever was noted in whatever order: there is a report, and its figures add up.
    #[test]
    fn no_history_is_too_odd(seed in prop::collection::vec(any::<(Index, Index)>(), 1..40)) {
        for (name, text) in histories() {
            let mut events = read(&text).expect("sound");
            for (first, second) in &seed {
                let (first, second) = (first.index(events.len()), second.index(events.len()));
                events.swap(first, second);
                if (first + second) % 5 == 0 && events.len() > 1 {
                    events.remove(first.min(events.len() - 1));
                }
            }
            let figures = check_within(&events, PROMPT).figures;
            prop_assert!(figures.received + figures.excused + figures.open <= figures.slots, "{name}: {figures:?}");
        }
    }
}

/// Plants a fault; `false` where the history has no place for it.
fn plant(events: &mut Vec<Event>, fault: Fault, pick: Index) -> bool {
    let places: Vec<usize> = (0..events.len()).filter(|place| has_place(events, fault, *place)).collect();
    if places.is_empty() {
        return false;
    }
    let place = places[pick.index(places.len())];
    let mut changed = events[place].clone();
    let Event::Receive { at, schedule, run, slot, session } = &mut changed else {
        return plant_after(events, fault, place);
    };
    let slot_before = slot.expect("all receipts name their slot");
    match fault {
        Fault::Lose => drop(events.remove(place)),
        Fault::Excuse => {
            let (schedule, from) = (schedule.clone(), slot_before);
            events[place] = Event::Skip { schedule, from, until: from, count: 1, reason: "busy".into() };
        }
        Fault::Hurry => {
            *at = slot_before.checked_sub(Span::from_millis(1)).expect("within the calendar");
            events[place] = changed;
        }
        Fault::Misdirect => {
            *session = Some("elsewhere".into());
            events[place] = changed;
        }
        Fault::WaitTooLong => {
            *at = at.checked_add(Span::from_millis(401)).expect("within the calendar");
            events[place] = changed;
        }
        Fault::Repeat => events.insert(place + 1, changed),
        Fault::RunAnew => {
            run.push_str(" anew");
            events.insert(place + 1, changed);
        }
        Fault::Invent => {
            run.push_str(" invented");
            *slot = slot_before.checked_sub(Span::from_millis(7_000));
            events.insert(place + 1, changed);
        }
        Fault::Swap => events.swap(place, place + 1),
        Fault::Conceal => conceal(events, place),
        Fault::OutliveCancel | Fault::Haunt | Fault::CatchUp => unreachable!("not at a receipt"),
    }
    true
}

fn has_place(events: &[Event], fault: Fault, place: usize) -> bool {
    let event = &events[place];
    match fault {
        Fault::OutliveCancel => matches!(event, Event::Cancel { .. }),
        Fault::Haunt => matches!(event, Event::Down { .. }),
        Fault::CatchUp => folded(events, place).is_some(),
        Fault::Conceal => overlapped(events, place).is_some(),
        Fault::Swap => {
            // One that is made up for may stand for several slots, and come in the place of any of them.
            let key = |event: &Event| {
                let Event::Receive { at, slot: Some(slot), session, .. } = event else { return None };
                let is_prompt = at.since(*slot) < Span::from_millis(1_000);
                is_prompt.then(|| (*slot, session.clone()))
            };
            key(event).is_some() && events.get(place + 1).and_then(key) == key(event)
        }
        Fault::Lose
        | Fault::Repeat
        | Fault::Hurry
        | Fault::Misdirect
        | Fault::RunAnew
        | Fault::Invent
        | Fault::Excuse
        | Fault::WaitTooLong => matches!(event, Event::Receive { .. }),
    }
}

/// A run goes on until after the next slot of its schedule, which is skipped for it, and nobody says so.
fn conceal(events: &mut [Event], place: usize) {
    let next = overlapped(events, place).expect("a place");
    let Event::Receive { schedule, run, .. } = events[place].clone() else { return };
    let at = events[next].at().and_then(|at| at.checked_add(Span::from_millis(1))).expect("a time");
    events[next] = Event::Finish { at, schedule, run };
}

/// The receipt of the next slot, where a run that had not ended would be a reason to skip it.
fn overlapped(events: &[Event], place: usize) -> Option<usize> {
    let Event::Receive { schedule, .. } = &events[place] else { return None };
    let skips = events.iter().any(|event| {
        let Event::Create { schedule: other, policy, .. } = event else { return false };
        other == schedule && policy.overlap == Overlap::Skip
    });
    let is_next = |event: &Event| {
        let (Event::Receive { schedule: other, .. }
        | Event::Pause { schedule: other, .. }
        | Event::Resume { schedule: other, .. }
        | Event::Cancel { schedule: other, .. }) = event
        else {
            return matches!(event, Event::Down { .. } | Event::Up { .. });
        };
        other == schedule
    };
    let next = (place + 1..events.len()).find(|next| is_next(&events[*next]))?;
    let soon = events[next].at()?.checked_add(Span::from_millis(1_000))?;
    let is_over = events[next..].iter().any(|event| {
        let Some(at) = event.at() else { return false };
        at <= soon && !matches!(event, Event::Receive { .. })
    });
    (skips && !is_over && matches!(events[next], Event::Receive { .. })).then_some(next)
}

/// Plants a delivery right after an event that forbids it.
fn plant_after(events: &mut Vec<Event>, fault: Fault, place: usize) -> bool {
    let (at, schedule, slot) = match (&events[place], fault) {
        (Event::Cancel { at, schedule }, _) => (*at, schedule.clone(), *at),
        (_, Fault::CatchUp) => folded(events, place).expect("a place"),
        (event, _) => {
            let at = event.at().expect("a down has a time");
            let Some((schedule, slot)) = events[..place].iter().rev().find_map(received) else {
                return false;
            };
            (at, schedule, slot)
        }
    };
    let run = "planted".to_owned();
    let receipt = Event::Receive { at, schedule, run, slot: Some(slot), session: None };
    events.insert(place + 1, receipt);
    true
}

fn received(event: &Event) -> Option<(String, Moment)> {
    let Event::Receive { schedule, slot, .. } = event else { return None };
    Some((schedule.clone(), (*slot)?))
}

/// When the process is up again: a slot that was folded meanwhile.
fn folded(events: &[Event], place: usize) -> Option<(Moment, String, Moment)> {
    let Event::Up { at } = &events[place] else { return None };
    // Slots behind the end of the history are nobody's: of those before it there may be one only, which is not folded.
    if *at > half_past(HOURS * 60) {
        return None;
    }
    let down = events[..place].iter().rev().find_map(|event| {
        let Event::Down { at } = event else { return None };
        Some(*at)
    })?;
    events[..place].iter().find_map(|event| {
        let Event::Create { schedule, trigger, policy, .. } = event else { return None };
        let is_other = |event: &Event| {
            let (Event::Cancel { schedule: other, .. } | Event::Pause { schedule: other, .. }) = event else {
                return false;
            };
            other == schedule
        };
        let missed = slots(trigger, down, *at).expect("a sound trigger");
        let first = *missed.first()?;
        let is_folded = match policy.missed {
            Missed::RunOnce => missed.len() > 1,
            Missed::Skip => true,
            Missed::All => false,
        };
        let is_plain = !events.iter().any(is_other) && !matches!(trigger, Trigger::At { .. });
        (is_folded && is_plain).then(|| (*at, schedule.clone(), first))
    })
}

/// What a scheduler makes of it that does everything at once.
fn history(plan: &Plan) -> Vec<Event> {
    // When, what comes first at equal times, in which order.
    let mut timed: Vec<((Moment, u8, Moment, usize), Event)> = Vec::new();
    let mut note = |at: Moment, event: Event| timed.push(((at, 0, at, 0), event));
    for (from, until) in blocks(&plan.downs) {
        note(from, Event::Down { at: from });
        note(until, Event::Up { at: until });
    }
    for (number, planned) in plan.schedules.iter().enumerate() {
        let (schedule, session) = (format!("s{number}"), Some(format!("t{}", planned.session)));
        let overlap = if planned.missed == Missed::All { Overlap::Parallel } else { Overlap::Skip };
        let policy = Policy { overlap, missed: planned.missed, ..Policy::default() };
        let (at, trigger) = (second(0), planned.trigger.clone());
        let lifetime = Default::default();
        timed.push((
            (at, 0, at, number),
            Event::Create { at, schedule: schedule.clone(), session, trigger, policy, lifetime },
        ));
        for (from, until) in blocks(planned.pause.as_slice()) {
            timed.push(((from, 0, from, number), Event::Pause { at: from, schedule: schedule.clone() }));
            timed.push(((until, 0, until, number), Event::Resume { at: until, schedule: schedule.clone() }));
        }
        // While the process is down, nobody acknowledges anything.
        let is_up = |at: &Moment| !blocks(&plan.downs).iter().any(|(from, until)| from <= at && at <= until);
        let cancel = planned.cancel.map(half_past).filter(is_up);
        if let Some(at) = cancel {
            timed.push(((at, 0, at, number), Event::Cancel { at, schedule: schedule.clone() }));
        }
        for (slot, at) in kept(plan, planned) {
            if cancel.is_none_or(|cancel| at < cancel) {
                let (schedule, run) = (schedule.clone(), format!("{schedule} {slot}"));
                let event = Event::Receive { at, schedule, run, slot: Some(slot), session: None };
                timed.push(((at, 1, slot, number), event));
            }
        }
    }
    timed.sort_by_key(|(key, _)| *key);
    let mut events: Vec<Event> = Vec::new();
    let mut millis = 0;
    let mut last = None;
    for ((due, ..), mut event) in timed {
        millis = if last == Some(due) { millis + 1 } else { 1 };
        last = Some(due);
        if let Event::Receive { at, session, schedule, .. } = &mut event {
            *at = due.checked_add(Span::from_millis(millis)).expect("within the calendar");
            let number: usize = schedule[1..].parse().expect("a number");
            *session = Some(format!("t{}", plan.schedules[number].session));
        }
        events.push(event);
    }
    events.push(Event::End { at: half_past(HOURS * 60) });
    events
}

/// The slots that are delivered, and when they can be.
fn kept(plan: &Plan, planned: &Scheduled) -> Vec<(Moment, Moment)> {
    let mut stands = blocks(&plan.downs);
    stands.extend(blocks(planned.pause.as_slice()));
    let free = |slot: Moment| {
        let mut at = slot;
        while let Some((_, until)) = stands.iter().find(|(from, until)| *from <= at && at < *until) {
            at = *until;
        }
        at
    };
    let all = slots(&planned.trigger, second(0), half_past(HOURS * 60)).expect("a sound trigger");
    let mut kept: Vec<(Moment, Moment)> = Vec::new();
    for slot in all {
        let at = free(slot);
        match planned.missed {
            Missed::Skip if at > slot => continue,
            Missed::RunOnce if kept.last().is_some_and(|(_, other)| *other == at) => drop(kept.pop()),
            Missed::Skip | Missed::RunOnce | Missed::All => {}
        }
        kept.push((slot, at));
    }
    kept.retain(|(_, at)| *at < half_past(HOURS * 60));
    kept
}

/// Stretches that do not touch, from minutes and lengths.
fn blocks(minutes: &[(i64, i64)]) -> Vec<(Moment, Moment)> {
    let mut sorted = minutes.to_vec();
    sorted.sort_unstable();
    let mut apart: Vec<(Moment, Moment)> = Vec::new();
    for (minute, length) in sorted {
        if apart.last().is_none_or(|(_, until)| *until < half_past(minute - 1)) {
            apart.push((half_past(minute), half_past(minute + length)));
        }
    }
    apart
}

fn second(seconds: i64) -> Moment {
    Moment::new(START + seconds, 0).expect("within the calendar")
}

/// Half a second and a bit past a minute: never a slot.
fn half_past(minute: i64) -> Moment {
    Moment::new(START + minute * 60 + 23, 500_000_000).expect("within the calendar")
}

/// Some hundreds; more for a long run with `PROPTEST_CASES`.
fn cases() -> u32 {
    let default = ProptestConfig::default().cases;
    if default == 256 { 400 } else { default }
}

fn plan() -> impl Strategy<Value = Plan> {
    let downs = prop::collection::vec((1..HOURS * 60, 1..90_i64), 0..3);
    (prop::collection::vec(scheduled(), 1..6), downs).prop_map(|(schedules, downs)| Plan { schedules, downs })
}

fn scheduled() -> impl Strategy<Value = Scheduled> {
    let minute = 1..HOURS * 60;
    let rare = |stretch| prop::option::weighted(0.25, stretch);
    let missed = select(vec![Missed::RunOnce, Missed::Skip, Missed::All]);
    (trigger(), 0..3_u8, missed, rare((minute.clone(), 1..90_i64)), prop::option::weighted(0.25, minute))
        .prop_map(|(trigger, session, missed, pause, cancel)| Scheduled {
            trigger,
            session,
            missed,
            pause,
            cancel,
        })
}

fn trigger() -> impl Strategy<Value = Trigger> {
    let zone = || select(vec!["UTC", "Europe/Berlin", "Europe/London", "Asia/Kolkata", "+03:30"]);
    let once = (1..HOURS * 60).prop_map(|minute| Trigger::At { at: second(minute * 60) });
    let every = (2..120_u64, 0..60_i64).prop_map(|(period, minute)| Trigger::Every {
        period_ms: period * 60_000,
        anchor: Some(second(minute * 60)),
        from: Default::default(),
    });
    let daily = (0..24_u8, 0..60_u8, zone()).prop_map(|(hour, minute, zone)| Trigger::Calendar {
        weekdays: vec![Day::Saturday, Day::Sunday],
        time: format!("{hour:02}:{minute:02}"),
        zone: zone.into(),
    });
    let cron =
        (select(vec!["*/10 * * * *", "0 * * * *", "30 1-4 * * *", "15 2 * * SUN", "*/7 2 25 10 *"]), zone())
            .prop_map(|(expr, zone)| Trigger::Cron { expr: expr.into(), zone: zone.into() });
    prop_oneof![1 => once, 3 => every, 2 => daily, 3 => cron]
}

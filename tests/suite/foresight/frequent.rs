//! What would differ, where some schedules are due every few seconds: those do not hide the others, and no slot is said to be
//! gone that is only handled later.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use reveille::domain::{
    Caller, CountFrom, Durability, Every, Lifetime, Missed, Moment, Policy, Reason, ScheduleId, Scope,
    SessionConfig, Settings, Span, When,
};
use reveille::engine::{Difference, Differences, ForecastQuery, NewSchedule, Outage, SlotOutcome, WhatIf};
use reveille::port::Clock;
use reveille::runtime::Handle;
use reveille::testkit::SimClock;

use crate::simulated::{ask, engine, open, session};

/// A durable schedule whose slots count from there, so many seconds apart.
fn every(handle: &Handle, id: &str, (seconds, from): (u64, CountFrom), settings: Settings) {
    let period = Span::from_millis(seconds * 1_000);
    let first = handle.now().wall.checked_add(period).expect("near");
    let when = When::By(Every::new(period, first, from).expect("a period").into());
    let new = NewSchedule {
        id: Some(ScheduleId::new(id).expect("an id")),
        durability: Durability::Durable,
        settings: Some(Box::new(settings)),
        ..NewSchedule::message(session("s"), when, "again")
    };
    handle.schedule(new).expect("there is room");
}

/// Two that count from the end of a run, as watches do, and a job of each minute.
fn scene() -> (Handle, Arc<SimClock>) {
    let (handle, clock) = engine(&[]);
    open(&handle, "s", SessionConfig::default());
    let missed = || Settings { policy: Policy { missed: Missed::Skip, ..Policy::PLAIN }, ..Settings::PLAIN };
    every(&handle, "five", (5, CountFrom::Finish), missed());
    every(&handle, "ten", (10, CountFrom::Finish), missed());
    every(&handle, "job", (60, CountFrom::Slot), Settings::PLAIN);
    (handle, clock)
}

fn at(from: Moment, seconds: u64) -> Moment {
    from.checked_add(Span::from_millis(seconds * 1_000)).expect("near")
}

/// What would differ in a day, if the process were down from that second for half an hour.
fn down(handle: &Handle, clock: &SimClock, from: u64) -> (Outage, Differences) {
    let now = clock.now();
    let outage = Outage { from: at(now.wall, from), until: at(now.wall, from + 1_802) };
    let ask = ForecastQuery::of(&Scope::Operator, now.wall);
    let zones = reveille::calendar::Zones::bundled();
    let told = handle.view(|state| state.what_if(&zones, now, &ask, &WhatIf::Outage(outage)));
    (outage, told.expect("an outage is never refused"))
}

#[test]
fn an_outage_is_told_of_each_schedule() {
    for from in [1_230, 3_630, 36_030] {
        let (handle, clock) = scene();
        let (outage, told) = down(&handle, &clock, from);
        let mut by_id: BTreeMap<String, Vec<&Difference>> = BTreeMap::new();
        for slot in &told.slots {
            by_id.entry(slot.schedule.to_string()).or_default().push(slot);
        }
        let job = &by_id["job"];
        let is_whole = |id: &str| !told.more.contains(&ScheduleId::new(id).expect("an id"));
        // Its slots of half an hour: one run stands for all, and after it nothing is otherwise.
        assert_eq!((job.len(), is_whole("job")), (30, true), "down from {from} s");
        let fires = |slot: &&&Difference| {
            slot.would.as_ref().is_some_and(|would| would.outcome == SlotOutcome::Fires)
        };
        assert_eq!(job.iter().filter(fires).count(), 1, "down from {from} s");
        for id in ["five", "ten"] {
            let is_in = |slot: &&&Difference| outage.from <= slot.slot && slot.slot < outage.until;
            let inside: Vec<_> = by_id[id].iter().filter(is_in).collect();
            assert!(inside.len() > 100, "{id}, down from {from} s: {}", inside.len());
            for slot in inside {
                let would = slot.would.as_ref().map(|would| (would.reason, would.at));
                assert_eq!(would, Some((Some(Reason::Missed), outage.until)), "{id}, {slot:?}");
            }
            // They go on at other seconds, for ever.
            assert!(told.cut && !is_whole(id), "{id}, down from {from} s");
        }
        assert!(told.slots.len() <= 1_000);
    }
}

#[test]
fn a_reader_sees_them_skipped_as_missed() {
    let (handle, clock) = scene();
    let now = clock.now().wall;
    let query = format!(
        "[{{(:reveille/what-if {{:down-from #inst \"{}\" :down-until #inst \"{}\"}}) \
          [:reveille.slot/schedule-id :reveille.slot/will :reveille.slot/reason]}}]",
        at(now, 3_630),
        at(now, 5_432)
    );
    let answer = ask(&handle, &Caller::OPERATOR, &query, false);
    for id in ["five", "ten"] {
        let is_row = |row: &&str| {
            row.contains(&format!("{id:?}")) && row.contains(":skipped") && row.contains(":missed")
        };
        let rows = answer.split('}').filter(is_row).count();
        assert!(rows > 100, "{id}: {rows}");
    }
}

/// Whether a schedule has ended by then depends on each of its slots, and there are more than are looked at.
#[test]
fn what_cannot_be_reached_is_not_said_to_be_the_same() {
    let (handle, clock) = engine(&[]);
    open(&handle, "s", SessionConfig::default());
    let lifetime = Lifetime { max_runs: NonZeroU32::new(100_000), ..Lifetime::PLAIN };
    every(&handle, "five", (5, CountFrom::Finish), Settings { lifetime, ..Settings::PLAIN });
    let (_, told) = down(&handle, &clock, 72_000);
    assert_eq!((told.slots.len(), told.cut), (0, true));
    let now = clock.now().wall;
    let query = format!(
        "[{{(:reveille/what-if {{:down-from #inst \"{}\" :down-until #inst \"{}\"}}) [:reveille.slot/at]}}]",
        at(now, 72_000),
        at(now, 73_802)
    );
    let answer = ask(&handle, &Caller::OPERATOR, &query, false);
    assert!(answer.contains("whether anything would differ is unknown"), "{answer}");
}

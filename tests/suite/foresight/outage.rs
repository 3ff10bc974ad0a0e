//! What would be otherwise if the process were down for a while is what is otherwise when it was.

use std::collections::BTreeSet;
use std::sync::Arc;

use reveille::domain::{Moment, ScheduleId, Scope, Span};
use reveille::engine::{Difference, ForecastQuery, ForecastSlot, Outage, SlotOutcome, WhatIf};
use reveille::port::{Clock, HistoryCaps};
use reveille::testkit::StoreMemory;

use super::forecast::{World, said};

const SEEDS: u64 = 40;
const HOUR_MS: u64 = 3_600_000;

#[test]
fn an_outage_makes_the_difference_that_was_foretold() {
    let (mut differing, mut slots) = (0, 0);
    for seed in 0..SEEDS {
        let caps = HistoryCaps { schedule_rows: 1_000, bytes: 1 << 30, days: 1_000 };
        let store = Arc::new(StoreMemory::new(caps));
        let mut world = World::over(seed, store.clone());
        let (now, scope) = (world.stage.clock.now(), Scope::Operator);
        let before = Span::from_nanos(1 + world.below(5 * HOUR_MS * 1_000_000));
        let down = Span::from_nanos(1 + world.below(5 * HOUR_MS * 1_000_000));
        let after = Span::from_millis(HOUR_MS * (1 + world.below(8)));
        let later = |t: Moment, span: Span| t.checked_add(span).expect("near");
        let (from, until) = (later(now.wall, before), later(later(now.wall, before), down));
        let ask =
            ForecastQuery { to: later(until, after), first: 3_000, ..ForecastQuery::of(&scope, now.wall) };
        let supposed = WhatIf::Outage(Outage { from, until });
        let zones = world.stage.zones.clone();
        let (as_is, told) = world
            .handle
            .view(|state| (state.forecast(&zones, now, &ask), state.what_if(&zones, now, &ask, &supposed)));
        let told = told.expect("an outage is never refused");
        if as_is.cut || told.cut {
            continue;
        }
        let seen = world.stage.history.len();
        world.live(before);
        world.stage.clock.advance(down);
        world.begin_anew(store);
        world.live(after);
        let mut happened = world.happened(seen);
        happened.retain(|entry| entry.0 < ask.to);
        let mut expected = said(&would(&as_is.slots, &told.slots));
        expected.sort();
        differing += told.slots.len();
        slots += expected.len();
        let most = expected.len().max(happened.len());
        if let Some(place) = (0..most).find(|at| expected.get(*at) != happened.get(*at)) {
            assert_eq!(
                expected.get(place),
                happened.get(place),
                "seed {seed}, down from {from} until {until}"
            );
        }
    }
    assert!(differing > 300 && slots > 1_000, "too little happens: {differing} of {slots}");
}

/// What comes as things stand, with the differences made.
fn would(as_is: &[ForecastSlot], told: &[Difference]) -> Vec<ForecastSlot> {
    let changed: BTreeSet<(&ScheduleId, Moment)> = told.iter().map(|it| (&it.schedule, it.slot)).collect();
    let stays = as_is.iter().filter(|it| !changed.contains(&(&it.schedule, it.slot)));
    let would: Vec<&ForecastSlot> = told.iter().filter_map(|it| it.would.as_ref()).collect();
    // One that goes with a later one is listed beside it.
    let goes_with = |it: &ForecastSlot, other: &ForecastSlot| {
        other.schedule == it.schedule && other.since <= it.slot && it.slot < other.slot
    };
    let own = would.iter().filter(|it| !would.iter().any(|other| goes_with(it, other)));
    let all = stays.chain(own.copied());
    all.filter(|it| it.outcome != SlotOutcome::Lost && it.outcome != SlotOutcome::Gone).cloned().collect()
}

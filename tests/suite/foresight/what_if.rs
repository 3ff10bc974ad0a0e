//! What would be otherwise is what then is: the same world twice, once asked and once changed.

use std::collections::BTreeMap;

use reveille::domain::{CountFrom, Every, Missed, Moment, Overlap, Policy, ScheduleId, Scope, Span, When};
use reveille::engine::{
    Command, Difference, Differences, Forecast, ForecastQuery, ForecastSlot, Input, ScheduleChange, WhatIf,
    Which,
};
use reveille::port::Clock;

use super::forecast::World;

const SEEDS: u64 = 300;

type Slots = BTreeMap<(ScheduleId, Moment), ForecastSlot>;

#[test]
fn an_edit_makes_the_difference_that_was_foretold() {
    let (mut asked, mut differing) = (0, 0);
    for seed in 0..SEEDS {
        let (one, other) = (World::new(seed), World::new(seed));
        let Some(schedule) = one.any_schedule() else { continue };
        let (change, again) = (edit(&one), (other.any_schedule(), edit(&other)));
        assert_eq!(
            (Some(&schedule), &change),
            (again.0.as_ref(), &again.1),
            "seed {seed}: the same world twice"
        );
        let (now, scope) = (one.stage.clock.now(), Scope::Operator);
        let to = now.wall.checked_add(Span::from_millis(3_600_000 * (1 + seed % 60))).expect("near");
        let ask = ForecastQuery { to, first: 3_000, ..ForecastQuery::of(&scope, now.wall) };
        let supposed = WhatIf::Change(schedule.clone(), Box::new(change.clone()));
        let told = one.handle.view(|state| state.what_if(&one.stage.zones, now, &ask, &supposed));
        let as_is = one.handle.view(|state| state.forecast(&one.stage.zones, now, &ask));
        let which = Which::any(Scope::Operator, schedule.clone());
        let is_over =
            one.handle.view(|state| state.schedule(&schedule).is_none_or(|it| it.status().is_terminal()));
        let changed =
            other.handle.submit(Input::Command(Command::ChangeSchedule { which, change: Box::new(change) }));
        let told = match (told, changed) {
            (Ok(told), Ok(())) => told,
            // One that has ended may live again by a change; a supposition is about those that have not.
            (Err(_), Ok(())) if is_over => continue,
            (Err(told), Err(refused)) => {
                assert!(
                    is_over || told == refused,
                    "seed {seed}: {told} was told, and the change is refused: {refused}"
                );
                continue;
            }
            (told, changed) => panic!("seed {seed}: {told:?} was told, and the change is {changed:?}"),
        };
        let would = other.handle.view(|state| state.forecast(&other.stage.zones, now, &ask));
        asked += 1;
        differing += usize::from(!told.slots.is_empty());
        check(seed, &told, (&as_is, &would));
    }
    assert!(asked > 150 && differing > 80, "too little is asked: {asked}, {differing} of them differ");
}

/// The differences are those between the two forecasts: none is missing, and none is invented.
#[track_caller]
fn check(seed: u64, told: &Differences, (as_is, would): (&Forecast, &Forecast)) {
    // Two lists are cut at a count, and then say nothing of the slots behind that.
    if as_is.cut || would.cut || told.cut {
        return;
    }
    let by_slot = |slots: &[ForecastSlot]| -> Slots {
        slots.iter().map(|it| ((it.schedule.clone(), it.slot), it.clone())).collect()
    };
    let said: BTreeMap<(ScheduleId, Moment), &Difference> =
        told.slots.iter().map(|it| ((it.schedule.clone(), it.slot), it)).collect();
    let (as_is, would) = (by_slot(&as_is.slots), by_slot(&would.slots));
    let fate = |coming: &ForecastSlot| (coming.outcome, coming.reason, coming.at);
    for (key, coming) in &would {
        let former = as_is.get(key);
        let same = former.is_some_and(|former| fate(former) == fate(coming));
        match said.get(key) {
            None => assert!(same, "seed {seed}: nothing is said of {coming:?}, which was {former:?}"),
            Some(told) => {
                assert!(!same, "seed {seed}: {told:?}, and it is the same");
                assert_eq!(told.would.as_ref(), Some(coming), "seed {seed}");
                assert!(
                    former.is_none() || told.as_is.as_ref() == former,
                    "seed {seed}: {told:?}, not {former:?}"
                );
            }
        }
    }
    for (key, coming) in as_is.iter().filter(|(key, _)| !would.contains_key(*key)) {
        // It is gone, or goes with a later one that is listed.
        let folded = would.values().any(|it| it.schedule == key.0 && it.since <= key.1 && key.1 < it.slot);
        match said.get(key) {
            Some(told) => {
                assert_eq!(
                    (told.as_is.as_ref(), told.would.is_some()),
                    (Some(coming), folded),
                    "seed {seed}"
                );
            }
            None => assert!(folded, "seed {seed}: nothing is said of {coming:?}, which is gone"),
        }
    }
    for told in said.values() {
        let key = (told.schedule.clone(), told.slot);
        assert!(as_is.contains_key(&key) || would.contains_key(&key), "seed {seed}: {told:?} is in neither");
    }
}

/// Another trigger, another policy, a pause or its end, at random.
fn edit(world: &World) -> ScheduleChange {
    let now = world.stage.clock.now().wall;
    let period = Span::from_millis(60_000 + 1_000 * world.below(9_000));
    let every = Every::new(period, now, CountFrom::Slot).map(|every| When::By(every.into()));
    let soon = now.checked_add(Span::from_millis(1_000 + world.below(90_000_000))).map(When::At);
    let policy = Policy {
        missed: Missed::ALL[world.place(3)],
        overlap: Overlap::ALL[world.place(2)],
        max_late: world.one_in(3).then(|| Span::from_millis(1_000_000)),
        ..Policy::PLAIN
    };
    ScheduleChange {
        when: every.filter(|_| world.one_in(3)).or(soon.filter(|_| world.one_in(4))),
        policy: world.one_in(3).then_some(policy),
        paused: world.one_in(3).then(|| world.one_in(2)),
        ..ScheduleChange::default()
    }
}

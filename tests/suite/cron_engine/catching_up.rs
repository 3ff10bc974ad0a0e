//! Slots that nobody was there for: each of them gets its run, also if another one comes in time before they are looked at.

use reveille::calendar::parse_cron;
use reveille::domain::{
    CountFrom, Durability, Every, Missed, Overlap, Policy, Scope, Settings, Span, Trigger, When, Zone,
};
use reveille::engine::{Command, ForecastQuery, NewSchedule, ScheduleChange, SlotOutcome, Which};
use reveille::port::Clock;

use super::scene::{Scene, at, session};

/// A durable schedule of each minute, all of whose slots are made up for, made at midnight.
fn scene(when: When) -> Scene {
    let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
    let policy = Policy { missed: Missed::All, overlap: Overlap::Parallel, ..Policy::PLAIN };
    let settings = Some(Box::new(Settings { policy, ..Settings::PLAIN }));
    let new = NewSchedule::message(session("s"), when, "p");
    scene.create(NewSchedule { durability: Durability::Durable, settings, ..new });
    scene
}

/// Each minute, by two triggers that count their slots in different ways.
fn each_minute() -> [When; 2] {
    let every = Every::new(Span::from_millis(60_000), at("2026-06-01T00:01:00Z"), CountFrom::Slot);
    let cron = parse_cron("* * * * *").expect("five fields");
    let cron = Trigger::Cron(cron.into(), Zone::parse("UTC").expect("a zone").into());
    [When::By(every.expect("a minute is a period").into()), When::By(cron)]
}

fn claims(scene: &mut Scene) -> Vec<String> {
    scene.news().into_iter().filter(|news| news.starts_with("claim ")).collect()
}

#[test]
fn a_slot_in_time_takes_no_missed_slot_along() {
    for when in each_minute() {
        let mut scene = scene(when);
        scene.stage.clock.advance(Span::from_millis(359_900));
        // The process is there a moment before the next slot, and looks a moment after it.
        scene.awake();
        scene.stage.clock.advance(Span::from_millis(150));
        let now = scene.stage.clock.now();
        let to = now.wall.checked_add(Span::from_millis(1)).expect("near");
        let ask = ForecastQuery { to, ..ForecastQuery::of(&Scope::Operator, now.wall) };
        let coming = scene.handle.view(|state| state.forecast(&scene.stage.zones, now, &ask)).slots;
        let foretold = coming.iter().filter(|slot| slot.count == 1 && slot.outcome == SlotOutcome::Fires);
        assert_eq!(foretold.count(), 6, "{coming:?}");
        scene.turn();
        let missed = (1..=5).map(|minute| format!("claim 00:0{minute}:00 (missed)"));
        let expected: Vec<String> = missed.chain(["claim 00:06:00 (slot)".to_owned()]).collect();
        assert_eq!(claims(&mut scene), expected);
    }
}

/// There are more of them than are handled under one hold of the lock.
#[test]
fn an_edit_comes_after_all_that_was_missed() {
    for when in each_minute() {
        let mut scene = scene(when);
        scene.stage.clock.advance(Span::from_millis(300 * 60_000 + 30_000));
        scene.awake();
        let change = ScheduleChange { label: Some(Some("new".into())), ..ScheduleChange::default() };
        let which = Which::any(
            Scope::Operator,
            scene.handle.view(|state| state.schedules()[0].schedule().id.clone()),
        );
        scene.command(Command::ChangeSchedule { which, change: Box::new(change) }).expect("it is live");
        let news = scene.news();
        let before = news.iter().take_while(|news| *news != "changed");
        let is_claim = |news: &&String| news.starts_with("claim ");
        let claims = (before.filter(is_claim).count(), news.iter().filter(is_claim).count());
        assert_eq!(claims, (300, 300));
    }
}

/// The oldest of too many are skipped, and the others have their runs.
#[test]
fn so_many_are_made_up_for_and_no_more() {
    for when in each_minute() {
        let mut scene = scene(when);
        // Two days have 2,880 slots, and the last of them is to come.
        scene.down(Span::from_millis(2 * 86_400_000 - 30_000));
        let news = scene.news();
        let claims = news.iter().filter(|news| news.starts_with("claim ")).count();
        assert_eq!(news[0], "skip 2026-06-02T07:19:00Z and 1878 before: catch-up-limit");
        assert_eq!(claims, 1_000);
    }
}

/// A slot that was brought forward lies between two slots of the trigger, and is counted with those after it.
#[test]
fn a_slot_beside_the_grid_counts_too() {
    for when in each_minute() {
        let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
        let id = scene.create(NewSchedule::message(session("s"), when, "p"));
        scene.pass(Span::from_millis(30_000));
        scene.command(Command::BringForward(Scene::any(&id))).expect("it is live");
        scene.oversleep(Span::from_millis(160_000));
        assert_eq!(scene.news()[..2], ["armed", "claim 00:03:00 (slot) for 3 more"]);
    }
}

//! A schedule is edited: which of its slots stay, and which come again.

use std::num::NonZeroU32;

use reveille::domain::{Caller, CountFrom, Durability, Every, Lifetime, ScheduleId, Settings, Span, When};
use reveille::engine::{Command, NewSchedule, ScheduleChange};

use super::scene::{Scene, at, session};

const MINUTE_MS: u64 = 60_000;

/// A durable schedule of this time and lifetime, made at midnight.
fn scene(when: When, lifetime: Lifetime) -> (Scene, ScheduleId) {
    let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
    let settings = Some(Box::new(Settings { lifetime, ..Settings::PLAIN }));
    let new = NewSchedule::message(session("s"), when, "p");
    let id = scene.create(NewSchedule { durability: Durability::Durable, settings, ..new });
    (scene, id)
}

/// Once, a minute after midnight.
fn once() -> When {
    When::At(at("2026-06-01T00:01:00Z"))
}

/// Each minute, from a minute after midnight.
fn each_minute(from: CountFrom) -> When {
    let every = Every::new(Span::from_millis(MINUTE_MS), at("2026-06-01T00:01:00Z"), from);
    When::By(every.expect("a minute is a period").into())
}

fn at_most(runs: u32) -> Lifetime {
    Lifetime { max_runs: NonZeroU32::new(runs), ..Lifetime::PLAIN }
}

fn until(end: &str) -> Lifetime {
    Lifetime { expires_at: Some(at(end)), ..Lifetime::PLAIN }
}

fn change(scene: &mut Scene, id: &ScheduleId, lifetime: Lifetime) -> Result<(), String> {
    let change = Box::new(ScheduleChange { lifetime: Some(lifetime), ..ScheduleChange::default() });
    scene.command(Command::ChangeSchedule { which: Scene::any(id), change })
}

/// What comes of half a minute that ends half a minute before or after the slots.
fn half_minutes(scene: &mut Scene, count: u64) -> Vec<String> {
    scene.pass(Span::from_millis(count * MINUTE_MS / 2));
    scene.news()
}

#[test]
fn an_edit_of_the_lifetime_brings_a_single_slot_not_back() {
    let edits = [
        Lifetime { dies_with_session: false, ..Lifetime::PLAIN },
        Lifetime { cancel_on_user_activity: true, ..Lifetime::PLAIN },
        at_most(9),
        until("2026-06-02T00:00:00Z"),
    ];
    for edit in edits {
        let (mut scene, id) = scene(once(), Lifetime::PLAIN);
        assert_eq!(half_minutes(&mut scene, 3), ["claim 00:01:00 (slot)", "00:01:00 out", "00:01:00 ok"]);
        change(&mut scene, &id, edit).expect("what has ended can be edited");
        assert_eq!(half_minutes(&mut scene, 9), ["changed"], "after its end: {edit:?}");

        let (mut scene, id) = self::scene(once(), Lifetime::PLAIN);
        scene.attach(&[session("s")]);
        scene.pass(Span::from_millis(70_000));
        assert_eq!(scene.news(), ["claim 00:01:00 (slot)", "00:01:00 out"]);
        change(&mut scene, &id, edit).expect("it is live");
        scene.acknowledge().expect("the host has it");
        assert_eq!(half_minutes(&mut scene, 9), ["changed", "00:01:00 ok"], "while it is out: {edit:?}");
    }
}

#[test]
fn an_edit_of_the_lifetime_brings_no_skipped_slot_back() {
    let (mut scene, id) = scene(each_minute(CountFrom::Slot), Lifetime::PLAIN);
    scene.command(Command::SkipNext(Scene::any(&id))).expect("it has a slot");
    change(&mut scene, &id, at_most(1)).expect("it has a slot within it");
    assert_eq!(half_minutes(&mut scene, 3), ["skip 00:01:00: skipped-by-hand", "changed"]);
    assert_eq!(half_minutes(&mut scene, 9), ["claim 00:02:00 (slot)", "00:02:00 out", "00:02:00 ok"]);
}

#[test]
fn an_edit_of_the_lifetime_drops_no_missed_slot() {
    let (mut scene, id) = scene(each_minute(CountFrom::Slot), Lifetime::PLAIN);
    scene.command(Command::PauseSchedule { which: Scene::any(&id), reason: None }).expect("it is live");
    assert_eq!(half_minutes(&mut scene, 3), ["paused"]);
    change(&mut scene, &id, at_most(9)).expect("it has a slot within it");
    scene.command(Command::ResumeSchedule(Scene::any(&id))).expect("it is paused");
    scene.turn();
    let missed = ["changed", "resumed", "claim 00:01:00 (missed)", "00:01:00 out", "00:01:00 ok"];
    assert_eq!(scene.news(), missed);
}

#[test]
fn an_edit_of_the_lifetime_waits_for_the_run_that_is_out() {
    let (mut scene, id) = scene(each_minute(CountFrom::Finish), Lifetime::PLAIN);
    scene.attach(&[session("s")]);
    scene.pass(Span::from_millis(70_000));
    assert_eq!(scene.news(), ["claim 00:01:00 (slot)", "00:01:00 out"]);
    change(&mut scene, &id, at_most(9)).expect("a slot is to come");
    scene.pass(Span::from_millis(15_000));
    assert_eq!(scene.news(), ["changed"]);
    scene.acknowledge().expect("the host has it");
    scene.busy("s", true);
    scene.busy("s", false);
    let next = ["00:01:00 ok", "armed", "claim 00:02:25 (slot)", "00:02:25 out"];
    assert_eq!(half_minutes(&mut scene, 2), next);
}

/// With more runs or more time there are slots again, after those that were consumed.
#[test]
fn a_longer_lifetime_goes_on_where_the_shorter_one_ended() {
    for from in [CountFrom::Slot, CountFrom::Finish] {
        let (mut scene, id) = scene(each_minute(from), at_most(1));
        assert_eq!(half_minutes(&mut scene, 5)[0], "claim 00:01:00 (slot)");
        change(&mut scene, &id, at_most(2)).expect("one more run");
        let slot = if from == CountFrom::Slot { "00:03:00" } else { "00:03:30" };
        assert_eq!(
            half_minutes(&mut scene, 9)[..2],
            ["retriggered".to_owned(), format!("claim {slot} (slot)")]
        );
    }
    // The slot that was skipped lies ahead.
    let (mut scene, id) = scene(each_minute(CountFrom::Slot), until("2026-06-01T00:02:00Z"));
    scene.command(Command::SkipNext(Scene::any(&id))).expect("it has a slot");
    change(&mut scene, &id, until("2026-06-01T00:03:00Z")).expect("one more slot");
    let news = half_minutes(&mut scene, 9);
    assert_eq!(news[..3], ["skip 00:01:00: skipped-by-hand", "retriggered", "claim 00:02:00 (slot)"]);
}

#[test]
fn a_lifetime_without_a_slot_is_refused() {
    for (from, passed) in [(CountFrom::Slot, 3), (CountFrom::Finish, 3), (CountFrom::Slot, 0)] {
        let (mut scene, id) = scene(each_minute(from), Lifetime::PLAIN);
        scene.attach(&[session("s")]);
        half_minutes(&mut scene, passed);
        let refused = change(&mut scene, &id, until("2026-06-01T00:01:00Z"));
        assert_eq!(refused, Err("no-slot".to_owned()), "{from:?} {passed}");
    }
    let (mut scene, id) = scene(each_minute(CountFrom::Slot), Lifetime::PLAIN);
    half_minutes(&mut scene, 5);
    assert_eq!(change(&mut scene, &id, at_most(2)), Err("no-slot".to_owned()), "two runs are over");
}

/// A job of `cron_pause` that has run can be disabled, so that a change gives it no slots yet.
#[test]
fn a_job_that_has_run_can_be_disabled() {
    let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
    let caller = Caller::session(session("s"));
    let once = "{:name \"O\" :prompt \"p\" :schedule {:kind :once :at \"2026-06-01T00:01:00Z\"}}";
    assert!(!scene.call(&caller, "cron_create", once).is_error);
    scene.pass(Span::from_millis(61_000));
    let id = scene.handle.view(|state| state.schedules()[0].schedule().id.clone());
    for tool in ["cron_pause", "cron_resume"] {
        let answer = scene.call(&caller, tool, &format!("{{:job_id \"{id}\"}}"));
        assert!(!answer.is_error, "{tool}");
    }
}

//! The wall clock is set while schedules wait: what is durable follows it, and what is volatile does not notice.

use reveille::domain::{CountFrom, Durability, Every, Missed, Policy, Scope, Settings, Span, When};
use reveille::engine::{Command, NewSchedule};

use super::scene::{Scene, at, session};

const MINUTE: Span = Span::from_millis(60_000);
const HOUR: Span = Span::from_millis(3_600_000);

/// Skips what was missed.
fn strict() -> Policy {
    Policy { missed: Missed::Skip, ..Policy::PLAIN }
}

fn new(durability: Durability, when: When, policy: Policy) -> NewSchedule {
    let settings = Some(Box::new(Settings { policy, ..Settings::PLAIN }));
    NewSchedule { durability, settings, ..NewSchedule::message(session("s"), when, "p") }
}

fn midnight() -> Scene {
    Scene::new("2026-06-01T00:00:00Z", "UTC")
}

fn hold(scene: &mut Scene) {
    scene.command(Command::HoldAll { by: Scope::Operator.into(), reason: None }).expect("anybody may, here");
}

fn release(scene: &mut Scene) {
    scene.command(Command::ReleaseAll { by: Scope::Operator.into() }).expect("it is held");
}

/// Each minute, from a minute after midnight.
fn each_minute(from: CountFrom) -> When {
    let every = Every::new(MINUTE, at("2026-06-01T00:01:00Z"), from);
    When::By(every.expect("a minute is a period").into())
}

#[test]
fn what_is_made_after_a_clock_was_ahead_is_not_missed() {
    for is_start in [true, false] {
        let mut scene = midnight();
        scene.stage.clock.step_wall_on(HOUR);
        if is_start {
            scene.awake();
        } else {
            hold(&mut scene);
            release(&mut scene);
        }
        scene.stage.clock.step_wall_back(HOUR);
        scene.create(new(Durability::Durable, When::After(MINUTE), strict()));
        scene.pass(MINUTE);
        assert_eq!(scene.news(), ["claim 00:01:00 (slot)", "00:01:00 out", "00:01:00 ok"], "{is_start}");
    }
}

fn claims(scene: &mut Scene) -> Vec<String> {
    scene.news().into_iter().filter(|news| news.starts_with("claim ")).collect()
}

#[test]
fn a_volatile_interval_does_not_notice_that_the_clock_is_set() {
    let expected = ["claim 00:01:00 (slot)", "claim 00:02:00 (slot)", "claim 00:03:00 (slot)"];
    for (from, is_on) in [(CountFrom::Slot, true), (CountFrom::Slot, false), (CountFrom::Finish, false)] {
        let mut scene = midnight();
        scene.create(new(Durability::Volatile, each_minute(from), strict()));
        scene.pass(Span::from_millis(30_000));
        if is_on {
            scene.stage.clock.step_wall_on(HOUR);
        } else {
            scene.stage.clock.step_wall_back(HOUR);
        }
        scene.pass(Span::from_millis(150_000));
        assert_eq!(claims(&mut scene), expected, "{from:?} {is_on}");
    }
    let mut scene = midnight();
    scene.create(new(Durability::Volatile, each_minute(CountFrom::Slot), strict()));
    scene.stage.clock.step_wall_back(HOUR);
    scene.oversleep(Span::from_millis(210_000));
    assert_eq!(claims(&mut scene), ["claim 00:03:00 (slot) for 2 more"], "three have passed");
}

#[test]
fn a_volatile_delay_is_neither_late_nor_missed_because_the_clock_is_set() {
    let delay = Span::from_millis(600_000);
    let late = Policy { max_late: Some(Span::from_millis(300_000)), ..Policy::PLAIN };
    let mut scene = midnight();
    scene.create(new(Durability::Volatile, When::After(delay), late));
    scene.stage.clock.step_wall_on(HOUR);
    scene.pass(delay);
    assert_eq!(claims(&mut scene), ["claim 00:10:00 (slot)"], "not late");

    let mut scene = midnight();
    scene.create(new(Durability::Volatile, When::After(delay), strict()));
    scene.pass(MINUTE);
    hold(&mut scene);
    scene.stage.clock.step_wall_on(HOUR);
    release(&mut scene);
    scene.pass(delay);
    assert_eq!(claims(&mut scene), ["claim 00:10:00 (slot)"], "not missed");
}

/// It was not paused, so there is nothing to resume.
#[test]
fn a_resume_of_what_is_not_paused_moves_no_slot() {
    let mut scene = midnight();
    let id = scene.create(new(Durability::Volatile, When::After(MINUTE), strict()));
    scene.stage.clock.step_wall_back(HOUR);
    scene.command(Command::ResumeSchedule(Scene::any(&id))).expect("it is live");
    scene.pass(MINUTE);
    assert_eq!(scene.news()[..2], ["resumed", "claim 00:01:00 (slot)"]);
}

/// The schedule was resumed while the clock was ahead, and its next run is asked for after that.
#[test]
fn what_is_brought_forward_after_a_clock_was_ahead_is_not_missed() {
    let mut scene = midnight();
    let id = scene.create(new(Durability::Durable, each_minute(CountFrom::Slot), strict()));
    scene.command(Command::PauseSchedule { which: Scene::any(&id), reason: None }).expect("it is live");
    scene.stage.clock.step_wall_on(HOUR);
    scene.command(Command::ResumeSchedule(Scene::any(&id))).expect("it is paused");
    scene.turn();
    scene.stage.clock.step_wall_back(HOUR);
    scene.pass(Span::from_millis(30_000));
    scene.news();
    scene.command(Command::BringForward(Scene::any(&id))).expect("it is live");
    scene.turn();
    assert_eq!(scene.news()[..2], ["armed", "claim 00:00:30 (slot)"]);
}

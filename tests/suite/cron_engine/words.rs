//! A person's word in a session, and what it calls off: schedules that were to come only if nobody spoke.

use reveille::domain::{
    CountFrom, Durability, Every, Lifetime, Policy, ScheduleId, Settings, Span, Trigger, When,
};
use reveille::engine::{Command, Input, NewSchedule, Report};

use super::scene::{Scene, at, session};

const START: &str = "2026-06-01T00:00:00Z";

fn once() -> Trigger {
    Trigger::At(at("2026-06-01T00:05:00Z"))
}

fn every(from: CountFrom) -> Trigger {
    let period = Span::from_millis(300_000);
    Trigger::from(Every::new(period, at("2026-06-01T00:05:00Z"), from).expect("in bounds"))
}

fn flagged(trigger: Trigger, durability: Durability, backoff: Vec<Span>) -> NewSchedule {
    let lifetime = Lifetime { cancel_on_user_activity: true, ..Lifetime::PLAIN };
    let policy = Policy { backoff, ..Policy::PLAIN };
    let settings = Some(Box::new(Settings { lifetime, policy, ..Settings::PLAIN }));
    NewSchedule { durability, settings, ..NewSchedule::message(session("s"), When::By(trigger), "p") }
}

fn speak(scene: &mut Scene, id: &str) {
    let report = Report::UserMessage { session: session(id), text: "wait".into(), by: None };
    scene.submit(Input::Report(report)).expect("the message is never refused");
}

/// One flagged schedule, in memory and on disk; what is done before somebody speaks; what comes of it in the next hour.
#[track_caller]
fn check(trigger: &Trigger, before: impl Fn(&mut Scene, &ScheduleId), expected: &[&str]) {
    for durability in [Durability::Volatile, Durability::Durable] {
        let mut scene = Scene::new(START, "UTC");
        let backoff = vec![Span::from_millis(60_000)];
        let id = scene.create(flagged(trigger.clone(), durability, backoff));
        before(&mut scene, &id);
        scene.news();
        speak(&mut scene, "s");
        scene.answer_again();
        scene.busy("s", false);
        scene.pass(Span::from_millis(240_000));
        assert_eq!(scene.news(), expected, "{}", durability.name());
    }
}

const CALLED_OFF: &[&str] = &["called off: user-activity"];

#[test]
fn what_is_still_to_come_is_called_off() {
    for trigger in [once(), every(CountFrom::Slot), every(CountFrom::Finish)] {
        check(&trigger, |_, _| {}, CALLED_OFF);
        check(&trigger, |scene, _| scene.stage.clock.advance(Span::from_millis(299_999)), CALLED_OFF);
    }
    // Paused, it waits all the more.
    let pause = |scene: &mut Scene, id: &ScheduleId| {
        let command = Command::PauseSchedule { which: Scene::any(id), reason: None };
        scene.command(command).expect("it lives");
    };
    check(&once(), pause, CALLED_OFF);
}

#[test]
fn what_is_due_runs() {
    // Nobody has looked yet.
    let due = |scene: &mut Scene, _: &ScheduleId| scene.stage.clock.advance(Span::from_millis(300_000));
    check(&once(), due, &["claim 00:05:00 (slot)", "00:05:00 out", "00:05:00 ok"]);
    // It waits for the end of a turn.
    let waits = |scene: &mut Scene, _: &ScheduleId| {
        scene.busy("s", true);
        scene.pass(Span::from_millis(301_000));
    };
    check(&once(), waits, &["00:05:00 out", "00:05:00 ok"]);
}

#[test]
fn a_next_attempt_that_is_still_to_come_is_called_off() {
    let fails = |scene: &mut Scene, _: &ScheduleId| {
        scene.refuse_prompts();
        scene.pass(Span::from_millis(301_000));
    };
    check(&once(), fails, CALLED_OFF);
    let again = |scene: &mut Scene, _: &ScheduleId| {
        scene.refuse_prompts();
        scene.pass(Span::from_millis(301_000));
        scene.stage.clock.advance(Span::from_millis(59_000));
    };
    check(&once(), again, &["00:05:00 out", "00:05:00 ok"]);
}

#[test]
fn only_a_person_in_that_session_calls_off() {
    let mut scene = Scene::new(START, "UTC");
    scene.open("other");
    let kept = NewSchedule::message(session("s"), When::By(once()), "p");
    scene.create(kept);
    scene.create(flagged(once(), Durability::Durable, vec![]));
    scene.news();
    speak(&mut scene, "other");
    scene.busy("s", true);
    scene.busy("s", false);
    // A prompt that a schedule puts into the session is no person's word.
    let internal = NewSchedule::message(session("s"), When::After(Span::from_millis(1_000)), "p");
    scene.create(internal);
    scene.pass(Span::from_millis(2_000));
    assert_eq!(scene.news(), ["claim 00:00:01 (slot)", "00:00:01 out", "00:00:01 ok"]);
    speak(&mut scene, "s");
    assert_eq!(scene.news(), CALLED_OFF, "the other schedule is not to be called off");
}

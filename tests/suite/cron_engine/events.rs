//! Schedules that wait for a job of their session to be ready: with a latest time and without, and whatever comes first.

use reveille::calendar::{from_edn, print, to_edn};
use reveille::domain::{
    Durability, Event, JobId, Lifetime, ScheduleId, Settings, Span, Status, Trigger, When,
};
use reveille::engine::{Command, NewSchedule, ScheduleChange, ScheduleRecord};

use super::scene::{Scene, at, session};

fn job(name: &str) -> JobId {
    JobId::new(name).expect("an id")
}

fn event(latest: Option<&str>) -> Trigger {
    Trigger::Event(Box::new(Event { job: job("build"), latest: latest.map(at) }))
}

fn waiting(latest: Option<&str>, durability: Durability) -> NewSchedule {
    let when = When::By(event(latest));
    NewSchedule { durability, ..NewSchedule::message(session("s"), when, "p") }
}

fn ready(scene: &mut Scene, name: &str) -> Result<(), String> {
    scene.command(Command::JobReady { session: session("s"), job: job(name), by: None })
}

fn pass(scene: &mut Scene, seconds: u64) {
    scene.pass(Span::from_millis(seconds * 1_000));
}

fn status(scene: &Scene, id: &ScheduleId) -> Option<Status> {
    scene.handle.view(|state| state.schedule(id).map(ScheduleRecord::status))
}

/// One that waits, in memory and on disk; what happens; what comes of it.
#[track_caller]
fn check(latest: Option<&str>, happens: impl Fn(&mut Scene, &ScheduleId), expected: &[&str], end: Status) {
    for durability in [Durability::Volatile, Durability::Durable] {
        let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
        let id = scene.create(waiting(latest, durability));
        happens(&mut scene, &id);
        assert_eq!(scene.news(), expected, "{}", durability.name());
        assert_eq!(status(&scene, &id), Some(end), "{}", durability.name());
        assert_eq!(scene.handle.view(|state| state.ledger().imbalance()), 0);
    }
}

#[test]
fn the_slot_is_the_moment_of_the_report() {
    let happens = |scene: &mut Scene, _: &ScheduleId| {
        pass(scene, 86_400);
        ready(scene, "another").expect("anything may be ready");
        pass(scene, 60);
        ready(scene, "build").expect("it is");
        pass(scene, 0);
        ready(scene, "build").expect("and once more");
        pass(scene, 60);
    };
    let slot = "2026-06-02T00:01:00Z";
    let told =
        ["armed".to_owned(), format!("claim {slot} (slot)"), format!("{slot} out"), format!("{slot} ok")];
    check(None, happens, &told.each_ref().map(String::as_str), Status::Delivered);
}

#[test]
fn a_latest_time_comes_if_nobody_reports() {
    let latest = Some("2026-06-01T01:00:00Z");
    let none = |scene: &mut Scene, _: &ScheduleId| {
        pass(scene, 3_600);
        ready(scene, "build").expect("too late to matter");
        pass(scene, 60);
    };
    check(latest, none, &["claim 01:00:00 (slot)", "01:00:00 out", "01:00:00 ok"], Status::Delivered);
    let early = |scene: &mut Scene, _: &ScheduleId| {
        pass(scene, 60);
        ready(scene, "build").expect("it is");
        pass(scene, 7_200);
    };
    let told = ["armed", "claim 00:01:00 (slot)", "00:01:00 out", "00:01:00 ok"];
    check(latest, early, &told, Status::Delivered);
    // Nobody has looked at the latest time yet when the report comes.
    let due = |scene: &mut Scene, _: &ScheduleId| {
        scene.stage.clock.advance(Span::from_millis(3_600_000));
        ready(scene, "build").expect("it is");
        pass(scene, 0);
    };
    check(latest, due, &["claim 01:00:00 (slot)", "01:00:00 out", "01:00:00 ok"], Status::Delivered);
}

#[test]
fn a_pause_a_cancel_and_a_run_by_hand_are_as_ever() {
    let paused = |scene: &mut Scene, id: &ScheduleId| {
        scene.command(Command::PauseSchedule { which: Scene::any(id), reason: None }).expect("it lives");
        ready(scene, "build").expect("it is");
        pass(scene, 60);
        scene.command(Command::ResumeSchedule(Scene::any(id))).expect("it is paused");
        pass(scene, 0);
    };
    let told = ["paused", "armed", "resumed", "claim 00:00:00 (missed)", "00:00:00 out", "00:00:00 ok"];
    check(None, paused, &told, Status::Delivered);
    let cancelled = |scene: &mut Scene, id: &ScheduleId| {
        scene.command(Command::CancelSchedule(Scene::any(id))).expect("it waits");
        ready(scene, "build").expect("it is");
        pass(scene, 60);
    };
    check(None, cancelled, &["called off: cancelled"], Status::Cancelled);
    let by_hand = |scene: &mut Scene, id: &ScheduleId| {
        scene.command(Command::RunNow { which: Scene::any(id), keeps_slot: true }).expect("it lives");
        pass(scene, 60);
    };
    check(None, by_hand, &["claim 00:00:00 (manual)", "00:00:00 out", "00:00:00 ok"], Status::Pending);
    let closed = |scene: &mut Scene, _: &ScheduleId| {
        scene.command(Command::CloseSession { session: session("s"), by: None }).expect("it is open");
        scene.open("s");
        ready(scene, "build").expect("it is");
        pass(scene, 60);
    };
    for durability in [Durability::Volatile, Durability::Durable] {
        let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
        let id = scene.create(waiting(None, durability));
        closed(&mut scene, &id);
        assert_eq!(scene.news(), ["called off: session-closed"]);
    }
}

#[test]
fn one_that_has_expired_waits_no_longer() {
    let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
    let expires_at = Some(at("2026-06-01T00:01:00Z"));
    let settings = Settings { lifetime: Lifetime { expires_at, ..Lifetime::PLAIN }, ..Settings::PLAIN };
    let settings = Some(Box::new(settings));
    let id = scene.create(NewSchedule { settings, ..waiting(None, Durability::Durable) });
    pass(&mut scene, 61);
    ready(&mut scene, "build").expect("it is");
    pass(&mut scene, 60);
    assert_eq!(scene.news(), ["armed"]);
    assert_eq!(status(&scene, &id), Some(Status::Skipped));
}

#[test]
fn a_report_is_about_a_session_that_is_open() {
    let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
    scene.open("other");
    scene.create(waiting(None, Durability::Volatile));
    let elsewhere = Command::JobReady { session: session("other"), job: job("build"), by: None };
    scene.command(elsewhere).expect("that session has such a job, too");
    pass(&mut scene, 60);
    assert_eq!(scene.news(), Vec::<String>::new());
    let nowhere = Command::JobReady { session: session("nobody"), job: job("build"), by: None };
    assert_eq!(scene.command(nowhere), Err("unknown-session".to_owned()));
}

#[test]
fn an_event_reads_back_as_edn_and_has_words_for_people() {
    for (latest, words) in [
        (None, "when the job \"build\" is ready"),
        (
            Some("2026-06-01T01:00:00Z"),
            "when the job \"build\" is ready, on 2026-06-01T01:00:00Z at the latest",
        ),
    ] {
        let trigger = event(latest);
        assert_eq!(from_edn(&to_edn(&trigger)), Ok(trigger.clone()));
        assert_eq!(print(&trigger), words);
    }
}

/// It was ready before the schedule was to wait for it, whichever way that was asked for.
#[test]
fn what_is_made_to_wait_for_an_event_that_has_come_is_due_now() {
    for (durability, is_change) in [
        (Durability::Volatile, true),
        (Durability::Durable, true),
        (Durability::Volatile, false),
        (Durability::Durable, false),
    ] {
        let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
        let id = ScheduleId::new("nightly").expect("an id");
        let new = |when: When| NewSchedule {
            id: Some(id.clone()),
            durability,
            ..NewSchedule::message(session("s"), when, "p")
        };
        scene.create(new(When::After(Span::from_millis(3_600_000))));
        ready(&mut scene, "build").expect("it is");
        let when = When::By(event(None));
        let command = if is_change {
            let change = Box::new(ScheduleChange { when: Some(when), ..ScheduleChange::default() });
            Command::ChangeSchedule { which: Scene::any(&id), change }
        } else {
            Command::Supersede { new: new(when), of: None }
        };
        scene.command(command).expect("it is live");
        pass(&mut scene, 0);
        let due = ["retriggered", "claim 00:00:00 (slot)", "00:00:00 out", "00:00:00 ok"];
        assert_eq!(scene.news(), due, "{} {is_change}", durability.name());
    }
}

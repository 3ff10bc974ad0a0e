//! Whole products of policies, triggers and states, one row for what became of each.

use std::fmt::Write as _;

use reveille::calendar::parse_cron;
use reveille::domain::{
    Actor, Calendar, CountFrom, Dialect, Durability, EndsWith, Envelope, Every, Lifetime, Missed, Overlap,
    Policy, Recovery, Scope, Settings, Span, TimeOfDay, Trigger, Weekdays, When, WhenBusy, Zone,
};
use reveille::engine::{Command, NewSchedule};

use super::scene::{Scene, at, session};

const START: &str = "2026-06-01T00:00:00Z";
const MINUTE: Span = Span::from_millis(60_000);

/// A durable schedule into the session `s`.
pub(crate) fn durable(trigger: Trigger, policy: Policy) -> NewSchedule {
    let lifetime = Lifetime { dies_with_session: false, ..Lifetime::PLAIN };
    let settings = Settings { envelope: Envelope::TaskEvent, policy, lifetime, ..Settings::PLAIN };
    NewSchedule {
        dialect: Dialect::Cron,
        durability: Durability::Durable,
        settings: Some(Box::new(settings)),
        ..NewSchedule::message(session("s"), When::By(trigger), "p")
    }
}

pub(crate) fn every(seconds: u64) -> Trigger {
    let period = Span::from_millis(seconds * 1_000);
    let anchor = at(START).checked_add(period).expect("in the calendar");
    Trigger::from(Every::new(period, anchor, CountFrom::Slot).expect("in bounds"))
}

pub(crate) fn once(text: &str) -> Trigger {
    Trigger::At(at(text))
}

fn daily(hour: u8, minute: u8) -> Trigger {
    let time = TimeOfDay::new(hour, minute, 0).expect("a time");
    Trigger::Calendar(Box::new(Calendar { weekdays: Weekdays::DAILY, time, zone: Zone::Utc }))
}

fn cron(text: &str) -> Trigger {
    Trigger::Cron(Box::new(parse_cron(text).expect("cron")), Box::new(Zone::Utc))
}

fn minutes(minutes: u64) -> Span {
    Span::from_millis(minutes * 60_000)
}

fn row(text: &mut String, head: &[&str], news: &[String]) {
    let told = if news.is_empty() { "nothing".to_owned() } else { news.join(", ") };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}: {told}", head.join(" · "));
}

/// Slots pass while nobody is there, in every way: the latest runs, none, or each; and only those of a late timer are on time.
#[test]
fn missed_slots_go_as_the_table_says() {
    let mut text = String::from(
        "; From midnight, gone for a time: what each policy makes of what passed. Then ten minutes, or a day, more.\n",
    );
    let triggers: [(&str, Trigger, Span); 4] = [
        ("once at 00:05", once("2026-06-01T00:05:00Z"), minutes(11)),
        ("every 5 min", every(300), minutes(16)),
        ("daily at 00:05", daily(0, 5), minutes(3 * 1_440 + 10)),
        ("cron */5", cron("*/5 * * * *"), minutes(16)),
    ];
    for missed in Missed::ALL {
        for (name, trigger, gone) in &triggers {
            for way in ["late", "down", "paused", "held"] {
                let mut scene = Scene::new(START, "UTC");
                let policy = Policy { missed: *missed, ..Policy::PLAIN };
                let id = scene.create(durable(trigger.clone(), policy));
                scene.news();
                match way {
                    "late" => scene.oversleep(*gone),
                    "down" => scene.down(*gone),
                    "paused" => {
                        let which = Scene::any(&id);
                        scene.command(Command::PauseSchedule { which, reason: None }).expect("it is live");
                        scene.pass(*gone);
                        scene.command(Command::ResumeSchedule(Scene::any(&id))).expect("it is live");
                        scene.turn();
                    }
                    _ => {
                        let by = Actor::from(Scope::Operator);
                        scene.command(Command::HoldAll { by: by.clone(), reason: None }).expect("it is held");
                        scene.pass(*gone);
                        scene.command(Command::ReleaseAll { by }).expect("it is released");
                        scene.turn();
                    }
                }
                scene.pass(minutes(4));
                row(&mut text, &[missed.name(), name, way], &runs_only(scene.news()));
            }
        }
    }
    super::check("fixtures/cron/missed.txt", &text);
}

/// Claims and skips say it all, where every run is over at once.
fn runs_only(news: Vec<String>) -> Vec<String> {
    news.into_iter().filter(|line| line.starts_with("claim") || line.starts_with("skip")).collect()
}

/// A slot comes while an earlier run waits, is out, or goes on; or while it is out for the second time.
#[test]
fn overlapping_slots_go_as_the_table_says() {
    let mut text =
        String::from("; Every 5 min; the first run is still there at the second slot. Then it ends.\n");
    for overlap in Overlap::ALL {
        for stands in ["waits", "out", "begun", "ended"] {
            let mut scene = Scene::new(START, "UTC");
            scene.attach(&[session("s")]);
            let policy = Policy { overlap: *overlap, ends_with: EndsWith::Turn, ..Policy::PLAIN };
            if stands == "waits" {
                scene.busy("s", true);
            }
            // Out, it would be overdue after half a minute: the second slot comes soon after the first.
            let seconds = if stands == "out" { 20 } else { 300 };
            scene.create(durable(every(seconds), policy));
            scene.news();
            scene.pass(Span::from_millis(seconds * 1_000));
            if stands == "begun" || stands == "ended" {
                scene.acknowledge().expect("it is out");
                scene.busy("s", true);
            }
            if stands == "ended" {
                scene.busy("s", false);
            }
            scene.pass(Span::from_millis(seconds * 1_000));
            finish_turn(&mut scene);
            row(&mut text, &[overlap.name(), stands], &scene.news());
        }
    }
    super::check("fixtures/cron/overlap.txt", &text);
}

/// Whatever is out is acknowledged, and its turn ends.
fn finish_turn(scene: &mut Scene) {
    // What is overdue is not heard any more.
    let _ = scene.acknowledge();
    scene.busy("s", true);
    scene.busy("s", false);
}

/// A slot comes while the session is idle, in a turn, or has a delivery out.
#[test]
fn slots_for_busy_sessions_go_as_the_table_says() {
    let mut text = String::from("; Three slots, 20 s apart, while the session stands so; then it is idle.\n");
    for when_busy in WhenBusy::ALL {
        for overlap in Overlap::ALL {
            for stands in ["idle", "busy", "in flight"] {
                let mut scene = Scene::new(START, "UTC");
                scene.attach(&[session("s")]);
                match stands {
                    "busy" => scene.busy("s", true),
                    "in flight" => {
                        scene.create(durable(once("2026-06-01T00:00:19Z"), Policy::PLAIN));
                    }
                    _ => {}
                }
                let policy = Policy { overlap: *overlap, when_busy: *when_busy, ..Policy::PLAIN };
                scene.create(durable(every(20), policy));
                scene.news();
                for _ in 0..3 {
                    live_a_slot(&mut scene, stands);
                }
                finish_turn(&mut scene);
                row(&mut text, &[when_busy.name(), overlap.name(), stands], &scene.news());
            }
        }
    }
    super::check("fixtures/cron/busy.txt", &text);
}

fn live_a_slot(scene: &mut Scene, stands: &str) {
    scene.pass(Span::from_millis(20_000));
    if stands == "idle" {
        finish_turn(scene);
    }
}

/// The process ends while a run waits, is out, or goes on, in a built-in session or a connected one.
#[test]
fn runs_go_on_after_a_crash_as_the_table_says() {
    let mut text = String::from(
        "; One slot at 00:05; the process ends a second later and is back at 00:06. Then the session is idle, and time is up.\n",
    );
    for recovery in Recovery::ALL {
        for timeout in [None, Some(MINUTE)] {
            for stands in
                ["built-in waits", "built-in out", "attached waits", "attached out", "attached begun"]
            {
                let mut scene = Scene::new(START, "UTC");
                if stands.starts_with("attached") {
                    scene.attach(&[session("s")]);
                } else if stands.ends_with("out") {
                    scene.answer_nothing();
                }
                if stands.ends_with("waits") {
                    scene.busy("s", true);
                }
                let policy =
                    Policy { recovery: *recovery, timeout, ends_with: EndsWith::Turn, ..Policy::PLAIN };
                scene.create(durable(once("2026-06-01T00:05:00Z"), policy));
                scene.news();
                scene.pass(minutes(5));
                if stands.ends_with("begun") {
                    scene.acknowledge().expect("it is out");
                    scene.busy("s", true);
                }
                scene.pass(Span::from_millis(1_000));
                scene.answer_again();
                scene.stage.clock.advance(Span::from_millis(59_000));
                if stands.starts_with("attached") {
                    // The connection went with the process.
                    scene.forget_receipts();
                }
                scene.awake();
                if stands.starts_with("attached") {
                    scene.detach();
                    scene.attach(&[session("s")]);
                } else {
                    scene.busy("s", false);
                }
                scene.turn();
                finish_turn(&mut scene);
                scene.pass(minutes(2));
                let limit = if timeout.is_some() { "timeout 1 min" } else { "no timeout" };
                row(&mut text, &[recovery.name(), limit, stands], &scene.news());
            }
        }
    }
    super::check("fixtures/cron/recovery.txt", &text);
}

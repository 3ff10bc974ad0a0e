//! The definition of a schedule with long texts has a row of its own, which is written when it changes.

use reveille::domain::{DecisionKind, Policy, ScheduleId, Scope, Span, When};
use reveille::edn::Value;
use reveille::engine::{Command, Input, NewSchedule, ScheduleChange, Which};
use reveille::limits;
use reveille::port::{Store, StoreFault};
use reveille::runtime::Handle;

use super::lives::{Life, Lives, every};
use super::past::{ALL, ask};

/// The keys of the rows about schedules, without ids, and how many bytes they have.
fn rows(lives: &Lives) -> Vec<(String, usize)> {
    let rows = lives.store.rows_after(None).expect("it is sound");
    let present = rows.iter().filter_map(|row| Some((&row.key, row.payload.as_ref()?.len())));
    let kind = |key: &str| key.split('/').next().unwrap_or_default().to_owned();
    let mut kinds: Vec<_> = present.map(|(key, bytes)| (kind(key), bytes)).collect();
    kinds.retain(|(kind, _)| kind == "schedule" || kind == "definition");
    kinds
}

fn kinds(lives: &Lives) -> Vec<String> {
    rows(lives).into_iter().map(|(kind, _)| kind).collect()
}

fn long(letter: &str) -> Box<str> {
    letter.repeat(50_000).into()
}

fn create(lives: &Lives, life: &Life, text: &str) -> ScheduleId {
    let owner = life.open("one");
    let new = every(&lives.stage, &owner, 60_000, Policy::PLAIN);
    let message = NewSchedule::message(owner, new.when.clone(), text);
    life.create(NewSchedule { settings: new.settings, ..message }).expect("it is kept")
}

fn retext(life: &Life, id: &ScheduleId, text: Box<str>) {
    let change = ScheduleChange { text: Some(text), ..ScheduleChange::default() };
    let which = Which::any(Scope::Operator, id.clone());
    life.handle
        .submit(Input::Command(Command::ChangeSchedule { which, change: Box::new(change) }))
        .expect("it lives");
}

fn run(lives: &Lives, life: &mut Life) {
    lives.stage.clock.advance(Span::from_millis(60_000));
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDelivered);
}

fn seen(handle: &Handle) -> String {
    Value::Map(ask(handle, ALL, None)).to_string()
}

#[test]
fn long_texts_are_written_when_they_change_and_not_with_each_run() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let id = create(&lives, &life, &long("a"));
    assert_eq!(kinds(&lives), ["definition", "schedule"]);
    for _ in 0..3 {
        run(&lives, &mut life);
    }
    assert!(rows(&lives)[1].1 < 2_000, "{:?}", rows(&lives));
    let before = seen(&life.handle);
    drop(life);
    // Each life writes on what the one before has written.
    let mut life = lives.next(0);
    assert_eq!(seen(&life.handle), before);
    run(&lives, &mut life);
    for (text, expected) in [
        (long("b"), &["definition", "schedule"][..]),
        ("short".into(), &["schedule"]),
        (long("c"), &["definition", "schedule"]),
    ] {
        retext(&life, &id, text.clone());
        assert_eq!(kinds(&lives), expected);
        run(&lives, &mut life);
        let before = seen(&life.handle);
        drop(life);
        life = lives.next(0);
        assert_eq!(seen(&life.handle), before);
        assert!(before.contains(&*text));
    }
    let which = Which::any(Scope::Operator, id);
    life.handle.submit(Input::Command(Command::DeleteSchedule(which))).expect("it lives");
    // The record stays for a while, and with it both rows.
    assert_eq!(kinds(&lives), ["definition", "schedule"]);
}

/// Finished schedules are dropped in time, with both rows.
#[test]
fn what_is_dropped_leaves_no_definition() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    let most = limits::SESSION_BYTES.value / limits::TEXT_BYTES.value;
    for _ in 0..most {
        let text = "d".repeat(60_000);
        let when = When::After(Span::from_millis(1_000));
        let id = life.create(NewSchedule::message(owner.clone(), when, &*text)).expect("it is kept");
        let which = Which::any(Scope::Operator, id);
        life.handle.submit(Input::Command(Command::DeleteSchedule(which))).expect("it lives");
    }
    // What is dropped by a step is written with the next one.
    life.create(NewSchedule::message(owner, When::After(Span::from_millis(1_000)), "m")).expect("it is kept");
    let count = |of: &str| kinds(&lives).iter().filter(|kind| *kind == of).count();
    assert!((count("definition") as u64) < most, "some were dropped");
    assert_eq!(count("definition") + 1, count("schedule"));
}

/// A failure of the store takes back what was not committed, also the row of a definition.
#[test]
fn after_a_failure_the_definition_is_written_again() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    life.await_kind(DecisionKind::EngineRestarted);
    let id = create(&lives, &life, "short");
    lives.store.fail(StoreFault::Unwritable { detail: "no space".into() });
    let change = ScheduleChange { text: Some(long("a")), ..ScheduleChange::default() };
    let which = Which::any(Scope::Operator, id.clone());
    let refused =
        life.handle.submit(Input::Command(Command::ChangeSchedule { which, change: Box::new(change) }));
    assert!(refused.is_err());
    lives.store.heal();
    life.await_kind(DecisionKind::EngineRestarted);
    retext(&life, &id, long("b"));
    assert_eq!(kinds(&lives), ["definition", "schedule"]);
    let before = seen(&life.handle);
    drop(life);
    assert_eq!(seen(&lives.next(0).handle), before);
}

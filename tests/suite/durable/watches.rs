//! Watches over a store: what they remember survives, checks that tell nothing write nothing but once a minute, and after a
//! time in which nobody looked they do not all look at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use reveille::dialect::Answer;
use reveille::dialect::watch::{self as dialect, Watcher, watcher};
use reveille::domain::{
    Call, CallPurpose, Caller, CountFrom, Cursor, Dialect, Durability, Every, Filter, HostId, Missed,
    NotifyWhen, Outcome, Payload, Policy, Primitives, ScheduleId, SessionId, Settings, Sink, Span, ToolName,
    Trigger, When,
};
use reveille::edn::{Map, Value};
use reveille::engine::{NewSchedule, State};
use reveille::port::{Clock, Store};
use reveille::runtime::{AttachOptions, Handle};
use reveille::testkit::{CallAnswer, SimExecutor};

use super::lives::{ByHand, Lives};
use crate::simulated::ask;

fn watch(handle: &Handle, owner: &SessionId, id: &str, when: NotifyWhen) -> NewSchedule {
    watch_by(handle, owner, id, (Filter::plain(when), 10))
}

/// A watch by this filter, with so many seconds between its checks.
pub(super) fn watch_by(
    handle: &Handle,
    owner: &SessionId,
    id: &str,
    (filter, seconds): (Filter, u64),
) -> NewSchedule {
    let call = Call {
        purpose: CallPurpose::Watch,
        sink: Sink::Session,
        filter: Some(Arc::new(filter)),
        ..Call::new(ToolName::new("http.get").expect("a name"), Map::new())
    };
    let interval = Span::from_millis(seconds * 1_000);
    let first = handle.now().wall.checked_add(interval).expect("an instant");
    let every = Every::new(interval, first, CountFrom::Finish).expect("a period");
    let timeout = Some(Span::from_millis(60_000));
    let policy = Policy { missed: Missed::Skip, timeout, ..Policy::PLAIN };
    NewSchedule {
        id: Some(ScheduleId::new(id).expect("an id")),
        durability: Durability::Bound,
        payload: Payload::Call(Box::new(call)),
        settings: Some(Box::new(Settings { policy, ..Settings::PLAIN })),
        ..NewSchedule::message(owner.clone(), When::By(Trigger::Every(Box::new(every))), "")
    }
}

/// The next life, in which each check comes to this status, or fails if it is negative.
pub(super) fn live(lives: &Lives, statuses: &[i64]) -> (ByHand, Arc<SimExecutor>) {
    live_with(lives, AttachOptions::default(), statuses)
}

pub(super) fn live_with(
    lives: &Lives,
    options: AttachOptions,
    statuses: &[i64],
) -> (ByHand, Arc<SimExecutor>) {
    let executor = Arc::new(SimExecutor::scripted(&lives.stage).with("http.get"));
    let life = ByHand::with(lives, options);
    executor.serve(&life.handle);
    script(&executor, statuses);
    (life, executor)
}

/// Lets time pass, and deals with all that becomes due meanwhile and with what the store answers to it.
pub(super) fn run_for(lives: &Lives, life: &mut ByHand, millis: u64) {
    let end = lives.stage.clock.now().boot.after(Span::from_millis(millis));
    life.turn();
    while let Some(next) = life.handle.run_due().filter(|next| *next <= end) {
        lives.stage.clock.advance_to(next);
        life.turn();
    }
    lives.stage.clock.advance_to(end);
}

fn script(executor: &SimExecutor, statuses: &[i64]) {
    for status in statuses {
        let took = Span::from_millis(20);
        executor.script(CallAnswer::AtOnce(if *status < 0 {
            Outcome::of_error("down", took)
        } else {
            Outcome::of_value(Map::new().with("status_code", *status).into(), 20, took)
        }));
    }
}

pub(super) fn tally(life: &ByHand, id: &str) -> (u64, u64) {
    let id = ScheduleId::new(id).expect("an id");
    life.handle.view(|state| {
        let tally = state.schedule(&id).and_then(|record| record.watch()).expect("it is a watch").tally;
        (tally.checks, tally.told)
    })
}

/// T41: what a change is told against.
#[test]
fn what_a_watch_remembers_survives() {
    let lives = Lives::new();
    let (mut life, executor) = live(&lives, &[200, 503]);
    let owner = life.open(HostId::LOCAL);
    life.handle.schedule(watch(&life.handle, &owner, "w", NotifyWhen::OnChange)).expect("it is kept");
    run_for(&lives, &mut life, 20_500);
    assert_eq!(tally(&life, "w"), (2, 1), "the change was told");
    assert_eq!(executor.calls().len(), 2);
    drop(life);
    lives.stage.clock.advance(Span::from_millis(300_000));
    // As it was: no change. Then another one.
    let (mut life, executor) = live(&lives, &[503, 200, 200, 200, 200, 200]);
    assert_eq!(tally(&life, "w"), (2, 1));
    run_for(&lives, &mut life, 10_001);
    assert_eq!(executor.calls().len(), 1, "it looks again within its interval");
    assert_eq!(tally(&life, "w"), (3, 1), "no false change");
    run_for(&lives, &mut life, 21_000);
    assert_eq!(tally(&life, "w").1, 2);
}

/// The tools show when the newest check was and whether it failed, and say which checks have no entry any more.
#[test]
fn after_a_restart_a_watch_shows_its_newest_check_and_says_what_is_not_kept() {
    for (status, error) in [(200, None), (-1, Some("the check failed; its error is not kept over a restart"))]
    {
        let lives = Lives::new();
        let (mut life, _) = live(&lives, &[200, status]);
        life.handle.tools().switch(Primitives::all());
        let owner = life.open(HostId::LOCAL);
        let new = watch(&life.handle, &owner, "w", NotifyWhen::Always);
        life.handle.schedule(NewSchedule { dialect: Dialect::Watch, ..new }).expect("it is kept");
        run_for(&lives, &mut life, 20_500);
        let shown = |life: &ByHand, show: fn(&Watcher<'_>) -> Answer| {
            let id = ScheduleId::new("w").expect("an id");
            let answer = life.handle.view(|state| show(&watcher(state, &owner, &id).expect("it is there")));
            answer.value.as_map().expect("a map").clone()
        };
        let text = |map: &Map, key: &str| map.keyword(key).and_then(Value::as_str).map(str::to_owned);
        let before = shown(&life, dialect::status);
        let checked = text(&before, "last_check_at");
        assert!(checked.is_some() && before.keyword("note").is_none(), "{before:?}");
        assert_eq!(text(&before, "last_error").is_some(), error.is_some(), "{before:?}");
        drop(life);
        lives.stage.clock.advance(Span::from_millis(300_500));
        let (mut life, _) = live(&lives, &[200]);
        life.handle.tools().switch(Primitives::all());
        let after = shown(&life, dialect::status);
        assert_eq!((text(&after, "last_check_at"), text(&after, "last_error").as_deref()), (checked, error));
        let note = text(&after, "note").expect("something is not kept");
        assert_eq!(note, "checks before a restart are counted; what they came to is not kept");
        run_for(&lives, &mut life, 10_001);
        let history = shown(&life, |watcher| dialect::history(watcher, 10));
        let (total, showing) = (history.keyword("total_checks"), history.keyword("showing"));
        assert_eq!((total, showing), (Some(&Value::Int(3)), Some(&Value::Int(1))), "{history:?}");
        assert_eq!(text(&history, "note"), Some(note));
    }
}

/// T41, T73: what is lost with a process is at most what a minute has counted.
#[test]
fn checks_that_tell_nothing_write_once_a_minute() {
    let lives = Lives::new();
    let (mut life, executor) = live(&lives, &[200; 61]);
    let owner = life.open(HostId::LOCAL);
    life.handle.schedule(watch(&life.handle, &owner, "w", NotifyWhen::OnChange)).expect("it is kept");
    run_for(&lives, &mut life, 10_500);
    let mut feed = life.handle.subscribe(Cursor::START);
    let _ = feed.poll(usize::MAX);
    let before = (life.handle.view(State::ledger), lives.store.health().head);
    run_for(&lives, &mut life, 600_000);
    assert_eq!(executor.calls().len(), 61);
    let shown = feed.poll(usize::MAX);
    assert!(shown.decisions.is_empty() && !shown.truncated, "{:?}", shown.decisions);
    let after = life.handle.view(State::ledger);
    assert_eq!(after.delivered - before.0.delivered, 60, "they are counted");
    drop(life);
    let (life, _) = live(&lives, &[]);
    let (checks, _) = tally(&life, "w");
    assert!((55..=61).contains(&checks), "{checks} of 61 are known to the next life");
}

/// T73: a watch has the run of its newest check alone, and explains the others by its history.
#[test]
fn checks_that_told_nothing_are_explained_by_the_history() {
    let lives = Lives::new();
    let (mut life, _) = live(&lives, &[200; 60]);
    let owner = life.open(HostId::LOCAL);
    life.handle.schedule(watch(&life.handle, &owner, "w", NotifyWhen::OnChange)).expect("it is kept");
    let began = lives.stage.clock.now().wall;
    run_for(&lives, &mut life, 500_500);
    assert_eq!(tally(&life, "w").0, 50);
    let id = ScheduleId::new("w").expect("an id");
    let runs = life.handle.view(|state| state.runs_of(state.schedule(&id).expect("it is there")).count());
    assert!(runs <= 2, "{runs} runs");
    let explain = |life: &ByHand, seconds: u64| {
        let at = began.checked_add(Span::from_millis(seconds * 1_000)).expect("in range");
        let asked = format!(
            "[{{(:reveille/explain {{:schedule-id \"w\" :at \"{at}\"}}) [:reveille.explanation/sentence]}}]"
        );
        ask(&life.handle, &Caller::OPERATOR, &asked, false)
    };
    let told = explain(&life, 200);
    assert!(
        told.contains("was delivered at ") && told.contains("(check 20: there was nothing to tell)"),
        "{told}"
    );
    drop(life);
    // The next process has the counts, and not each check.
    let (life, _) = live(&lives, &[]);
    let told = explain(&life, 200);
    assert!(told.contains("The slot of 2026-01-01T00:03:00Z was delivered"), "the minute's first: {told}");
}

/// T42: of ten thousand that looked every 30 s, no more than twice as many as usual look in any second.
#[test]
fn after_a_restart_the_watches_do_not_all_look_at_once() {
    const SESSIONS: u64 = 50;
    const EACH: u64 = 200;
    const SECONDS: u64 = 30;
    let lives = Lives::new();
    let (life, _) = live(&lives, &[]);
    for session in 0..SESSIONS {
        let owner = life.open(HostId::LOCAL);
        for number in 0..EACH {
            let by = (Filter::plain(NotifyWhen::OnError), SECONDS);
            let new = watch_by(&life.handle, &owner, &format!("w{session}-{number}"), by);
            life.handle.schedule(new).expect("it is kept");
        }
    }
    drop(life);
    lives.stage.clock.advance(Span::from_millis(60_000));
    let (life, _) = live(&lives, &[]);
    life.handle.run_due();
    let mut looks: BTreeMap<i64, u64> = BTreeMap::new();
    life.handle.view(|state| {
        for record in state.schedules() {
            *looks.entry(record.fire_at().seconds()).or_default() += 1;
        }
    });
    assert_eq!(looks.values().sum::<u64>(), SESSIONS * EACH);
    let most = looks.values().max().copied().unwrap_or_default();
    let usual = SESSIONS * EACH / SECONDS;
    assert!(most <= 2 * usual, "{most} in one second, where {usual} are usual");
}

//! What a watch has counted is counted on in the next life: errors in a row, what must last, pauses; and how little a very long
//! silence leaves behind.

use std::sync::Arc;

use reveille::domain::{
    Cursor, Dialect, Downtime, Filter, HostId, Lasting, NotifyWhen, Primitives, ScheduleId, Scope, SessionId,
    Span, Status,
};
use reveille::edn::Value;
use reveille::engine::{Command, Input, NewSchedule, Report, State, Which, parse_condition};
use reveille::port::Clock;
use reveille::runtime::AttachOptions;
use reveille::testkit::{SimExecutor, SimHost};

use super::lives::{ByHand, Lives};
use super::past::{ALL, ask};
use super::watches::{live, live_with, run_for, tally, watch_by};

/// What was told of watches in all lives, without the first line.
fn told(lives: &Lives) -> Vec<String> {
    let texts = lives.stage.history.receptions().into_iter().map(|(_, it)| it.text.to_string());
    let told = texts.filter(|text| text.starts_with("[WATCHER UPDATE]"));
    told.map(|text| text.lines().skip(1).collect::<Vec<_>>().join("\n")).collect()
}

fn start(lives: &Lives, statuses: &[i64], filter: Filter, seconds: u64) -> (ByHand, SessionId) {
    let (life, _executor) = live(lives, statuses);
    let owner = life.open(HostId::LOCAL);
    life.handle.schedule(watch_by(&life.handle, &owner, "w", (filter, seconds))).expect("it is kept");
    (life, owner)
}

/// T41: a result that is as the session knows it makes known again what the next change is a change from.
#[test]
fn the_first_change_after_a_restart_says_what_has_changed() {
    let lives = Lives::new();
    let lasting = Lasting { checks: 2, span: Span::ZERO };
    let filter = Filter { lasting, ..Filter::plain(NotifyWhen::OnChange) };
    let (mut life, _) = start(&lives, &[200; 3], filter, 60);
    run_for(&lives, &mut life, 185_000);
    drop(life);
    // The first that differs is not told yet, so the one before the change that is told is not what the session knows.
    let (mut life, _) = live(&lives, &[200, 503, 503, 503]);
    run_for(&lives, &mut life, 240_000);
    let told = told(&lives);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("\nChanged: status_code: 200 -> 503"), "{told:?}");
}

/// T41: the errors in a row go on, and that a check works is a recovery only if it was told that they do not.
#[test]
fn errors_in_a_row_are_counted_over_a_restart() {
    let lives = Lives::new();
    let (mut life, _) = start(&lives, &[-1, -1], Filter::plain(NotifyWhen::OnError), 60);
    run_for(&lives, &mut life, 125_000);
    assert_eq!((tally(&life, "w"), told(&lives).len()), ((2, 2), 2));
    drop(life);
    let (mut life, _) = live(&lives, &[-1, 200, 200]);
    run_for(&lives, &mut life, 200_000);
    let told = told(&lives);
    assert_eq!(told.len(), 4, "the third error, and once that it is over: {told:?}");
    assert!(told[2].starts_with("Check #3 ") && told[2].contains("Error: down"), "{told:?}");
    assert!(told[3].ends_with("\nRecovered after 3 errors."), "{told:?}");
}

/// T41.
#[test]
fn a_restart_is_no_recovery() {
    let lives = Lives::new();
    let (mut life, _) = start(&lives, &[200, 200], Filter::plain(NotifyWhen::OnError), 60);
    run_for(&lives, &mut life, 125_000);
    drop(life);
    lives.stage.clock.advance(Span::from_millis(600_000));
    let (mut life, executor) = live(&lives, &[200, 200, 200]);
    run_for(&lives, &mut life, 180_000);
    assert!(executor.calls().len() >= 2 && told(&lives).is_empty(), "{:?}", told(&lives));
}

/// Summaries of so many checks each.
fn summary(batch: u16) -> Filter {
    Filter { batch, ..Filter::plain(NotifyWhen::Summary) }
}

/// T33, T41: nobody has been told of what a summary has collected, so a crash must not lose it.
#[test]
fn what_a_summary_has_collected_outlives_a_crash() {
    let lives = Lives::new();
    // The last one is in the minute of the one before, and no other kind of result: nothing but the summary needs it.
    let (mut life, _) = start(&lives, &[-1, 503, 204], summary(4), 15);
    run_for(&lives, &mut life, 50_000);
    assert_eq!((tally(&life, "w"), told(&lives).len()), ((3, 0), 0));
    drop(life);
    let (mut life, _) = live(&lives, &[200]);
    assert_eq!(tally(&life, "w"), (3, 0), "each check is stored as it ends");
    run_for(&lives, &mut life, 16_000);
    let told = told(&lives);
    assert_eq!(told.len(), 1);
    let expected = "\nSummary (4 checks): [{\"check\": 1, \"error\": \"down\"}, \
        {\"check\": 2, \"result\": {\"status_code\": 503}}, {\"check\": 3, \"result\": {\"status_code\": 204}}, \
        {\"check\": 4, \"result\": {\"status_code\": 200}}]";
    assert!(told[0].contains(expected), "{told:?}");
}

/// A life in which a summary of two checks waits for its busy session.
fn with_a_summary_that_waits(lives: &Lives) -> (ByHand, SessionId) {
    let (mut life, _) = live(lives, &[1, 2]);
    let host = life.handle.hosts().attach(Arc::new(SimHost::new(&lives.stage, HostId::new(1))));
    let owner = life.open(host);
    let busy = Report::Busy { session: owner.clone(), busy: true, by: None };
    life.handle.submit(Input::Report(busy)).expect("it is open");
    life.handle.schedule(watch_by(&life.handle, &owner, "w", (summary(2), 15))).expect("it is kept");
    run_for(lives, &mut life, 35_000);
    (life, owner)
}

/// T33, T41: a summary that waits for its session over a crash goes into the next one.
#[test]
fn a_summary_that_waits_over_a_crash_becomes_part_of_the_next() {
    let lives = Lives::new();
    let (life, owner) = with_a_summary_that_waits(&lives);
    assert_eq!((tally(&life, "w"), told(&lives).len()), ((2, 1), 0), "its session is busy");
    drop(life);
    // Its host has not come back yet.
    let (mut life, _) = live(&lives, &[3, 4]);
    run_for(&lives, &mut life, 35_000);
    assert_eq!((tally(&life, "w"), told(&lives).len()), ((4, 2), 0));
    let host = life.handle.hosts().attach(Arc::new(SimHost::new(&lives.stage, HostId::new(1))));
    let back = Command::HostSessions { host, sessions: vec![owner], busy: Some(false), by: None };
    life.handle.submit(Input::Command(back)).expect("it is open");
    run_for(&lives, &mut life, 1_000);
    let told = told(&lives);
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("\nSummary (4 checks): [{\"check\": 1, "), "{told:?}");
    assert!(told[0].ends_with("\n1 earlier update is folded into this one."), "{told:?}");
}

/// A summary that waits over a crash is told once: the next one begins with the check after it.
#[test]
fn a_summary_that_is_told_in_the_next_life_is_not_told_again() {
    let lives = Lives::new();
    let (life, owner) = with_a_summary_that_waits(&lives);
    drop(life);
    let (mut life, _) = live(&lives, &[3, 4]);
    let host = life.handle.hosts().attach(Arc::new(SimHost::new(&lives.stage, HostId::new(1))));
    let back = Command::HostSessions { host, sessions: vec![owner], busy: Some(false), by: None };
    life.handle.submit(Input::Command(back)).expect("it is open");
    run_for(&lives, &mut life, 1_000);
    assert_eq!(told(&lives).len(), 1);
    run_for(&lives, &mut life, 35_000);
    let told = told(&lives);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("\nSummary (2 checks): [{\"check\": 1, "), "{told:?}");
    assert!(told[1].contains("\nSummary (2 checks): [{\"check\": 3, "), "{told:?}");
}

/// T41: a watch that is paused is so in the next life, and goes on from what it knew when somebody resumes it.
#[test]
fn a_pause_of_a_watch_outlives_the_process() {
    let lives = Lives::new();
    let (mut life, owner) = start(&lives, &[200], Filter::plain(NotifyWhen::OnChange), 60);
    run_for(&lives, &mut life, 65_000);
    let which = || Which::any(Scope::Session(owner.clone()), ScheduleId::new("w").expect("an id"));
    let submit = |life: &ByHand, command| life.handle.submit(Input::Command(command)).expect("it is there");
    submit(&life, Command::PauseSchedule { which: which(), reason: None });
    drop(life);
    let (mut life, executor) = live(&lives, &[503]);
    run_for(&lives, &mut life, 600_000);
    assert_eq!((life.status(&which().schedule), executor.calls().len()), (Some(Status::Paused), 0));
    submit(&life, Command::ResumeSchedule(which()));
    run_for(&lives, &mut life, 61_000);
    assert_eq!(executor.calls().len(), 1);
    let told = told(&lives);
    assert_eq!(told.len(), 1);
    assert!(told[0].ends_with("\nResult: {\"status_code\": 503}"), "{told:?}");
}

/// T40: what was made while watches were switched on does not look while they are switched off, and tells nothing.
#[test]
fn a_watch_does_not_look_in_a_life_without_watches() {
    let lives = Lives::new();
    let (mut life, executor) = live(&lives, &[200; 3]);
    life.handle.tools().switch(Primitives::all());
    let owner = life.open(HostId::LOCAL);
    let new = watch_by(&life.handle, &owner, "w", (Filter::plain(NotifyWhen::OnChange), 60));
    life.handle.schedule(NewSchedule { dialect: Dialect::Watch, ..new }).expect("it is kept");
    run_for(&lives, &mut life, 125_000);
    assert_eq!(executor.calls().len(), 2);
    drop(life);
    let (mut life, executor) = live(&lives, &[503; 3]);
    run_for(&lives, &mut life, 600_000);
    assert_eq!((executor.calls().len(), told(&lives).len()), (0, 0));
    drop(life);
    let (mut life, executor) = live(&lives, &[503; 3]);
    life.handle.tools().switch(Primitives::all());
    run_for(&lives, &mut life, 61_000);
    assert!(!executor.calls().is_empty(), "with them it goes on");
    let told = told(&lives);
    assert_eq!(told.len(), 1, "the change, and not what was refused: {told:?}");
    assert!(told[0].contains("Result: {\"status_code\": 503}"), "{told:?}");
}

/// A watch by a condition that must hold for five minutes, with a check each minute.
fn lasting() -> Filter {
    Filter {
        condition: parse_condition("result.status_code != 200").ok().map(Arc::new),
        lasting: Lasting { checks: 1, span: Span::from_millis(300_000) },
        ..Filter::plain(NotifyWhen::OnThreshold)
    }
}

/// T43: a check that fails after three minutes neither counts nor breaks the count.
#[test]
fn what_must_last_is_told_over_a_gap() {
    let lives = Lives::new();
    let (mut life, _) = start(&lives, &[503, 503, 503, -1, 503, 503], lasting(), 60);
    run_for(&lives, &mut life, 359_000);
    assert!(told(&lives).is_empty());
    run_for(&lives, &mut life, 2_000);
    let told = told(&lives);
    assert_eq!(told.len(), 1);
    assert!(told[0].ends_with("\nHeld for 5m (5 checks)."), "{told:?}");
}

/// T43: a process that is down for a short time, three minutes in, does not break the count, and what nobody saw is said.
#[test]
fn what_must_last_is_told_over_a_restart_with_what_nobody_saw() {
    let lives = Lives::new();
    let (mut life, _) = start(&lives, &[503; 4], lasting(), 60);
    run_for(&lives, &mut life, 240_000);
    drop(life);
    let (mut life, executor) = live_after(&lives, 40, &[503; 4]);
    run_for(&lives, &mut life, 140_000);
    assert!((2..=3).contains(&executor.calls().len()));
    let told = told(&lives);
    assert!(told[0].starts_with("Check #6 "), "at five minutes, and not before: {told:?}");
    assert!(told[0].ends_with("\nHeld for 5m (6 checks, of which 40s unseen)."), "{told:?}");
}

/// T43: after eleven minutes in which nobody looked it is counted anew.
#[test]
fn what_must_last_is_counted_anew_after_a_long_time_down() {
    let lives = Lives::new();
    let (mut life, _) = start(&lives, &[503; 4], lasting(), 60);
    run_for(&lives, &mut life, 240_000);
    drop(life);
    let (mut life, executor) = live_after(&lives, 660, &[503; 8]);
    while executor.calls().is_empty() {
        run_for(&lives, &mut life, 1_000);
    }
    run_for(&lives, &mut life, 298_000);
    assert!(told(&lives).is_empty(), "{:?}", told(&lives));
    run_for(&lives, &mut life, 3_000);
    let told = told(&lives);
    assert_eq!(told.len(), 1);
    assert!(told[0].ends_with("\nHeld for 5m (6 checks)."), "{told:?}");
}

/// A life that knows for how many seconds there was none.
fn live_after(lives: &Lives, seconds: u64, statuses: &[i64]) -> (ByHand, Arc<SimExecutor>) {
    let from = lives.stage.clock.now().wall;
    lives.stage.clock.advance(Span::from_millis(seconds * 1_000));
    let downs = [Downtime { from, until: lives.stage.clock.now().wall }];
    let options = AttachOptions { downs: downs.into(), ..AttachOptions::default() };
    live_with(lives, options, statuses)
}

/// The checks of a watch that is bound are stored once a minute at most, so a question about the past says that it does not know
/// how many there were.
#[test]
fn the_past_of_a_bound_watch_is_said_to_be_inexact() {
    let lives = Lives::new();
    let (mut life, _) = start(&lives, &[200; 30], Filter::plain(NotifyWhen::OnChange), 10);
    let untold = |life: &ByHand, at| {
        let query = "[:reveille.engine/untold {:psi.scheduler/schedules [:psi.scheduler/run-count]}]";
        Value::Map(ask(&life.handle, query, Some(at))).to_string()
    };
    run_for(&lives, &mut life, 5_000);
    let before = lives.stage.clock.now().wall;
    run_for(&lives, &mut life, 100_000);
    let after = lives.stage.clock.now().wall;
    lives.stage.clock.advance(Span::from_millis(1));
    assert!(untold(&life, before).contains(":reveille.engine/untold 0"), "{}", untold(&life, before));
    let (known, counted) = (untold(&life, after), tally(&life, "w").0);
    assert!(known.contains(":reveille.engine/untold 1") && counted == 10, "{counted}: {known}");
    assert!(!known.contains(":psi.scheduler/run-count 10}"), "it is exact now: {known}");
}

/// T73: a hundred thousand checks that tell nothing. The feed shows none of them, the accounts count all, the history of each
/// watch has the newest, and a question about the time before them is answered as it was without them.
#[test]
fn a_hundred_thousand_silent_checks_leave_no_trace_but_counts() {
    const WATCHES: u64 = 20;
    let lives = Lives::new();
    let (mut life, executor) = live(&lives, &[]);
    let owner = life.open(HostId::LOCAL);
    let ids: Vec<String> = (0..WATCHES).map(|number| format!("w{number}")).collect();
    for id in &ids {
        let new = watch_by(&life.handle, &owner, id, (Filter::plain(NotifyWhen::OnChange), 5));
        life.handle.schedule(new).expect("it is kept");
    }
    run_for(&lives, &mut life, 5_500);
    let at = lives.stage.clock.now().wall;
    let print = |query: &str, life: &ByHand| Value::Map(ask(&life.handle, query, Some(at))).to_string();
    lives.stage.clock.advance(Span::from_millis(1));
    let seen = [ALL, "[:reveille.engine/untold]"].map(|query| print(query, &life));
    let mut feed = life.handle.subscribe(Cursor::START);
    let _ = feed.poll(usize::MAX);
    let before = life.handle.view(State::ledger);

    run_for(&lives, &mut life, 25_000_000);
    assert_eq!(executor.calls().len(), 5_001 * 20);
    let shown = feed.poll(usize::MAX);
    assert!(shown.decisions.is_empty() && !shown.truncated, "{:?}", shown.decisions.first());
    let after = life.handle.view(State::ledger);
    assert_eq!((after.delivered - before.delivered, after.imbalance()), (100_000, 0));
    assert!(told(&lives).is_empty());
    for id in &ids {
        assert_eq!(tally(&life, id), (5_001, 0));
        let id = ScheduleId::new(id).expect("an id");
        let newest = life.handle.view(|state| {
            let ring = &state.schedule(&id).and_then(|record| record.watch()).expect("it is one").ring;
            ring.latest(1_000).iter().map(|past| past.check).collect::<Vec<u64>>()
        });
        assert_eq!(newest, (4_902..=5_001).collect::<Vec<u64>>());
    }
    let told = [ALL, "[:reveille.engine/untold]"].map(|query| print(query, &life));
    assert!(told == seen, "the past is told otherwise now: {} {}", seen[1], told[1]);
}

//! Races, explored by shuttle over the real handle: every lock of the runtime is a point where threads may change.
//!
//! Each test asserts that there is one outcome per schedule, and that it is the acknowledged one; that no effect is
//! left behind; and that each session's effects came in order. Time stands still unless a test moves it, so nothing
//! here waits for a timeout, which shuttle's condition variables do not have.

mod stage;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use shuttle::thread::{spawn, yield_now};

use self::stage::{Ear, Keeper, Stage, id, ids, new_schedule, new_task, new_watch, session};
use super::driver::drive;
use super::handle::Handle;
use crate::domain::{
    Cursor, Decision, DecisionKind, ExecutorKind, HostId, Outcome, Refusal, Scope, Span, Status,
};
use crate::engine::{Command, Input, Report, State, Which};
use crate::limits;
use crate::port::HostAnswer;

const SCHEDULES: usize = 4_000;
/// In how many orders a wait and an end meet. Source: T21.
const WAITS: usize = 10_000;

#[test]
fn cancel_and_fire() {
    explore(|| {
        let stage = Stage::with_session(HostAnswer::Done);
        stage.create("a", "one", 1_000);
        stage.pass(1_000);
        let turner = stage.turner();
        let (scope, schedule) = (Scope::Session(session("one")), id("a"));
        let cancelled =
            stage.handle.submit(Input::Command(Command::CancelSchedule(Which::any(scope, schedule))));
        turner.join().unwrap();
        stage.handle.run_due();
        stage.settle();
        let heard = stage.ear.prompts("one");
        match cancelled {
            Ok(()) => assert_eq!((stage.status("a"), heard.len()), (Some(Status::Cancelled), 0)),
            Err(refusal) => {
                assert!(matches!(refusal, Refusal::NotCancellable { .. }), "{refusal}");
                assert_eq!((stage.status("a"), heard.len()), (Some(Status::Delivered), 1));
            }
        }
    });
}

#[test]
fn close_and_fire() {
    explore(|| {
        let stage = Stage::with_session(HostAnswer::Done);
        stage.create("a", "one", 1_000);
        stage.create_fresh("b", "one", 1_000);
        stage.pass(1_000);
        let turner = stage.turner();
        stage.handle.close_session(&session("one")).unwrap();
        turner.join().unwrap();
        stage.handle.run_due();
        stage.settle();
        assert_eq!(stage.status("a"), None);
        let ends = stage.ends("a");
        assert_eq!(ends.len(), 1, "{ends:?}");
        // If the session is closed between the dispatch and the receipt, the run fails: the host may have it, and the
        // record says so.
        let prompts = stage.ear.prompts("one").len();
        assert!(prompts <= 1 && (ends[0] != DecisionKind::RunDelivered || prompts == 1), "{ends:?}");
        assert!(ends[0] != DecisionKind::ScheduleCancelled || prompts == 0, "{ends:?}");
        assert_eq!(
            stage.ear.heard("one").last().map(String::as_str),
            Some("forget"),
            "nothing comes after the end"
        );
    });
}

#[test]
fn shutdown_and_create() {
    explore(|| {
        let stage = Stage::with_session(HostAnswer::Done);
        let creating = stage.handle.clone();
        let creator = spawn(move || {
            let due = creating.submit(new_schedule("a", "one", 0, false));
            let later = creating.submit(new_schedule("b", "one", 60_000, false));
            creating.run_due();
            (due.is_ok(), later.is_ok())
        });
        stage.handle.shut_down();
        let (due, later) = creator.join().unwrap();
        stage.settle();
        assert!(due || !later, "what is taken before is taken after");
        let (a, b) = (stage.status("a"), stage.status("b"));
        assert_eq!((a.is_some(), b.is_some()), (due, later));
        let heard = stage.ear.prompts("one").len();
        assert_eq!(heard, usize::from(a == Some(Status::Delivered)), "{a:?}");
        assert!(b.is_none_or(|b| b == Status::Cancelled), "{b:?}");
        let late = stage.handle.submit(new_schedule("c", "one", 0, false));
        assert_eq!(late, Err(Refusal::Stopping));
    });
}

#[test]
fn two_shutdowns() {
    explore(|| {
        let stage = Stage::with_session(HostAnswer::Later);
        stage.create("a", "one", 1_000);
        stage.pass(1_000);
        stage.handle.run_due();
        // Each reading of the clock is past the receipts' deadline, so neither shutdown waits for one.
        stage.clock.step.store(limits::SHUTDOWN_MS.value * 1_000_000, Ordering::Relaxed);
        let other = stage.handle.clone();
        let stopper = spawn(move || other.shut_down());
        stage.handle.shut_down();
        stopper.join().unwrap();
        stage.settle();
        assert_eq!(stage.status("a"), Some(Status::Failed));
    });
}

#[test]
fn busy_and_fire() {
    explore(|| {
        let stage = Stage::new(HostAnswer::Done);
        let host = stage.handle.hosts().attach(stage.ear.clone());
        stage.open("one", host);
        stage.create("a", "one", 1_000);
        stage.create("b", "one", 1_000);
        stage.pass(1_000);
        let turner = stage.turner();
        for busy in [true, false] {
            stage.report_busy(busy);
        }
        turner.join().unwrap();
        // Up to two deliveries begin turns that no host reports.
        for _ in 0..3 {
            stage.handle.run_due();
            stage.pass(limits::TURN_START_MS.value);
        }
        stage.settle();
        assert_eq!(stage.ear.prompts("one"), ["a", "b"]);
        let mut free = true;
        for decision in stage.decisions() {
            if decision.kind == DecisionKind::RunDispatched {
                assert!(free, "{decision:?}");
            }
            let ends_turn =
                [DecisionKind::SessionIdle, DecisionKind::TurnUnreported].contains(&decision.kind);
            let starts_turn = decision.kind == DecisionKind::RunDispatched;
            free = ends_turn || free && !starts_turn;
        }
    });
}

#[test]
fn host_lost_and_fire() {
    explore(|| {
        let stage = Stage::new(HostAnswer::Later);
        let host = stage.handle.hosts().attach(stage.ear.clone());
        stage.open("one", host);
        stage.create("a", "one", 1_000);
        stage.pass(1_000);
        let turner = stage.turner();
        stage.handle.hosts().detach(host);
        turner.join().unwrap();
        stage.handle.run_due();
        let before = stage.status("a");
        assert!(matches!(before, Some(Status::Failed | Status::Queued)), "{before:?}");
        let successor = Arc::new(Ear::new(HostAnswer::Done));
        let host = stage.handle.hosts().attach(successor.clone());
        stage.take_over(host, "one");
        stage.settle();
        let heard = stage.ear.prompts("one").len() + successor.prompts("one").len();
        assert_eq!(stage.ends("a").len(), 1);
        assert!(heard <= 1, "at most one host hears it");
        if before == Some(Status::Queued) {
            assert_eq!((stage.status("a"), successor.prompts("one").len()), (Some(Status::Delivered), 1));
        }
    });
}

#[test]
fn take_over_and_fire() {
    explore(|| {
        let stage = Stage::with_session(HostAnswer::Done);
        stage.create("a", "one", 1_000);
        stage.create_fresh("b", "one", 1_000);
        stage.pass(1_000);
        let turner = stage.turner();
        let successor = Arc::new(Ear::new(HostAnswer::Done));
        let host = stage.handle.hosts().attach(successor.clone());
        stage.take_over(host, "one");
        turner.join().unwrap();
        stage.handle.run_due();
        stage.settle();
        assert_eq!(
            (stage.status("a"), stage.status("b")),
            (Some(Status::Delivered), Some(Status::Delivered))
        );
        assert_eq!(stage.ear.prompts("one").len() + successor.prompts("one").len(), 1);
        for ear in [&stage.ear, &successor] {
            let created = ear.events().iter().filter(|(_, event)| event == "create").count();
            let prompted = ear.events().iter().filter(|(_, event)| event == "b").count();
            assert_eq!(created, prompted, "the host that creates a session gets its prompt");
        }
    });
}

#[test]
fn receipt_and_overdue() {
    explore(|| {
        let stage = Stage::with_session(HostAnswer::Later);
        stage.create("a", "one", 1_000);
        stage.create("b", "one", 1_000);
        stage.pass(1_000);
        stage.handle.run_due();
        stage.pass(limits::RECEIPT_MS.value);
        let turner = stage.turner();
        let run =
            stage.handle.view(|state| state.schedule(&id("a")).map(|it| it.run_id(it.fire_at()))).unwrap();
        let accepted = stage.handle.submit(Input::Report(Report::Accepted { run }));
        turner.join().unwrap();
        let expected = if accepted.is_ok() { Status::Delivered } else { Status::Failed };
        assert_eq!((stage.status("a"), stage.ends("a").len()), (Some(expected), 1));
        assert_eq!(stage.ear.prompts("one"), ["a", "b"]);
    });
}

#[test]
fn two_performers() {
    explore(|| {
        let stage = Stage::with_session(HostAnswer::Done);
        stage.open("two", HostId::LOCAL);
        for (name, owner) in [("a", "one"), ("b", "two"), ("c", "one"), ("d", "two")] {
            stage.create(name, owner, 1_000);
        }
        stage.pass(1_000);
        let turners = [stage.turner(), stage.turner()];
        let report = Report::UserMessage { session: session("one"), text: "a word".into(), by: None };
        stage.handle.submit(Input::Report(report)).unwrap();
        for turner in turners {
            turner.join().unwrap();
        }
        stage.settle();
        assert_eq!((stage.ear.prompts("one"), stage.ear.prompts("two")), (ids("a", "c"), ids("b", "d")));
        assert_eq!(stage.handle.view(State::live_count), 0);
    });
}

#[test]
fn two_submitters() {
    explore(|| {
        let stage = Stage::with_session(HostAnswer::Done);
        let say = |handle: &Handle, text: &str| {
            let report = Report::UserMessage { session: session("one"), text: text.into(), by: None };
            handle.submit(Input::Report(report)).unwrap();
        };
        let other = stage.handle.clone();
        let speaker = spawn(move || say(&other, "a"));
        say(&stage.handle, "b");
        speaker.join().unwrap();
        // The second thread has left its effect to the first, or has performed it itself: the host heard both.
        stage.settle();
        assert_eq!(stage.ear.heard("one").len(), 2);
    });
}

#[test]
fn driver_and_create() {
    explore(|| {
        let stage = Stage::with_session(HostAnswer::Done);
        let mut follower = stage.handle.subscribe(stage.handle.view(State::cursor));
        let driven = stage.handle.clone();
        let driver = spawn(move || drive(&driven));
        stage.create("a", "one", 0);
        // No other thread runs what is due, and nothing times out: a missed notification would hang this test.
        let is_delivered = |decision: &Decision| decision.kind == DecisionKind::RunDelivered;
        while !follower.next_batch(8).is_some_and(|batch| batch.decisions.iter().any(is_delivered)) {}
        stage.handle.shut_down();
        driver.join().unwrap();
        stage.settle();
    });
}

/// T21: a caller that waits when the outcome comes has it, and the session is told exactly if nobody does.
#[test]
fn wait_and_return() {
    explore_in(WAITS, || {
        let stage = Stage::with_session(HostAnswer::Done);
        let keeper = Arc::new(Keeper::default());
        stage.handle.tools().add_executor(ExecutorKind::Operator, keeper.clone()).unwrap();
        stage.handle.submit(new_task("a")).unwrap();
        stage.handle.run_due();
        let returned = keeper.take();
        let giver = spawn(move || returned.give(Outcome::of_value(7.into(), 1, Span::ZERO)));
        let rung = Arc::new(AtomicBool::new(false));
        let ring = rung.clone();
        let waiter = stage.handle.waiters().await_end(&id("a"), move || ring.store(true, Ordering::Relaxed));
        yield_now();
        let has_end = waiter.is_some_and(|waiter| !stage.handle.waiters().stop(&waiter));
        giver.join().unwrap();
        stage.handle.run_due();
        stage.settle();
        assert_eq!(stage.ear.prompts("one").len(), usize::from(!has_end));
        assert_eq!(rung.load(Ordering::Relaxed), has_end);
    });
}

#[test]
fn stop_and_follow() {
    explore(|| {
        let stage = Stage::with_session(HostAnswer::Done);
        let mut follower = stage.handle.subscribe(stage.handle.view(State::cursor));
        let stopper = follower.stopper();
        let stopping = spawn(move || stopper.stop());
        assert_eq!(follower.next_batch(8), None);
        stopping.join().unwrap();
    });
}

/// The facts of a watch's check have cursors, and the feed does not show them.
#[test]
fn stop_and_follow_what_is_not_shown() {
    explore(|| {
        let stage = Stage::with_session(HostAnswer::Done);
        stage.handle.tools().add_executor(ExecutorKind::Operator, Arc::new(Keeper::default())).unwrap();
        stage.handle.submit(new_watch("w")).unwrap();
        stage.pass(1_000);
        stage.handle.run_due();
        let mut follower = stage.handle.subscribe(Cursor::START);
        follower.poll(usize::MAX);
        assert!(
            follower.cursor() < stage.handle.view(State::cursor),
            "the check is under way, and not shown"
        );
        let stopper = follower.stopper();
        let stopping = spawn(move || stopper.stop());
        assert_eq!(follower.next_batch(8), None);
        stopping.join().unwrap();
    });
}

#[test]
fn readers_and_fire() {
    explore(|| {
        let stage = Stage::with_session(HostAnswer::Done);
        stage.create("a", "one", 1_000);
        stage.pass(1_000);
        let turner = stage.turner();
        let read = |handle: Handle| {
            handle.view(|state| {
                // Another reader may run here, but no writer.
                yield_now();
                let ended = state.schedule(&id("a")).is_some_and(|it| it.status().is_terminal());
                assert_eq!((state.ledger().imbalance(), state.live_count()), (0, u64::from(!ended)));
            });
        };
        let other = stage.handle.clone();
        let reader = spawn(move || read(other));
        read(stage.handle.clone());
        reader.join().unwrap();
        turner.join().unwrap();
        stage.settle();
    });
}

fn explore(scene: impl Fn() + Send + Sync + 'static) {
    explore_in(SCHEDULES, scene);
}

fn explore_in(orders: usize, scene: impl Fn() + Send + Sync + 'static) {
    shuttle::check_random(scene, orders);
}

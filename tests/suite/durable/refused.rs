//! A store that refuses a batch while earlier ones still wait for its disk: those are kept, and acknowledged, and what the
//! engine takes up afterwards has them; what was decided on top of the refused one is refused as well.

use std::sync::Arc;

use reveille::domain::{
    Cursor, DecisionKind, Durability, HostId, Policy, Recovery, Refusal, RunId, ScheduleId, Scope,
    SessionConfig, SessionId, Settings, Span, Status, When,
};
use reveille::engine::{Command, Holds, Input, LocalFact, NewSchedule, State, StoredRow, Which};
use reveille::port::{Clock, Ticket};
use reveille::runtime::Handle;
use reveille::testkit::DiskFault;
use reveille::testkit::{Behaviour, Broken, Laws, Observation, Seen, SimHost, Stage, StateView};

use super::lives::{ByHand, Lives, message};

fn create(id: &str, owner: &SessionId) -> (ScheduleId, Command) {
    let id = ScheduleId::new(id).expect("an id");
    let new = NewSchedule { id: Some(id.clone()), durability: Durability::Durable, ..message(owner, 60_000) };
    (id, Command::CreateSchedule(new))
}

fn cancel(id: &ScheduleId) -> Command {
    Command::CancelSchedule(Which::any(Scope::Operator, id.clone()))
}

#[test]
fn what_was_acknowledged_before_a_refusal_is_taken_up_with_the_rest() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let owner = life.open(HostId::LOCAL);
    let (doomed, command) = create("doomed", &owner);
    life.ask(command).wait().expect("it is kept");
    let (standing, command) = create("standing", &owner);
    life.ask(command).wait().expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(1));
    // The disk is slow, and two batches fill its queue.
    lives.store.hold();
    lives.store.fail_as(DiskFault::Narrow(2));
    let cancelled = life.ask(cancel(&doomed));
    let (wanted, command) = create("wanted", &owner);
    let created = life.ask(command);
    let (refused, command) = create("refused", &owner);
    let said = life.handle.submit(Input::Command(command));
    assert!(matches!(said, Err(Refusal::StoreUnavailable { .. })), "{said:?}");
    // The engine hears of it, and tries again while they still wait, though there is room again.
    life.answers.publish();
    lives.store.heal();
    let early = life.answers.retry();
    lives.store.release();
    cancelled.wait().expect("the cancel is on disk");
    created.wait().expect("the creation is on disk");
    life.answers.publish();
    life.answers.retry().expect("the store is well");
    let ids = [&doomed, &wanted, &standing, &refused];
    let statuses = ids.map(|id| life.status(id));
    assert_eq!(
        statuses,
        [Some(Status::Cancelled), Some(Status::Pending), Some(Status::Pending), None],
        "as they were acknowledged"
    );
    assert!(life.shown(&doomed).contains(&DecisionKind::ScheduleCancelled), "{:?}", life.shown(&doomed));
    assert_eq!(life.shown(&wanted), [DecisionKind::ScheduleCreated], "whoever follows hears of what is kept");
    assert_eq!(life.shown(&refused), [], "and of nothing else");
    lives.stage.clock.advance(Span::from_millis(60_000));
    life.turn();
    assert_eq!(life.received(), [standing.clone(), wanted.clone()], "each once, and what is cancelled never");
    assert!(early.is_err(), "nothing is taken up while batches wait that are about to be acknowledged");
    let life = ByHand::new(&lives);
    let after = [Some(Status::Cancelled), Some(Status::Delivered), Some(Status::Delivered), None];
    assert_eq!(ids.map(|id| life.status(id)), after, "the next process finds the same");
}

#[test]
fn a_hand_over_that_is_let_in_before_a_refusal_is_made_once() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    // A host outside might have it already, had this been the end of a process: it would not be asked a second time.
    let host = Arc::new(SimHost::new(&lives.stage, HostId::new(1)));
    let number = life.handle.hosts().attach(host.clone());
    life.host = host;
    let owner = life.open(number);
    let policy = Policy { recovery: Recovery::Fail, ..Policy::PLAIN };
    let due = ScheduleId::new("due").expect("an id");
    let settings = Some(Box::new(Settings { policy, ..Settings::PLAIN }));
    let new = NewSchedule { id: Some(due.clone()), settings, ..message(&owner, 60_000) };
    let command = Command::CreateSchedule(NewSchedule { durability: Durability::Durable, ..new });
    life.ask(command).wait().expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(60_000));
    lives.store.hold();
    life.handle.run_due();
    lives.store.fail_as(DiskFault::Narrow(1));
    let (_, command) = create("refused", &owner);
    assert!(life.ask(command).wait().is_err());
    life.answers.publish();
    assert_eq!(life.received(), [], "that it is handed over is not on disk yet");
    lives.store.heal();
    lives.store.release();
    life.answers.retry().expect("the store is well");
    life.turn();
    assert_eq!(life.received(), std::slice::from_ref(&due));
    assert_eq!(life.status(&due), Some(Status::Delivered));
    assert_eq!(life.handle.view(State::ledger).imbalance(), 0);
}

/// There may be room again before the engine has heard that there was none.
#[test]
fn what_was_decided_on_top_of_a_refusal_is_refused_too() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let owner = life.open(HostId::LOCAL);
    let settings = Some(Box::new(Settings { key: Some("build-7".into()), ..Settings::PLAIN }));
    let keyed = || {
        let new = NewSchedule {
            durability: Durability::Durable,
            settings: settings.clone(),
            ..message(&owner, 60_000)
        };
        Command::CreateSchedule(new)
    };
    lives.store.fail_as(DiskFault::Narrow(0));
    let first = life.ask(keyed());
    lives.store.heal();
    let repeated = life.ask(keyed());
    let (behind, command) = create("behind", &owner);
    let on_top = life.ask(command);
    life.answers.publish();
    life.answers.retry().expect("the store is well");
    let said = [first, repeated, on_top].map(Ticket::wait);
    assert_eq!(said.map(|answer| answer.is_ok()), [false; 3], "nobody is told that it is kept");
    assert_eq!((life.handle.view(State::live_count), life.status(&behind)), (0, None), "and nothing is");
    life.ask(keyed()).wait().expect("it is kept now");
    let life = ByHand::new(&lives);
    assert_eq!(life.handle.view(State::live_count), 1);
}

/// The word that a batch of an ended term is not kept may come when another term has begun.
#[test]
fn a_failure_of_an_ended_term_does_not_end_the_next() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let owner = life.open(HostId::LOCAL);
    lives.store.hold();
    lives.store.fail_as(DiskFault::Narrow(2));
    let let_in = ["one", "two"].map(|id| life.ask(create(id, &owner).1));
    let refused = life.ask(create("three", &owner).1);
    life.answers.publish();
    // What was let in is lost all the same.
    lives.store.fail_as(DiskFault::Full);
    lives.store.release();
    lives.store.heal();
    life.answers.retry().expect("the store is well");
    let (wanted, command) = create("wanted", &owner);
    let wanted_is_kept = life.ask(command);
    life.answers.publish();
    for ticket in let_in.into_iter().chain([refused]) {
        assert!(ticket.wait().is_err(), "it is not on disk");
    }
    wanted_is_kept.wait().expect("it is on disk");
    assert_eq!(life.status(&wanted), Some(Status::Pending));
    life.ask(cancel(&wanted)).wait().expect("the store is well, and nothing is refused");
    assert_eq!(life.handle.view(State::live_count), 0);
}

/// An engine whose durable run is with a host that has not answered, and the laws after this is seen of it, too.
fn check(law: &str, spoil: impl FnOnce(&mut Vec<Seen>, RunId)) {
    let stage = Stage::seeded(7);
    let host = Arc::new(SimHost::new(&stage, HostId::LOCAL));
    host.behave(&[(Behaviour::Slow, 1)]);
    let handle = Handle::new(stage.parts(host.clone()));
    let opened = handle.open_session(None, HostId::LOCAL, SessionConfig::default());
    let when = When::After(Span::from_millis(1_000));
    let new = NewSchedule::message(opened.expect("there is room").0, when, "a word");
    handle.schedule(NewSchedule { durability: Durability::Durable, ..new }).expect("there is room");
    stage.clock.advance(Span::from_millis(1_000));
    handle.run_due();
    let run = host.prompts().remove(0).run;
    let now = stage.clock.now();
    let mut laws = Laws::new();
    let mut all = stage.history.after(0);
    let mut more = Vec::new();
    spoil(&mut more, run);
    all.extend(more.into_iter().map(|seen| Observation { now, seen }));
    let observed = all.iter().try_for_each(|seen| laws.observe(seen));
    let standing = |laws: &Laws| -> Result<(), Broken> {
        handle.view(|state| laws.stand(&StateView { state, now, turned: false, session_live_max: None }))
    };
    let broken = observed.and_then(|()| standing(&laws)).expect_err(law);
    assert_eq!(broken.law, law, "{broken}");
}

#[test]
fn the_laws_see_what_a_failed_store_must_not_do() {
    check("only_what_is_not_kept_is_retracted", |all, run| {
        all.push(Seen::DiskFailed { kept: Cursor::START });
        all.push(Seen::Local(LocalFact::Retracted(run)));
    });
    check("nothing_is_out_that_is_not_kept", |all, _| {
        all.push(Seen::DiskFailed { kept: Cursor::START });
        all.push(Seen::Local(LocalFact::DurableFrozen { why: "full".into() }));
    });
    check("what_is_stored_is_loaded", |all, _| {
        all.push(Seen::Local(LocalFact::Restored(StoredRow::Holds(Holds::default()))));
    });
    check("what_is_stored_is_loaded", |all, _| all.push(Seen::Local(LocalFact::DurableDropped)));
}

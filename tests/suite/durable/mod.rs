//! Durable schedules through an engine, its store and its restarts: told only what is kept, handed over only what is kept,
//! and gone on with by the next life.

mod again;
mod agents_turns;
mod apart;
mod approvals;
mod channels;
mod days;
mod dialects;
mod earlier;
mod foretold;
mod holds;
mod left_behind;
pub(crate) mod lives;
mod lost;
mod monitors;
mod overdue;
mod past;
mod pings;
mod pruned;
mod refused;
mod reopened;
mod scheduled_calls;
mod still_out;
mod store_failure;
mod taken_back;
mod unattached;
mod watch_lives;
mod watches;

use std::sync::Arc;

use reveille::domain::{
    Address, DecisionKind, Durability, Grant, HostId, Message, Missed, Moment, Policy, Reason, Refusal,
    Right, Scope, SessionConfig, SessionId, Settings, Span, Status, When,
};
use reveille::engine::{Command, Input, NewSchedule, State};
use reveille::limits::{STORE_CHUNK_RECORDS, STORE_QUEUE_BATCHES};
use reveille::port::{Clock, HistoryCaps, StoreFault};
use reveille::runtime::Handle;
use reveille::testkit::StoreMemory;
use reveille::testkit::{Behaviour, Laws, SimHost, Stage};

use lives::{Life, Lives, every, message};

#[test]
fn what_was_acknowledged_fires_once_in_a_later_life() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    let id = life.create(message(&owner, 60_000)).expect("it is kept");
    drop(life);
    lives.stage.clock.advance(Span::from_millis(30_000));
    let mut life = lives.next(0);
    assert_eq!(
        life.handle.view(|state| state.schedule(&id).map(reveille::engine::ScheduleRecord::status)),
        Some(Status::Pending)
    );
    lives.stage.clock.advance(Span::from_millis(30_000));
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDelivered);
    assert_eq!(life.host.prompts().len(), 1);
    drop(life);
    let life = lives.next(0);
    lives.stage.clock.advance(Span::from_millis(600_000));
    life.handle.run_due();
    assert_eq!(
        life.handle.view(|state| state.schedule(&id).map(reveille::engine::ScheduleRecord::status)),
        Some(Status::Delivered)
    );
    assert_eq!(lives.stage.history.receptions().len(), 1, "in all lives together");
}

#[test]
fn a_session_and_its_token_survive() {
    let lives = Lives::new();
    let life = lives.next(0);
    let id = SessionId::new("one").expect("a name");
    let address =
        Address::from_parts(Some("claude:1f0c"), Some("/home/u"), Some("work")).expect("an address");
    let addressed = SessionConfig { address, ..SessionConfig::default() };
    let (_, token) =
        life.handle.open_session(Some(id.clone()), HostId::LOCAL, addressed.clone()).expect("there is room");
    let closed = life.open("closed");
    life.handle.close_session(&closed).expect("it is open");
    drop(life);
    let life = lives.next(0);
    let kept =
        life.handle.view(|state| state.session(&id).map(|session| SessionConfig::clone(session.config())));
    assert_eq!(kept, Some(addressed), "the agent's conversation behind it too");
    assert_eq!(life.handle.tokens().session(&token), Some(id));
    assert_eq!(life.handle.view(|state| state.sessions().len()), 1);
}

#[test]
fn nothing_is_handed_over_before_it_is_kept() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let owner = life.open("one");
    life.create(message(&owner, 1_000)).expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(1_000));
    lives.store.hold();
    life.handle.run_due();
    assert_eq!(life.handle.view(|state| state.gauges(lives.stage.clock.now()).running), 1);
    assert_eq!(life.host.prompts().len(), 0, "the claim is not on disk");
    let shown = life.feed.poll(1_000).decisions;
    assert!(shown.iter().all(|it| it.kind != DecisionKind::RunClaimed), "nor is it published");
    // What lives in memory waits for no disk.
    let other = message(&life.handle.view(|_| owner.clone()), 0);
    let volatile = life.handle.schedule(NewSchedule { owner, ..other }).expect("it is volatile");
    life.handle.run_due();
    assert_eq!(
        life.handle.view(|state| state.schedule(&volatile).map(reveille::engine::ScheduleRecord::status)),
        Some(Status::Queued)
    );
    lives.store.release();
    life.await_kind(DecisionKind::RunDelivered);
    assert!(!life.host.prompts().is_empty());
}

#[test]
fn a_claim_that_was_not_kept_is_claimed_by_the_next_life() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    life.create(message(&owner, 1_000)).expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(1_000));
    // The disk never answers, and the process dies.
    lives.store.hold();
    life.handle.run_due();
    lives.store.fail(StoreFault::Unwritable { detail: "power".into() });
    drop(life);
    lives.store.release();
    lives.store.heal();
    let mut life = lives.next(0);
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDelivered);
    assert_eq!(lives.stage.history.receptions().len(), 1);
}

#[test]
fn a_store_that_fails_is_told_of_and_comes_back() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let owner = life.open("one");
    let kept = life.create(message(&owner, 1_000)).expect("it is kept");
    lives.store.fail(StoreFault::Unwritable { detail: "no space".into() });
    let refused = life.create(message(&owner, 1_000));
    assert!(matches!(refused, Err(Refusal::StoreUnavailable { .. })), "{refused:?}");
    // Volatile work goes on, and what is on disk stands still.
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.handle.schedule(message(&owner, 0)).expect("it is volatile");
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDelivered);
    assert_eq!(life.host.prompts().len(), 1);
    let stands = life.handle.view(|state| state.schedule(&kept).map(|it| it.status().is_terminal()));
    assert_eq!(stands, Some(false));
    lives.store.heal();
    life.await_kind(DecisionKind::EngineRestarted);
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDelivered);
    assert_eq!(life.host.prompts().len(), 2);
    life.create(message(&owner, 1_000)).expect("it is kept again");
    assert_eq!(life.handle.view(|state| state.ledger().imbalance()), 0);
}

#[test]
fn missed_slots_are_treated_as_the_policy_says() {
    #[track_caller]
    fn check(missed: Missed, down_ms: u64, delivered: u64, skipped: u64) {
        let lives = Lives::new();
        let life = lives.next(0);
        let owner = life.open("one");
        let policy = Policy { missed, ..Policy::PLAIN };
        let id = life.create(every(&lives.stage, &owner, 10_000, policy)).expect("it is kept");
        drop(life);
        lives.stage.clock.advance(Span::from_millis(down_ms));
        let mut life = lives.next(0);
        for _ in 0..delivered {
            life.handle.run_due();
            life.await_kind(DecisionKind::RunDelivered);
        }
        life.handle.run_due();
        let course = life
            .handle
            .view(|state| state.schedule(&id).map(|it| it.progress().clone()))
            .expect("it is there");
        assert_eq!((course.delivered, course.skipped), (delivered, skipped), "{missed:?} after {down_ms} ms");
    }
    for (missed, delivered, skipped) in [(Missed::RunOnce, 1, 2), (Missed::Skip, 0, 3), (Missed::All, 3, 0)] {
        check(missed, 5_000, 0, 0);
        check(missed, 35_000, delivered, skipped);
    }
}

#[test]
fn of_those_that_are_made_up_for_each_is_as_late_as_it_is() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    let policy = Policy { missed: Missed::All, max_late: Some(Span::from_millis(12_000)), ..Policy::PLAIN };
    let id = life.create(every(&lives.stage, &owner, 10_000, policy)).expect("it is kept");
    drop(life);
    // Slots after 10, 20 and 30 seconds: the latest is in time, the others are not.
    lives.stage.clock.advance(Span::from_millis(35_000));
    let mut life = lives.next(0);
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDelivered);
    let course =
        life.handle.view(|state| state.schedule(&id).map(|it| it.progress().clone())).expect("it is there");
    assert_eq!((course.delivered, course.skipped), (1, 2));
    assert_eq!(course.last_skip.map(|(_, reason)| reason), Some(Reason::TooLate));
}

#[test]
fn of_two_in_one_instant_the_first_made_comes_first_in_every_life() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let owner = life.open("one");
    let now = lives.stage.clock.now().wall;
    let slot = |seconds: u64| now.checked_add(Span::from_millis(1_000 * seconds)).expect("in range");
    let first = life.create(every(&lives.stage, &owner, 60_000, Policy::PLAIN)).expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(1));
    let other = NewSchedule::message(owner.clone(), When::At(slot(120)), "later made");
    let other = life.create(other).expect("it is kept");
    // The first is armed for the same instant after the other was.
    lives.stage.clock.advance(Span::from_millis(59_999));
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDelivered);
    lives.stage.clock.advance(Span::from_millis(60_000));
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDelivered);
    life.await_kind(DecisionKind::RunDelivered);
    let received: Vec<_> = life.host.prompts().into_iter().map(|it| it.run.schedule).collect();
    assert_eq!(received, [first.clone(), first, other]);
}

#[test]
fn the_laws_miss_what_somebody_was_told_is_kept() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    life.create(message(&owner, 1_000)).expect("it is kept");
    let told = |store: &StoreMemory| {
        let mut laws = Laws::new();
        for seen in lives.stage.history.after(0) {
            laws.observe(&seen).expect("nothing is wrong so far");
        }
        laws.tell_kept(life.handle.view(State::cursor));
        laws.begin_anew(lives.stage.clock.now(), store, &[])
    };
    assert_eq!(told(&lives.store), Ok(0));
    let caps = HistoryCaps { schedule_rows: 1_000, bytes: 1 << 30, days: 1_000 };
    let broken = told(&StoreMemory::new(caps)).expect_err("this one holds nothing");
    assert_eq!(broken.law, "what_is_kept_is_there");
}

#[test]
fn the_laws_see_what_is_handed_over_before_it_is_kept() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let owner = life.open("one");
    life.create(message(&owner, 1_000)).expect("it is kept");
    let kept = life.handle.view(State::cursor);
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDelivered);
    let observed = |kept| {
        let mut laws = Laws::new();
        laws.know_kept(kept);
        lives.stage.history.after(0).iter().try_for_each(|seen| laws.observe(seen))
    };
    assert_eq!(observed(life.handle.view(State::cursor)), Ok(()));
    let broken = observed(kept).expect_err("the claim and the hand-over came after that");
    assert_eq!(broken.law, "nothing_unkept_is_handed_over");
}

/// What lives in memory is with its host when the store fails and comes back: nobody is asked for it again, and its receipt
/// counts.
#[test]
fn a_store_that_comes_back_lets_alone_what_is_in_memory() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let owner = life.open("one");
    life.host.behave(&[(Behaviour::Slow, 1)]);
    life.handle.schedule(message(&owner, 1_000)).expect("there is room");
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.handle.run_due();
    lives.store.fail(StoreFault::Unwritable { detail: "no space".into() });
    let refused = life.create(message(&owner, 60_000));
    assert!(matches!(refused, Err(Refusal::StoreUnavailable { .. })), "{refused:?}");
    lives.store.heal();
    life.await_kind(DecisionKind::EngineRestarted);
    life.await_kind(DecisionKind::EngineRestarted);
    life.handle.run_due();
    assert_eq!(life.host.prompts().len(), 1, "at most once");
    let receipt = life.host.take_receipt(0).expect("it is owed");
    life.handle.submit(Input::Report(receipt)).expect("it is waited for");
    life.await_kind(DecisionKind::RunDelivered);
}

/// Whoever changes what sessions may do while nothing can be kept is not told that it is.
#[test]
fn what_is_not_kept_of_the_settings_is_refused_or_taken_back() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let owner = life.open("one");
    let by = Scope::Operator;
    let grant = || {
        Input::Command(Command::SetGrant {
            session: owner.clone(),
            grant: Grant { right: Some(Right::Read), ..Grant::FULL },
            by: by.clone().into(),
        })
    };
    let hold = || Input::Command(Command::HoldAll { by: by.clone().into(), reason: None });
    lives.store.fail(StoreFault::Unwritable { detail: "no space".into() });
    for input in [hold(), grant()] {
        let refused = life.handle.submit(input);
        assert!(matches!(refused, Err(Refusal::StoreUnavailable { .. })), "{refused:?}");
    }
    lives.store.heal();
    life.await_kind(DecisionKind::EngineRestarted);
    life.await_kind(DecisionKind::EngineRestarted);
    let is_as_before = |state: &State| state.held().is_none() && state.grants().is_empty();
    assert!(life.handle.view(is_as_before), "what was refused is not so");
    life.handle.submit(grant()).expect("it is kept");
    let life = lives.next(0);
    assert_eq!(life.handle.view(|state| state.grants().len()), 1);
}

#[test]
fn the_next_life_says_what_was_lost_and_goes_on_holding() {
    let lives = Lives::new();
    let life = lives.next(0);
    let hold = Command::HoldAll { by: Scope::Operator.into(), reason: Some("an incident".into()) };
    life.handle.submit(Input::Command(hold)).expect("anybody may");
    drop(life);
    let mut life = lives.next(3);
    let ledger = life.handle.view(State::ledger);
    assert_eq!((ledger.expected, ledger.lost, ledger.imbalance()), (3, 3, 0));
    let held = life.handle.view(|state| state.held().and_then(|hold| hold.reason.clone()));
    assert_eq!(held.as_deref(), Some("an incident"));
    let shown = life.feed.next_batch(1).expect("it goes on").decisions;
    assert_eq!(shown[0].detail.as_deref(), Some("volatile schedules lost: 3"));
}

#[test]
fn an_engine_without_a_store_refuses_what_it_cannot_keep() {
    let stage = Stage::seeded(7);
    let mut parts = stage.parts(Arc::new(SimHost::new(&stage, HostId::LOCAL)));
    parts.without_store = reveille::runtime::WithoutStore::Reject;
    let handle = Handle::new(parts);
    let (owner, _) =
        handle.open_session(None, HostId::LOCAL, SessionConfig::default()).expect("there is room");
    let new = NewSchedule { durability: Durability::Durable, ..message(&owner, 1_000) };
    assert_eq!(handle.schedule(new), Err(Refusal::NoStore));
}

#[test]
fn a_repeated_request_is_known_again_in_a_later_life() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    let keyed = |text: &str| {
        let settings = Some(Box::new(Settings { key: Some("build-7".into()), ..Settings::PLAIN }));
        let when = When::At(Moment::parse("2026-06-01T08:00:00Z").expect("an instant"));
        NewSchedule { settings, ..NewSchedule::message(owner.clone(), when, text) }
    };
    life.create(keyed("look")).expect("it is kept");
    drop(life);
    let life = lives.next(0);
    life.create(keyed("look")).expect("it is the same");
    assert_eq!(life.handle.view(State::live_count), 1);
    let other = life.create(keyed("something else"));
    assert!(matches!(other, Err(Refusal::KeyTaken { .. })), "{other:?}");
}

/// What the built-in host has of a session, in the order in which it was said.
fn transcript(life: &Life, session: &SessionId) -> Vec<String> {
    let transcript = life.handle.sessions().transcript(session).unwrap_or_default();
    transcript.messages.iter().map(|message| message.text()).collect()
}

#[test]
fn what_was_delivered_is_in_the_transcript_of_a_later_life() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let greeted = SessionConfig {
        preloaded_messages: Some(vec![Message::user("hello", Moment::EPOCH)]),
        ..SessionConfig::default()
    };
    let owner = SessionId::new("one").expect("a name");
    life.handle.open_session(Some(owner.clone()), HostId::LOCAL, greeted).expect("there is room");
    life.create(message(&owner, 1_000)).expect("it is kept");
    let volatile = NewSchedule::message(owner.clone(), When::After(Span::from_millis(1_500)), "not kept");
    life.handle.schedule(volatile).expect("there is room");
    life.create(message(&owner, 2_000)).expect("it is kept");
    let gone = life.open("two");
    life.create(message(&gone, 1_000)).expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(2_000));
    life.handle.run_due();
    for _ in 0..4 {
        life.await_kind(DecisionKind::RunDelivered);
    }
    let said = ["hello", "wake up", "not kept", "wake up"];
    assert_eq!(transcript(&life, &owner), said);
    let provenance = |life: &Life| {
        let transcript = life.handle.sessions().transcript(&owner).expect("it is open");
        transcript.messages.last().and_then(|message| message.provenance.clone()).expect("it was scheduled")
    };
    let told = provenance(&life);
    assert_eq!(transcript(&life, &gone), ["wake up"]);
    life.handle.close_session(&gone).expect("it is open");
    let mut life = lives.next(0);
    assert_eq!(transcript(&life, &owner), ["hello", "wake up", "wake up"], "in order, and what is kept only");
    assert_eq!(provenance(&life), told, "with what is known of it");
    assert!(life.handle.sessions().transcript(&gone).is_none());
    // A session of the same name is another one.
    life.open("two");
    assert_eq!(transcript(&life, &gone), Vec::<String>::new());
    life.create(message(&owner, 1_000)).expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDelivered);
    let life = lives.next(0);
    assert_eq!(transcript(&life, &owner), ["hello", "wake up", "wake up", "wake up"]);
    assert_eq!(transcript(&life, &gone), Vec::<String>::new());
}

/// Whoever asks again while the first request is on its way to the disk is promised no more than whoever asked first.
#[test]
fn a_repeat_is_answered_when_what_it_repeats_is_kept() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    let settings = Some(Box::new(Settings { key: Some("build-7".into()), ..Settings::PLAIN }));
    let keyed = || NewSchedule {
        settings: settings.clone(),
        durability: Durability::Durable,
        ..message(&owner, 60_000)
    };
    lives.store.hold();
    let outcomes = std::thread::scope(|scope| {
        let first = scope.spawn(|| life.handle.schedule(keyed()));
        while life.handle.view(State::live_count) == 0 {
            std::thread::yield_now();
        }
        let second = scope.spawn(|| life.handle.schedule(keyed()));
        lives.store.fail(StoreFault::Unwritable { detail: "no space".into() });
        lives.store.release();
        [first.join(), second.join()].map(|outcome| outcome.expect("nobody panics"))
    });
    for outcome in outcomes {
        assert!(matches!(outcome, Err(Refusal::StoreUnavailable { .. })), "{outcome:?}");
    }
    // Nor later, while memory still has it and the disk does not.
    let third = life.handle.schedule(keyed());
    assert!(matches!(third, Err(Refusal::StoreUnavailable { .. })), "{third:?}");
}

#[test]
fn a_burst_is_claimed_as_fast_as_it_is_kept() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let count = STORE_QUEUE_BATCHES.value / 2 + 100;
    for session in 0..=count / 1_000 {
        let owner = life.open(&format!("session-{session}"));
        for _ in 0..1_000.min(count - session * 1_000) {
            life.create(message(&owner, 60_000)).expect("it is kept");
        }
    }
    lives.stage.clock.advance(Span::from_millis(60_000));
    lives.store.hold();
    life.handle.run_due();
    let due = |handle: &Handle| handle.view(|state| state.gauges(lives.stage.clock.now()).due);
    assert_eq!(due(&life.handle), 100, "the rest waits for the disk");
    lives.store.release();
    life.await_kind(DecisionKind::RunDelivered);
    life.handle.run_due();
    assert_eq!(due(&life.handle), 0);
    assert_eq!(life.handle.view(|state| state.ledger().imbalance()), 0);
}

#[test]
fn what_is_more_than_a_store_reads_at_once_is_taken_up() {
    let lives = Lives::new();
    let life = lives.next(0);
    let count = STORE_CHUNK_RECORDS.value + 10;
    for session in 0..=count / 1_000 {
        let owner = life.open(&format!("session-{session}"));
        for _ in 0..1_000.min(count - session * 1_000) {
            life.create(message(&owner, 60_000)).expect("it is kept");
        }
    }
    drop(life);
    let life = lives.next(0);
    assert_eq!(life.handle.view(State::live_count), count);
}

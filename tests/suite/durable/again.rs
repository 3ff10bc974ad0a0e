//! What was with its host when that was lost keeps its place: it comes again before what had queued behind it, whichever step
//! comes first when its host is back.

use std::sync::{Arc, Mutex};

use reveille::domain::{
    DecisionKind, Durability, EndsWith, Failure, HostId, Message, Payload, Phase, Policy, Reason, Recovery,
    Refusal, ScheduleId, Scope, SessionConfig, SessionId, Settings, Span, Status, Transcript,
};
use reveille::engine::{
    Command, Delivery, Input, NewSchedule, Opening, Report, ScheduleRecord, State, Which,
};
use reveille::port::{Host, HostAnswer, StoreFault};
use reveille::runtime::Handle;
use reveille::testkit::{Behaviour, SimHost};

use super::lives::{ByHand, Life, Lives, every, message};

#[test]
fn a_host_that_is_back_gets_first_what_was_first() {
    #[track_caller]
    fn check(is_crash: bool) {
        let lives = Lives::new();
        let mut life = lives.next(0);
        let (silent, number) = connect(&lives, &life.handle, 1);
        silent.behave(&[(Behaviour::LoseReceipt, 1)]);
        let owner = open_on(&life.handle, number);
        let both = two_in_a_lane(&lives, &mut life, &owner);
        let mut life = if is_crash {
            drop(life);
            lives.next(0)
        } else {
            life.handle.hosts().detach(number);
            life
        };
        let (host, number) = connect(&lives, &life.handle, if is_crash { 1 } else { 2 });
        // No timer was looked at in between.
        take_over(&life.handle, number, &owner).expect("nobody has it");
        life.await_kind(DecisionKind::RunDelivered);
        turn(&life.handle, &owner);
        life.await_kind(DecisionKind::RunDelivered);
        assert_eq!(received(&host), both, "after a crash: {is_crash}");
    }
    check(false);
    check(true);
}

/// The commit of a hand-over may be told only when its host is lost and the run is out with the next one.
#[test]
fn a_hand_over_to_a_lost_host_is_not_held_against_the_next() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let (lost, number) = connect(&lives, &life.handle, 1);
    let owner = life.open(number);
    let policy = Policy { recovery: Recovery::Redeliver, ..Policy::PLAIN };
    let settings = Some(Box::new(Settings { policy, ..Settings::PLAIN }));
    let id = ScheduleId::new("once").expect("an id");
    let new = NewSchedule { id: Some(id.clone()), settings, ..message(&owner, 1_000) };
    let create = Command::CreateSchedule(NewSchedule { durability: Durability::Durable, ..new });
    life.ask(create).wait().expect("it is kept");
    life.turn();
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.handle.run_due();
    life.handle.hosts().detach(number);
    let (next, number) = connect(&lives, &life.handle, 2);
    take_over(&life.handle, number, &owner).expect("nobody has it");
    while life.answers.publish() {}
    assert_eq!((received(&lost), received(&next)), (vec![], vec![id.clone()]));
    assert_eq!(life.status(&id), Some(Status::Delivered));
}

/// Who hears of the loss may be the thread that performs the effects of all. If it waited for the disk, this would not end.
#[test]
fn a_lost_host_is_let_go_while_the_disk_does_not_answer() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let (silent, number) = connect(&lives, &life.handle, 1);
    silent.behave(&[(Behaviour::LoseReceipt, 1)]);
    let owner = open_on(&life.handle, number);
    let [first, _] = two_in_a_lane(&lives, &mut life, &owner);
    lives.store.hold();
    life.handle.hosts().detach(number);
    lives.store.release();
    let (host, number) = connect(&lives, &life.handle, 2);
    take_over(&life.handle, number, &owner).expect("nobody has it");
    life.await_kind(DecisionKind::RunDelivered);
    assert_eq!(received(&host)[..1], [first]);
}

/// A host whose connection breaks while it gets a delivery. Before it says so, another one has the session.
#[derive(Default)]
struct Broken(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Host for Broken {
    fn opened(&self, _: &SessionId, _: &SessionConfig) {}

    fn create(&self, _: &Opening) -> HostAnswer {
        HostAnswer::Done
    }

    fn deliver(&self, _: &Delivery) -> HostAnswer {
        let breaks = self.0.lock().expect("whole").take();
        breaks.expect("it breaks once")();
        HostAnswer::Failed(Failure::new(Phase::PromptSubmit, Reason::HostLost, "it takes no more"))
    }

    fn record(&self, _: &SessionId, _: &Message) {}

    fn forget(&self, _: &SessionId) {}

    fn transcript(&self, _: &SessionId) -> Option<Transcript> {
        None
    }
}

#[test]
fn what_a_lost_host_says_is_not_held_against_the_next() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let broken = Arc::new(Broken::default());
    let number = life.handle.hosts().attach(broken.clone());
    let owner = open_on(&life.handle, number);
    let (handle, stage, session) = (life.handle.clone(), lives.stage.clone(), owner.clone());
    *broken.0.lock().expect("whole") = Some(Box::new(move || {
        handle.hosts().detach(number);
        let host = handle.hosts().attach(Arc::new(SimHost::new(&stage, HostId::new(2))));
        let (sessions, busy) = (vec![session], Some(false));
        let taken = Command::HostSessions { host, sessions, busy, by: None };
        handle.submit_unawaited(Input::Command(taken)).expect("nobody has it");
        handle.run_due();
    }));
    let policy = Policy { recovery: Recovery::Redeliver, ..Policy::PLAIN };
    let settings = Some(Box::new(Settings { policy, ..Settings::PLAIN }));
    let id = life.create(NewSchedule { settings, ..message(&owner, 1_000) }).expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDelivered);
    let attempts = |state: &State| {
        let runs = state.schedule(&id).into_iter().flat_map(|record| state.runs_of(record));
        runs.map(|(_, run)| run.run().attempt).collect::<Vec<_>>()
    };
    assert_eq!(life.handle.view(attempts), [2]);
}

#[test]
fn the_built_in_host_gets_first_what_was_first() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    life.host.behave(&[(Behaviour::LoseReceipt, 1)]);
    let owner = life.open("one");
    let both = two_in_a_lane(&lives, &mut life, &owner);
    drop(life);
    let mut life = lives.next(0);
    life.await_kind(DecisionKind::RunDelivered);
    life.await_kind(DecisionKind::RunDelivered);
    assert_eq!(received(&life.host), both);
}

#[test]
fn a_lane_that_goes_on_with_what_it_had_takes_nothing_else() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    life.host.behave(&[(Behaviour::LoseReceipt, 1)]);
    let owner = life.open("one");
    two_in_a_lane(&lives, &mut life, &owner);
    drop(life);
    let mut life = lives.next(0);
    let mut seen = Vec::new();
    while seen.iter().filter(|kind| **kind == DecisionKind::RunDelivered).count() < 2 {
        let batch = life.feed.next_batch(64).expect("the feed goes on");
        let kinds = batch.decisions.iter().map(|decision| decision.kind);
        seen.extend(
            kinds.filter(|kind| [DecisionKind::RunDispatched, DecisionKind::RunDelivered].contains(kind)),
        );
    }
    let (out, back) = (DecisionKind::RunDispatched, DecisionKind::RunDelivered);
    assert_eq!(seen, [out, back, out, back]);
}

/// A first, which its host never acknowledges, and a second, which is due a moment later and waits behind it.
fn two_in_a_lane(lives: &Lives, life: &mut Life, owner: &SessionId) -> [ScheduleId; 2] {
    let policy = Policy { recovery: Recovery::Redeliver, ..Policy::PLAIN };
    let settings = Some(Box::new(Settings { policy, ..Settings::PLAIN }));
    let both = [1_000, 1_001].map(|delay| {
        let new = NewSchedule { settings: settings.clone(), ..message(owner, delay) };
        life.create(new).expect("it is kept")
    });
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDispatched);
    lives.stage.clock.advance(Span::from_millis(1));
    life.handle.run_due();
    life.await_kind(DecisionKind::RunQueued);
    both
}

fn open_on(handle: &Handle, host: HostId) -> SessionId {
    let owner = SessionId::new("one").expect("a name");
    handle.open_session(Some(owner.clone()), host, SessionConfig::default()).expect("there is room");
    owner
}

fn connect(lives: &Lives, handle: &Handle, number: u32) -> (Arc<SimHost>, HostId) {
    let host = Arc::new(SimHost::new(&lives.stage, HostId::new(number)));
    let given = handle.hosts().attach(host.clone());
    assert_eq!(given, host.number());
    (host, given)
}

fn take_over(handle: &Handle, host: HostId, session: &SessionId) -> Result<(), Refusal> {
    handle.submit(Input::Command(Command::HostSessions {
        host,
        sessions: vec![session.clone()],
        busy: Some(false),
        by: None,
    }))
}

/// The turn that a delivery begins, which ends.
fn turn(handle: &Handle, session: &SessionId) {
    for busy in [true, false] {
        let report = Report::Busy { session: session.clone(), busy, by: None };
        handle.submit(Input::Report(report)).expect("the session is open");
    }
}

/// What reached a host, in order; what came again at once is there once.
fn received(host: &SimHost) -> Vec<ScheduleId> {
    let mut received: Vec<ScheduleId> = host.prompts().into_iter().map(|it| it.run.schedule).collect();
    received.dedup();
    received
}

/// How a turn ended that went on when its host was lost is unknown, unless the host comes back in it. The end of another turn is
/// not its end.
#[test]
fn a_turn_whose_host_was_lost_does_not_end_with_the_next_one() {
    for is_in_turn in [false, true] {
        let lives = Lives::new();
        let mut life = ByHand::new(&lives);
        let (_first, number) = connect(&lives, &life.handle, 1);
        let owner = open_on(&life.handle, number);
        let policy = Policy {
            timeout: Some(Span::from_millis(600_000)),
            recovery: Recovery::Fail,
            ends_with: EndsWith::Turn,
            ..Policy::PLAIN
        };
        let settings = Some(Box::new(Settings { policy, ..Settings::PLAIN }));
        let job =
            life.handle.schedule(NewSchedule { settings, ..message(&owner, 1_000) }).expect("it is kept");
        life.handle.schedule(message(&owner, 5_000)).expect("it is kept");
        let pass = |life: &mut ByHand| {
            lives.stage.clock.advance(Span::from_millis(1_000));
            life.turn();
        };
        let busy = |life: &ByHand, busy| {
            let report = Report::Busy { session: owner.clone(), busy, by: None };
            life.handle.submit(Input::Report(report)).expect("the session is open");
        };
        pass(&mut life);
        busy(&life, true);
        life.turn();
        assert_eq!(life.status(&job), Some(Status::InFlight));
        life.handle.hosts().detach(number);
        let (_second, number) = connect(&lives, &life.handle, 2);
        let sessions = vec![owner.clone()];
        let command = Command::HostSessions { host: number, sessions, busy: Some(is_in_turn), by: None };
        life.handle.submit(Input::Command(command)).expect("nobody has it");
        life.turn();
        let present = if is_in_turn { Status::InFlight } else { Status::Failed };
        assert_eq!(life.status(&job), Some(present));
        if is_in_turn {
            busy(&life, false);
        }
        for _ in 0..5 {
            pass(&mut life);
        }
        busy(&life, true);
        busy(&life, false);
        life.turn();
        let end = if is_in_turn { Status::Delivered } else { Status::Failed };
        assert_eq!(life.status(&job), Some(end), "in its turn: {is_in_turn}");
    }
}

#[test]
fn a_receipt_that_could_not_be_kept_is_kept_when_that_works_again() {
    #[track_caller]
    fn check(recovery: Recovery, answered: impl Fn(&Life, Report, &Lives)) {
        let lives = Lives::new();
        let mut life = lives.next(0);
        life.host.behave(&[(Behaviour::Slow, 1)]);
        let owner = life.open("one");
        let policy = Policy { recovery, ..Policy::PLAIN };
        let new = NewSchedule {
            settings: Some(Box::new(Settings { policy, ..Settings::PLAIN })),
            ..message(&owner, 1_000)
        };
        let id = life.create(new).expect("it is kept");
        lives.stage.clock.advance(Span::from_millis(1_000));
        life.handle.run_due();
        life.await_kind(DecisionKind::RunDispatched);
        let receipt = std::iter::from_fn(|| Some(life.host.take_receipt(0))).flatten().next();
        answered(&life, receipt.expect("it takes its time"), &lives);
        lives.store.heal();
        life.await_kind(DecisionKind::EngineRestarted);
        life.handle.run_due();
        let status = life.handle.view(|state| state.schedule(&id).map(ScheduleRecord::status));
        assert_eq!(status, Some(Status::Delivered), "{recovery:?}");
        assert_eq!(received(&life.host), std::slice::from_ref(&id), "{recovery:?}");
        assert_eq!(said(&life, &owner), 1, "{recovery:?}");
        drop(life);
        let life = lives.next(0);
        let status = life.handle.view(|state| state.schedule(&id).map(ScheduleRecord::status));
        assert_eq!(status, Some(Status::Delivered), "{recovery:?}: in the next life");
        assert_eq!(said(&life, &owner), 1, "{recovery:?}: in the next life");
    }
    for recovery in [Recovery::Redeliver, Recovery::Fail] {
        // It comes while nothing can be kept, or is on its way to the disk when that fails.
        check(recovery, |life, receipt, lives| {
            lives.store.fail(StoreFault::Unwritable { detail: "no space".into() });
            let refused = life.create(message(&SessionId::new("one").expect("a name"), 60_000));
            assert!(matches!(refused, Err(Refusal::StoreUnavailable { .. })), "{refused:?}");
            life.handle.submit_unawaited(Input::Report(receipt)).expect("it is in flight");
        });
        check(recovery, |life, receipt, lives| {
            lives.store.fail(StoreFault::Unwritable { detail: "no space".into() });
            life.handle.submit_unawaited(Input::Report(receipt)).expect("it is in flight");
        });
    }
}

/// Its host said that the session is there while that could not be kept; said again, it lets the prompt go, which is no hand-over
/// that a process has left behind.
#[test]
fn a_session_that_was_created_while_nothing_could_be_kept_gets_its_prompt() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    life.host.behave(&[(Behaviour::Slow, 1)]);
    let owner = life.open(HostId::LOCAL);
    let payload = Payload::new_session("look", Arc::default());
    let id = ScheduleId::new("fresh").expect("an id");
    let new = NewSchedule { id: Some(id.clone()), payload, ..message(&owner, 1_000) };
    life.ask(Command::CreateSchedule(NewSchedule { durability: Durability::Durable, ..new }))
        .wait()
        .expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.turn();
    let created = life.host.take_receipt(0).expect("it was asked to create the session");
    lives.store.fail(StoreFault::Unwritable { detail: "no space".into() });
    life.handle.submit_unawaited(Input::Report(created)).expect("it is in flight");
    life.answers.publish();
    lives.store.heal();
    life.answers.retry().expect("the store is well");
    life.turn();
    assert_eq!((life.status(&id), life.received()), (Some(Status::InFlight), vec![id.clone()]));
    let accepted = life.host.take_receipt(0).expect("it was given the prompt");
    life.handle.submit(Input::Report(accepted)).expect("it is in flight");
    assert_eq!(life.status(&id), Some(Status::Delivered));
}

/// A cancel takes nothing back that is out; it is not made again either when nobody knows what became of it.
#[test]
fn what_was_cancelled_while_it_was_out_is_not_handed_over_again() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    life.host.behave(&[(Behaviour::Slow, 1)]);
    let owner = life.open(HostId::LOCAL);
    let policy = Policy { recovery: Recovery::Redeliver, ..Policy::PLAIN };
    let new = every(&lives.stage, &owner, 60_000, policy);
    let id = ScheduleId::new("often").expect("an id");
    let new = NewSchedule { id: Some(id.clone()), durability: Durability::Durable, ..new };
    life.ask(Command::CreateSchedule(new)).wait().expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(60_000));
    life.turn();
    assert_eq!(life.received(), std::slice::from_ref(&id));
    let cancel = Command::CancelSchedule(Which::any(Scope::Operator, id.clone()));
    life.ask(cancel).wait().expect("it recurs: what is out goes on, and nothing comes after it");
    drop(life);
    let mut life = ByHand::new(&lives);
    life.turn();
    assert_eq!(life.received(), std::slice::from_ref(&id), "once, in both lives together");
    assert_eq!((life.status(&id), life.handle.view(State::live_count)), (Some(Status::Cancelled), 0));
}

/// A host's word that is taken as said again frees a lane; what goes into it next is no hand-over that a process has left behind.
#[test]
fn what_comes_after_a_word_that_is_said_again_is_handed_over_as_if_for_the_first_time() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    life.host.behave(&[(Behaviour::Slow, 1)]);
    let owner = life.open(HostId::LOCAL);
    let both = [("first", 1_000), ("second", 1_001)].map(|(name, delay)| {
        let id = ScheduleId::new(name).expect("an id");
        let new = NewSchedule { id: Some(id.clone()), ..message(&owner, delay) };
        let create = Command::CreateSchedule(NewSchedule { durability: Durability::Durable, ..new });
        life.ask(create).wait().expect("it is kept");
        id
    });
    lives.stage.clock.advance(Span::from_millis(1_001));
    life.turn();
    assert_eq!(life.received(), both[..1], "the second waits for its lane");
    let accepted = life.host.take_receipt(0).expect("it was given the prompt");
    lives.store.fail(StoreFault::Unwritable { detail: "no space".into() });
    life.handle.submit_unawaited(Input::Report(accepted)).expect("it is in flight");
    life.answers.publish();
    lives.store.heal();
    life.answers.retry().expect("the store is well");
    life.turn();
    assert_eq!((life.status(&both[0]), life.received()), (Some(Status::Delivered), both.to_vec()));
    assert_eq!(life.shown(&both[1]).last(), Some(&DecisionKind::RunDispatched));
    let attempt = |state: &State| Some(state.newest_run(state.schedule(&both[1])?)?.run().attempt);
    assert_eq!(life.handle.view(attempt), Some(1), "nothing of it was lost");
}

/// How many messages stand in a transcript.
fn said(life: &Life, session: &SessionId) -> usize {
    life.handle.sessions().transcript(session).map_or(0, |transcript| transcript.messages.len())
}

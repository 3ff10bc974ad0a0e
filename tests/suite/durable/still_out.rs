//! A store that fails for a moment in a process that goes on: what is with a host or an executor is there still, and nobody gets
//! it a second time.

use std::sync::Arc;

use reveille::domain::{
    Call, CallPurpose, EndsWith, Event, HostId, JobId, Payload, Policy, Recovery, ScheduleId, SessionId,
    Settings, Sink, Span, Status, ToolName, Trigger, When,
};
use reveille::edn::Map;
use reveille::engine::{Command, Input, NewSchedule, Report, State};
use reveille::testkit::{Behaviour, CallAnswer, DiskFault, SimExecutor, SimHost};

use super::lives::{ByHand, Lives, durable, message};

/// A process with a session at a connected host.
fn connected(lives: &Lives) -> (ByHand, SessionId) {
    let mut life = ByHand::new(lives);
    let host = Arc::new(SimHost::new(&lives.stage, HostId::new(1)));
    let number = life.handle.hosts().attach(host.clone());
    life.host = host;
    let owner = life.open(number);
    (life, owner)
}

/// Takes a session over.
fn take_over(life: &ByHand, lives: &Lives, session: &SessionId) -> Arc<SimHost> {
    let host = Arc::new(SimHost::new(&lives.stage, HostId::new(1)));
    let number = life.handle.hosts().attach(host.clone());
    let sessions = vec![session.clone()];
    let command = Command::HostSessions { host: number, sessions, busy: None, by: None };
    // A connection has come, whatever becomes of the write.
    let taken = life.handle.submit_unawaited(Input::Command(command));
    assert!(taken.is_ok(), "{:?}", taken.err());
    host
}

/// Creates a durable schedule that is handed over again after a crash.
fn create(life: &ByHand, name: &str, ends_with: EndsWith, new: NewSchedule) -> ScheduleId {
    let id = ScheduleId::new(name).expect("an id");
    let policy = Policy { recovery: Recovery::Redeliver, ends_with, ..Policy::PLAIN };
    let settings = Some(Box::new(Settings { policy, ..Settings::PLAIN }));
    let new = durable(NewSchedule { id: Some(id.clone()), settings, ..new });
    life.ask(Command::CreateSchedule(new)).wait().expect("it is kept");
    id
}

/// The disk is full for a moment, in which this happens.
fn hiccup(lives: &Lives, life: &mut ByHand, owner: &SessionId, meanwhile: impl FnOnce(&ByHand)) {
    lives.store.fail_as(DiskFault::Full);
    let refused = Command::CreateSchedule(durable(message(owner, 3_600_000)));
    assert!(life.ask(refused).wait().is_err());
    life.answers.publish();
    meanwhile(life);
    lives.store.heal();
    life.answers.retry().expect("the store is well");
    life.turn();
}

fn report(life: &ByHand, owner: &SessionId, busy: bool) {
    let report = Report::Busy { session: owner.clone(), busy, by: None };
    life.handle.submit(Input::Report(report)).expect("the session is open");
}

#[test]
fn a_prompt_without_a_receipt_is_not_submitted_again_and_keeps_its_lane() {
    let lives = Lives::new();
    let (mut life, owner) = connected(&lives);
    life.host.behave(&[(Behaviour::Slow, 1)]);
    let both = [("first", 1_000), ("second", 1_001)]
        .map(|(name, delay)| create(&life, name, EndsWith::Receipt, message(&owner, delay)));
    lives.stage.clock.advance(Span::from_millis(2_000));
    life.turn();
    hiccup(&lives, &mut life, &owner, |_| ());
    assert_eq!(life.received(), both[..1], "the first once, and the second waits for its receipt");
    assert_eq!(life.status(&both[0]), Some(Status::InFlight));
    let receipt = life.host.take_receipt(0).expect("it is owed");
    life.handle.submit(Input::Report(receipt)).expect("it is waited for");
    assert_eq!(life.status(&both[0]), Some(Status::Delivered));
    report(&life, &owner, true);
    report(&life, &owner, false);
    life.turn();
    assert_eq!(life.received(), both);
    assert_eq!(life.handle.view(State::ledger).imbalance(), 0);
}

/// The end of a turn is no report that could be repeated when the store works again.
#[test]
fn a_turn_goes_on_or_has_ended_and_is_not_begun_again() {
    for is_over in [true, false] {
        let lives = Lives::new();
        let (mut life, owner) = connected(&lives);
        let job = create(&life, "job", EndsWith::Turn, message(&owner, 1_000));
        lives.stage.clock.advance(Span::from_millis(1_000));
        life.turn();
        report(&life, &owner, true);
        life.turn();
        hiccup(&lives, &mut life, &owner, |life| {
            if is_over {
                report(life, &owner, false);
            }
        });
        let status = if is_over { Status::Delivered } else { Status::InFlight };
        assert_eq!(life.status(&job), Some(status), "its turn is over: {is_over}");
        if !is_over {
            report(&life, &owner, false);
        }
        life.turn();
        assert_eq!(life.status(&job), Some(Status::Delivered), "its turn is over: {is_over}");
        assert_eq!(life.received(), std::slice::from_ref(&job), "its turn is over: {is_over}");
        drop(life);
        assert_eq!(ByHand::new(&lives).status(&job), Some(Status::Delivered), "in the next life");
    }
}

#[test]
fn a_call_stays_with_its_executor() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let executor = Arc::new(SimExecutor::scripted(&lives.stage).with("ci.build"));
    executor.serve(&life.handle);
    executor.script(CallAnswer::Never);
    let owner = life.open(HostId::LOCAL);
    let call = Call {
        purpose: CallPurpose::Job,
        sink: Sink::Session,
        ..Call::new(ToolName::new("ci.build").expect("a name"), Map::new())
    };
    let new = NewSchedule { payload: Payload::Call(Box::new(call)), ..message(&owner, 1_000) };
    let job = create(&life, "job", EndsWith::Receipt, new);
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.turn();
    hiccup(&lives, &mut life, &owner, |_| ());
    assert_eq!((life.status(&job), executor.calls().len()), (Some(Status::InFlight), 1));
}

/// A harness attaches while the write fails, or after that is known: it gets what was left when the store works again.
#[test]
fn a_message_that_was_left_is_for_the_host_that_attached_meanwhile() {
    for is_known in [false, true] {
        let lives = Lives::new();
        let mut life = ByHand::new(&lives);
        let owner = life.open(HostId::INBOX);
        let id = create(&life, "once", EndsWith::Receipt, message(&owner, 1_000));
        lives.stage.clock.advance(Span::from_millis(1_000));
        life.turn();
        assert_eq!(life.status(&id), Some(Status::Left));
        if is_known {
            let mut host = None;
            hiccup(&lives, &mut life, &owner, |life| host = Some(take_over(life, &lives, &owner)));
            life.host = host.expect("it is attached");
        } else {
            lives.store.fail_as(DiskFault::Full);
            life.host = take_over(&life, &lives, &owner);
            life.answers.publish();
            lives.store.heal();
            life.answers.retry().expect("the store is well");
            life.turn();
        }
        assert_eq!(life.received(), std::slice::from_ref(&id), "the failure was known: {is_known}");
        assert_eq!(life.status(&id), Some(Status::Delivered), "the failure was known: {is_known}");
        assert_eq!(life.handle.view(State::ledger).imbalance(), 0);
    }
}

#[test]
fn a_job_that_is_ready_while_the_store_fails_wakes_when_it_works_again() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let owner = life.open(HostId::LOCAL);
    let job = JobId::new("build").expect("an id");
    let trigger = Trigger::Event(Box::new(Event { job: job.clone(), latest: None }));
    let new = NewSchedule { when: When::By(trigger), ..message(&owner, 0) };
    let id = create(&life, "once", EndsWith::Receipt, new);
    hiccup(&lives, &mut life, &owner, |life| {
        let ready = Command::JobReady { session: owner.clone(), job: job.clone(), by: None };
        life.handle.submit(Input::Command(ready)).expect("a report needs no disk");
        assert_eq!(life.status(&id), Some(Status::Pending));
    });
    assert_eq!((life.status(&id), life.received()), (Some(Status::Delivered), vec![id.clone()]));
    hiccup(&lives, &mut life, &owner, |_| ());
    assert_eq!(life.received(), [id], "once");
}

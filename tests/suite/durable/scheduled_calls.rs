//! Scheduled calls over a store: a process that dies before the call, in it, or after it and before its session is told (T56).

use std::sync::Arc;

use reveille::domain::{
    Call, CallPurpose, HostId, Outcome, Payload, Policy, Recovery, ScheduleId, SessionId, Settings, Sink,
    Span, Status, ToolName, When,
};
use reveille::edn::Map;
use reveille::engine::NewSchedule;
use reveille::testkit::{CallAnswer, SimExecutor};

use super::lives::{ByHand, Lives, durable};
use super::watches::run_for;

/// A job of ten seconds from now, in which a call is made once.
fn job(owner: &SessionId, recovery: Recovery) -> NewSchedule {
    let call = Call {
        purpose: CallPurpose::Job,
        sink: Sink::Session,
        ..Call::new(ToolName::new("ci.build").expect("a name"), Map::new())
    };
    let timeout = Some(Span::from_millis(60_000));
    durable(NewSchedule {
        id: Some(ScheduleId::new("job").expect("an id")),
        payload: Payload::Call(Box::new(call)),
        settings: Some(Box::new(Settings {
            policy: Policy { recovery, timeout, ..Policy::PLAIN },
            ..Settings::PLAIN
        })),
        ..NewSchedule::message(owner.clone(), When::After(Span::from_millis(10_000)), "")
    })
}

/// The next life, whose executor answers so.
fn live(lives: &Lives, answer: CallAnswer) -> (ByHand, Arc<SimExecutor>) {
    let executor = Arc::new(SimExecutor::scripted(&lives.stage).with("ci.build"));
    let life = ByHand::new(lives);
    executor.serve(&life.handle);
    executor.script(answer);
    (life, executor)
}

fn fine() -> CallAnswer {
    CallAnswer::AtOnce(Outcome::of_value(Map::new().with("exit", 0).into(), 10, Span::from_millis(20)))
}

/// The texts that were delivered in all lives.
fn told(lives: &Lives) -> Vec<String> {
    let told = lives.stage.history.receptions().into_iter().map(|(_, it)| it.text.to_string());
    told.filter(|text| text.starts_with("[SCHEDULED JOB]")).collect()
}

/// T56.
#[test]
fn a_process_that_dies_before_the_call_leaves_it_to_the_next() {
    let lives = Lives::new();
    let (mut life, first) = live(&lives, fine());
    let owner = life.open(HostId::LOCAL);
    let id = life.handle.schedule(job(&owner, Recovery::Redeliver)).expect("it is kept");
    run_for(&lives, &mut life, 5_000);
    drop(life);
    let (mut life, second) = live(&lives, fine());
    run_for(&lives, &mut life, 600_000);
    assert_eq!((first.calls().len(), second.calls().len()), (0, 1));
    assert_eq!((life.status(&id), told(&lives).len()), (Some(Status::Delivered), 1));
}

/// T56.
#[test]
fn a_call_that_was_out_is_made_again_only_if_that_does_no_harm() {
    for (recovery, again, status) in
        [(Recovery::Redeliver, 1, Status::Delivered), (Recovery::Fail, 0, Status::Failed)]
    {
        let lives = Lives::new();
        let (mut life, first) = live(&lives, CallAnswer::Never);
        let owner = life.open(HostId::LOCAL);
        let id = life.handle.schedule(job(&owner, recovery)).expect("it is kept");
        run_for(&lives, &mut life, 15_000);
        assert_eq!(first.calls().len(), 1);
        drop(life);
        let (mut life, second) = live(&lives, fine());
        run_for(&lives, &mut life, 600_000);
        let ids = |calls: &SimExecutor| calls.calls().iter().map(|it| it.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&second), ids(&first)[..again], "under the id that the executor may know");
        assert_eq!(life.status(&id), Some(status));
        let told = told(&lives);
        assert_eq!(told.len(), 1, "its session is told how it went: {told:?}");
        assert_eq!(told[0].contains("the process ended"), recovery == Recovery::Fail, "{told:?}");
    }
}

/// T56.
#[test]
fn a_call_that_has_ended_is_not_made_again_and_its_session_is_told() {
    let lives = Lives::new();
    let (mut life, first) = live(&lives, fine());
    let owner = life.open(HostId::LOCAL);
    life.handle.schedule(job(&owner, Recovery::Redeliver)).expect("it is kept");
    let busy = |life: &ByHand, busy| {
        let report = reveille::engine::Report::Busy { session: owner.clone(), busy, by: None };
        life.handle.submit(reveille::engine::Input::Report(report)).expect("it is open");
    };
    busy(&life, true);
    run_for(&lives, &mut life, 15_000);
    assert_eq!((first.calls().len(), told(&lives).len()), (1, 0));
    drop(life);
    let (mut life, second) = live(&lives, fine());
    run_for(&lives, &mut life, 600_000);
    assert_eq!((second.calls().len(), told(&lives).len()), (0, 1));
}

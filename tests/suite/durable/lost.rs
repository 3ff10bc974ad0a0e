//! What was in memory only when a process ended is named by the next one: to its session and to operators.

use std::sync::Arc;

use reveille::dialect::{Notation, REQUEST_CAPS, json};
use reveille::domain::{
    Call, Caller, Downtime, HostId, LostSchedule, Outcome, Payload, ScheduleId, Scope, SessionConfig,
    SessionId, Sink, Span, Status, ToolName,
};
use reveille::edn::{Map, Value};
use reveille::engine::{Command, Input, NewSchedule, Report, State, Which};
use reveille::port::Clock;
use reveille::runtime::{AttachOptions, Handle};
use reveille::service::{CallStyle, Called, Service};
use reveille::testkit::{CallAnswer, SimExecutor, SimHost};

use super::lives::{ByHand, Lives, every, message};
use crate::simulated::{ask, token};

/// A life after one of which this is known.
fn after(lives: &Lives, lost: u64, named: Box<[LostSchedule]>) -> Handle {
    let host = Arc::new(SimHost::new(&lives.stage, HostId::LOCAL));
    let handle = Handle::new(lives.stage.parts(host));
    let options = AttachOptions { lost, named, ..AttachOptions::default() };
    handle.attach_store(lives.store.clone(), options).expect("the store is sound");
    handle
}

fn cancel_in(handle: &Handle, caller: &Caller, id: &dyn std::fmt::Display) -> String {
    ask(handle, caller, &format!("[(psi.scheduler/cancel {{:schedule-id \"{id}\"}})]"), true)
}

#[test]
fn what_was_lost_is_named_to_its_session_and_to_operators() {
    let lives = Lives::new();
    let life = lives.next(0);
    let (one, two) = (life.open("one"), life.open("two"));
    let labelled = |owner: &SessionId, label: &str, delay_ms: u64| {
        let new = NewSchedule { label: Some(label.into()), ..message(owner, delay_ms) };
        life.handle.schedule(new).expect("there is room")
    };
    let late = labelled(&one, "late", 90_000);
    let soon = labelled(&one, "soon", 60_000);
    let other = labelled(&two, "other", 70_000);
    life.create(message(&one, 80_000)).expect("it is kept");
    let kept =
        life.create(every(&lives.stage, &one, 60_000, reveille::domain::Policy::PLAIN)).expect("it is kept");
    // What was handed over has arrived.
    life.handle.schedule(message(&one, 0)).expect("there is room");
    life.handle.run_due();
    let named = life.handle.view(State::losable);
    let ids: Vec<_> = named.iter().map(|it| it.id.clone()).collect();
    assert_eq!(
        ids,
        [soon.clone(), other.clone(), late.clone()],
        "the earliest first, and nothing that is on disk"
    );
    drop(life);
    lives.stage.clock.advance(Span::from_millis(5_000));
    let now = lives.stage.clock.now().wall;
    let handle = after(&lives, 3, named);

    let list = "[{:reveille.engine/lost-schedules [:label :session-id :schedule-id]}]";
    let told = ask(&handle, &Caller::OPERATOR, list, false);
    assert!(["\"soon\"", "\"other\"", "\"late\""].iter().all(|label| told.contains(label)), "{told}");
    let told = ask(&handle, &token("one"), list, false);
    assert!(told.contains("\"soon\"") && !told.contains("\"other\""), "{told}");

    let cancel = |caller: &Caller, id: &dyn std::fmt::Display| cancel_in(&handle, caller, id);
    let lost = format!("was volatile, and was lost at the restart of {}Z", &now.to_string()[..19]);
    assert!(cancel(&token("one"), &soon).contains(&lost), "{}", cancel(&token("one"), &soon));
    assert!(cancel(&Caller::OPERATOR, &other).contains(&lost));
    let foreign = cancel(&token("one"), &other);
    assert!(!foreign.contains("lost") && foreign.contains("schedule not found"), "{foreign}");
    let misspelt = cancel(&token("one"), &"sch-none");
    assert!(misspelt.contains("schedule not found") && !misspelt.contains("lost"), "{misspelt}");

    let explain = |caller: &Caller, id: &dyn std::fmt::Display| {
        let asked = format!(
            "[{{(:reveille/explain {{:schedule-id \"{id}\"}}) [:reveille.explanation/verdict :reveille.explanation/sentence]}}]"
        );
        ask(&handle, caller, &asked, false)
    };
    let told = explain(&token("one"), &soon);
    assert!(told.contains(":lost") && told.contains("(soon)"), "{told}");
    assert!(explain(&token("one"), &other).contains(":unknown-schedule"));
    assert!(explain(&Caller::OPERATOR, &other).contains(":lost"));
    assert!(!explain(&Caller::OPERATOR, &kept).contains(":lost"));
    assert_eq!(handle.view(|state| state.ledger().lost), 3);

    // The next start loses nothing, and still knows what was lost, and when.
    let earlier = handle.view(|state| state.losses().into());
    drop(handle);
    lives.stage.clock.advance(Span::from_millis(5_000));
    let handle = after(&lives, 0, earlier);
    assert!(cancel_in(&handle, &Caller::OPERATOR, &soon).contains(&lost));
    assert_eq!(handle.view(|state| state.ledger().lost), 0);
    drop(handle);
    let handle = after(&lives, 0, Box::default());
    assert_eq!(ask(&handle, &Caller::OPERATOR, list, false), "{:reveille.engine/lost-schedules []}");
}

#[test]
fn what_arrives_while_the_engine_stops_is_not_named() {
    let lives = Lives::new();
    let life = lives.next(0);
    let one = life.open("one");
    life.handle.schedule(message(&one, 10)).expect("there is room");
    let waits = life.handle.schedule(message(&one, 60_000)).expect("there is room");
    let before = life.handle.view(State::losable);
    assert_eq!(before.len(), 2);
    lives.stage.clock.advance(Span::from_millis(10));
    life.handle.run_due();
    life.handle.shut_down();
    let named = life.handle.view(|state| state.cut_off(before));
    assert_eq!(named.iter().map(|it| &it.id).collect::<Vec<_>>(), [&waits]);
}

#[test]
fn that_a_lost_message_lay_in_an_inbox_is_told() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = SessionId::new("nobody").expect("a name");
    let opened = life.handle.open_session(Some(owner.clone()), HostId::INBOX, SessionConfig::default());
    opened.expect("there is room");
    let id = life.handle.schedule(message(&owner, 1_000)).expect("there is room");
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.handle.run_due();
    let at = lives.stage.clock.now().wall;
    let named = life.handle.view(State::losable);
    drop(life);
    // The last sign of life is older than the message.
    let from = at.checked_sub(Span::from_millis(500)).expect("in range");
    lives.stage.clock.advance(Span::from_millis(3_000));
    let downs = [Downtime { from, until: lives.stage.clock.now().wall }].into();
    let host = Arc::new(SimHost::new(&lives.stage, HostId::LOCAL));
    let handle = Handle::new(lives.stage.parts(host));
    let options = AttachOptions { lost: 1, named, downs, ..AttachOptions::default() };
    handle.attach_store(lives.store.clone(), options).expect("the store is sound");
    let asked =
        format!("[{{(:reveille/explain {{:schedule-id \"{id}\"}}) [:reveille.explanation/sentence]}}]");
    let told = ask(&handle, &Caller::OPERATOR, &asked, false);
    assert!(told.contains(&format!("(left in the inbox at {}Z)", &at.to_string()[..19])), "{told}");
    assert!(!told.contains("The process was down"), "it came before that: {told}");
}

/// T26: a question about a task that a start found lost is answered so, to the session that began it alone.
#[test]
fn a_task_that_was_lost_is_said_to_be_lost() {
    let lives = Lives::new();
    let life = lives.next(0);
    let (one, _) = (life.open("one"), life.open("two"));
    // Of what was lost, the id and the session are known, whatever made it.
    let id = life.handle.schedule(message(&one, 60_000)).expect("there is room");
    let named = life.handle.view(State::losable);
    drop(life);
    let handle = after(&lives, 1, named);
    for rest in ["", ",\"wait\":true", ",\"cancel\":true"] {
        let (own, foreign) = (ask_of_task(&handle, "one", &id, rest), ask_of_task(&handle, "two", &id, rest));
        assert!(own.contains(":task_lost") && own.contains("was lost at the restart of"), "{own}");
        assert!(foreign.contains(":no_such_task") && !foreign.contains("lost"), "{foreign}");
    }
}

/// The answer to a call of a session about a task.
fn ask_of_task(handle: &Handle, session: &str, id: &ScheduleId, rest: &str) -> String {
    let args = format!("{{\"task_id\":\"{id}\"{rest}}}");
    let args = json::read(args.as_bytes(), &REQUEST_CAPS).expect("JSON");
    let style = CallStyle { notation: Notation::Json, patience: None };
    let called = Service::new(handle.clone()).begin_tool("background_run", &token(session), &args, style);
    match called.expect("admitted").expect("it is there") {
        Called::Now(answer) => answer.value.to_string(),
        Called::Later(_) => unreachable!("there is nothing to wait for"),
    }
}

/// What sessions were told of tasks in all lives.
fn told(lives: &Lives) -> Vec<String> {
    let texts = lives.stage.history.receptions().into_iter().map(|(_, it)| it.text.to_string());
    texts.filter(|text| text.starts_with("[BACKGROUND TASK")).collect()
}

/// A life in which a task of an open session is in its call, for three seconds by now, and what a crash would lose.
fn life_with_task(lives: &Lives, sink: Sink) -> (ByHand, Box<[LostSchedule]>) {
    let (life, ..) = life_in_call(lives, sink, CallAnswer::Never);
    let named = life.handle.view(State::losable);
    assert_eq!(named.len(), 1);
    (life, named)
}

/// A life in which a task of an open session is in its call, for three seconds by now; who carries it out; and the session.
fn life_in_call(lives: &Lives, sink: Sink, answer: CallAnswer) -> (ByHand, Arc<SimExecutor>, SessionId) {
    let mut life = ByHand::new(lives);
    let executor = Arc::new(SimExecutor::scripted(&lives.stage).with("ci.build"));
    executor.serve(&life.handle);
    executor.script(answer);
    let owner = life.open(HostId::LOCAL);
    let call = Call { sink, ..Call::new(ToolName::new("ci.build").expect("a name"), Map::new()) };
    let new = NewSchedule {
        id: Some(ScheduleId::new("a1b2c3d4e5f6").expect("an id")),
        payload: Payload::Call(Box::new(call)),
        ..message(&owner, 0)
    };
    life.handle.schedule(new).expect("there is room");
    life.turn();
    lives.stage.clock.advance(Span::from_millis(3_000));
    (life, executor, owner)
}

/// The next life, a minute after the one before was last known to be there.
fn next_life(lives: &Lives, named: &[LostSchedule], down: Downtime) -> ByHand {
    let (lost, named) = (named.len() as u64, named.into());
    ByHand::with(lives, AttachOptions { lost, named, downs: [down].into(), ..AttachOptions::default() })
}

/// T26: also if the process that is to tell it crashes, before it has handed the bulletin over or after that, and finds the same
/// note of what was lost again.
#[test]
fn of_a_task_that_was_lost_its_session_is_told_once() {
    for is_handed_over in [false, true] {
        let lives = Lives::new();
        let (life, named) = life_with_task(&lives, Sink::Session);
        drop(life);
        let from = lives.stage.clock.now().wall;
        lives.stage.clock.advance(Span::from_millis(60_000));
        let until = lives.stage.clock.now().wall;
        let down = Downtime { from, until };
        let mut life = next_life(&lives, &named, down);
        if is_handed_over {
            life.turn();
            assert_eq!(told(&lives).len(), 1);
        }
        drop(life);
        for _ in 0..2 {
            lives.stage.clock.advance(Span::from_millis(1_000));
            let mut life = next_life(&lives, &named, down);
            life.turn();
            let bulletin = ScheduleId::new("lost-a1b2c3d4e5f6").expect("an id");
            assert_eq!(life.status(&bulletin), Some(Status::Delivered));
            let ledger = life.handle.view(State::ledger);
            assert_eq!((ledger.lost, ledger.imbalance()), (1, 0));
        }
        let told = told(&lives);
        assert_eq!(told.len(), 1, "{told:?}");
        let expected = format!(
            "[BACKGROUND TASK FAILED] task_id=a1b2c3d4e5f6 tool=ci.build elapsed=3.0s\nError: lost at the restart of {until}: "
        );
        assert!(told[0].starts_with(&expected), "{told:?}");
        assert!(told[0].ends_with("start it again if a second call does no harm."), "{told:?}");
    }
}

/// A session was busy when its task ended, and the process ended before the session was told. The end is known, and the next
/// start says it.
#[test]
fn of_a_lost_task_that_had_ended_the_end_is_said() {
    let took = Span::from_millis(3_000);
    let rows = [
        (
            Some(Outcome::of_value(Value::from(7), 1, took)),
            ("COMPLETED", "The call succeeded before, and its result was lost at the restart of "),
            ("only if you need its result and a second call does no harm.", "its call had succeeded"),
        ),
        (
            Some(Outcome::of_error("exit code 2", took)),
            ("FAILED", "Error: the call failed before, and its error was lost at the restart of "),
            ("start it again if a second call does no harm.", "its call had failed"),
        ),
        // An operator cancels the call.
        (
            None,
            ("CANCELLED", "The call was cancelled before the restart of "),
            ("Z.", "its call had been cancelled"),
        ),
    ];
    for (outcome, (end, line), (last, answer)) in rows {
        let lives = Lives::new();
        let script = outcome.clone().map_or(CallAnswer::Never, |outcome| CallAnswer::After(took, outcome));
        let (mut life, executor, owner) = life_in_call(&lives, Sink::Session, script);
        let id = ScheduleId::new("a1b2c3d4e5f6").expect("an id");
        let report = Report::Busy { session: owner.clone(), busy: true, by: None };
        life.handle.submit(Input::Report(report)).expect("it is open");
        if outcome.is_some() {
            assert_eq!(executor.answer_due(), 1);
        } else {
            let cancel = Command::CancelCall(Which::any(Scope::Operator, id.clone()));
            life.handle.submit(Input::Command(cancel)).expect("it is out");
        }
        life.turn();
        let named = life.handle.view(State::losable);
        assert_eq!((named.len(), told(&lives).len()), (1, 0), "the bulletin waits: {named:?}");
        drop(life);
        lives.stage.clock.advance(Span::from_millis(60_000));
        let now = lives.stage.clock.now().wall;
        let mut life = next_life(&lives, &named, Downtime { from: now, until: now });
        life.turn();
        let told = told(&lives);
        let head = format!("[BACKGROUND TASK {end}] task_id={id} tool=ci.build elapsed=3.0s\n{line}");
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with(&head) && told[0].ends_with(last), "{told:?}");
        let answered = ask_of_task(&life.handle, owner.as_str(), &id, "");
        assert!(answered.contains(answer) && !answered.contains("unknown"), "{answered}");
    }
}

/// The end of a task that was to tell nobody is told to nobody.
#[test]
fn a_lost_task_that_was_to_tell_nobody_tells_nobody() {
    let lives = Lives::new();
    let (life, named) = life_with_task(&lives, Sink::Nobody);
    drop(life);
    let now = lives.stage.clock.now().wall;
    let mut life = next_life(&lives, &named, Downtime { from: now, until: now });
    life.turn();
    assert_eq!(told(&lives), [""; 0]);
}

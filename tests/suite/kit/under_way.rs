//! Calls under way: places, turns, time, size, and executors that misbehave.

use std::sync::{Arc, Mutex};

use reveille::domain::{
    Actor, Call, CallPurpose, Caller, ExecutorKind, Payload, SessionId, Span, ToolSpec, When,
};
use reveille::edn::{Map, Value, read};
use reveille::engine::{Invocation, NewSchedule};
use reveille::limits;
use reveille::port::{Executor, Returned};
use reveille::runtime::{CallsInUse, Handle};
use reveille::testkit::{SimTools, ToolPlan};

use super::world::{Outcomes, World, told, tool};

fn after(millis: u64) -> ToolPlan {
    ToolPlan::After(Span::from_millis(millis), Value::from("done"))
}

fn strange(it: SimTools) -> SimTools {
    it.with("t.hang", ToolPlan::Hang)
        .with("t.drop", ToolPlan::Drop)
        .with("t.panic", ToolPlan::Panic)
        .with("t.fail", ToolPlan::Fail("no"))
        .with("t.slow", after(20))
        .with("t.echo", ToolPlan::Echo)
}

/// T3.
#[test]
fn each_call_ends_in_one_way() {
    let (world, outcomes) = (World::new(strange), Outcomes::default());
    let one = world.open("one");
    for name in ["hang", "drop", "panic", "fail", "slow", "echo"] {
        world.call(name, &one, &format!("t.{name}"), &outcomes);
    }
    let at_once = [
        ("drop", "the executor gave no answer"),
        ("panic", "the executor panicked"),
        ("fail", "no"),
        ("echo", "{}"),
    ];
    let at_once = at_once.map(|(id, text)| (id.to_owned(), text.to_owned()));
    assert_eq!(told(&outcomes), at_once);
    world.run_for(59_999);
    assert_eq!(told(&outcomes)[4..], [("slow".to_owned(), "\"done\"".to_owned())]);
    world.run_for(1);
    assert_eq!(told(&outcomes)[5..], [("hang".to_owned(), "timed out after 60 s".to_owned())]);
    assert_eq!(world.executor.cancelled(), [Box::from("hang")]);
    // It comes when nobody waits any more.
    world.executor.answer_all();
    assert_eq!(told(&outcomes).len(), 6);
    assert_eq!(world.handle.calls().in_use(), CallsInUse { late: 1, ..CallsInUse::default() });
    let took = outcomes.lock().expect("no test panics here")[4].1.took;
    assert_eq!(took, Span::from_millis(20), "by the engine's clock");
}

#[test]
fn a_cancelled_call_is_not_heard_and_its_executor_is_told() {
    let (world, outcomes) = (World::new(strange), Outcomes::default());
    let one = world.open("one");
    world.call("a", &one, "t.hang", &outcomes);
    world.call("a", &one, "t.echo", &outcomes);
    assert_eq!(told(&outcomes), [("a".to_owned(), "a call of this id is under way".to_owned())]);
    world.handle.calls().cancel("a");
    world.handle.calls().cancel("unknown");
    world.executor.answer_all();
    world.run_for(100_000);
    assert_eq!(told(&outcomes).len(), 1);
    assert_eq!(world.executor.cancelled(), [Box::from("a")]);
    // The id is free again, and an outcome of the first call of it does not end the second.
    world.call("b", &one, "t.hang", &outcomes);
    world.handle.calls().cancel("b");
    world.call("b", &one, "t.hang", &outcomes);
    assert_eq!(world.handle.calls().in_use().in_flight, 1);
}

/// Has each call cancelled while it is handed over, before it has begun it.
struct Late {
    handle: Handle,
    open: Mutex<Vec<(Box<str>, Returned)>>,
}

impl Executor for Late {
    fn specs(&self, _: &SessionId) -> Arc<[ToolSpec]> {
        [ToolSpec::reading(tool("t.late"), "A tool.", Map::new().into())].into()
    }

    fn call(&self, invocation: Invocation, returned: Returned) {
        self.handle.calls().cancel(&invocation.id);
        self.open.lock().expect("no test panics here").push((invocation.id, returned));
    }

    fn cancel(&self, id: &str) {
        let mut open = self.open.lock().expect("no test panics here");
        let found = open.iter().position(|(open, _)| **open == *id).map(|place| open.remove(place));
        drop(open);
        if let Some((_, returned)) = found {
            returned.discard();
        }
    }
}

/// Its executor hears of the cancel before it has the call, and has to hear of it again.
#[test]
fn a_call_that_is_cancelled_while_it_is_handed_over_is_not_carried_out() {
    let (world, outcomes) = (World::new(strange), Outcomes::default());
    let one = world.open("one");
    let late = Arc::new(Late { handle: world.handle.clone(), open: Mutex::default() });
    world.handle.tools().add_executor(ExecutorKind::Operator, late.clone()).expect("no clash");
    world.call("a", &one, "t.late", &outcomes);
    assert!(late.open.lock().expect("no test panics here").is_empty(), "it goes on");
    assert!(told(&outcomes).is_empty());
    assert_eq!(world.handle.calls().in_use(), CallsInUse::default());
    // One that has ended by itself is not cancelled.
    world.call("b", &one, "t.echo", &outcomes);
    assert_eq!((told(&outcomes).len(), world.executor.cancelled().len()), (1, 0));
}

/// T8.
#[test]
fn a_session_has_16_places_and_the_sessions_take_turns() {
    let world = World::new(|it| it.with("t.slow", after(1_000)).with("t.other", after(1_000)));
    let outcomes = Outcomes::default();
    let (one, two) = (world.open("one"), world.open("two"));
    for number in 0..50 {
        world.call(&format!("one-{number}"), &one, "t.slow", &outcomes);
    }
    for number in 0..2 {
        world.call(&format!("two-{number}"), &two, "t.other", &outcomes);
    }
    let of_session = usize::try_from(limits::CALLS_OF_SESSION.value).expect("it is small");
    assert_eq!(world.executor.most_open(), of_session);
    let in_use = world.handle.calls().in_use();
    assert_eq!((in_use.in_flight, in_use.waiting), (limits::CALLS_OF_PROGRAMS.value, 36));
    world.run_for(1_000);
    let began: Vec<String> = world.executor.calls().iter().map(|call| call.id.to_string()).collect();
    assert_eq!(began[16..20], ["one-16", "two-0", "one-17", "two-1"], "sessions take turns");
    world.run_for(3_000);
    assert_eq!(told(&outcomes).len(), 52);
    assert_eq!(world.executor.most_open(), of_session, "never more of one executor than it has places");
    assert_eq!(world.handle.calls().in_use(), CallsInUse::default());
}

/// Sixteen sessions, each with an executor of its own, take all that sessions can get.
#[test]
fn what_sessions_leave_is_for_operators_and_no_more() {
    let (world, outcomes) = (World::new(|it| it.with("t0.hang", ToolPlan::Hang)), Outcomes::default());
    let sessions: Vec<_> = (0..16).map(|number| world.open(&format!("s{number}"))).collect();
    for (number, session) in sessions.iter().enumerate() {
        let name = format!("t{number}.hang");
        if number > 0 {
            let tools = SimTools::new(&world.stage).with(&name, ToolPlan::Hang);
            world.handle.tools().add_executor(ExecutorKind::Operator, Arc::new(tools)).expect("no clash");
        }
        for call in 0..limits::CALLS_OF_SESSION.value {
            world.call(&format!("{number}-{call}"), session, &name, &outcomes);
        }
    }
    let in_use = world.handle.calls().in_use();
    let of_sessions = limits::CALLS_IN_FLIGHT.value - limits::CALLS_RESERVE.value;
    assert_eq!((in_use.in_flight, in_use.waiting), (of_sessions, limits::CALLS_RESERVE.value));
    // The last executor has places, and no session may take one.
    for call in 0..limits::CALLS_RESERVE.value {
        world.call_by_operator(&format!("operator-{call}"), &sessions[0], "t15.hang", &outcomes);
        assert_eq!(world.handle.calls().in_use().in_flight, of_sessions + call + 1, "it goes out at once");
    }
    world.call_by_operator("one-more", &sessions[0], "t15.hang", &outcomes);
    let in_use = world.handle.calls().in_use();
    assert_eq!(in_use.in_flight, limits::CALLS_IN_FLIGHT.value, "the bound holds for operators as well");
    assert_eq!(in_use.waiting, limits::CALLS_RESERVE.value + 1);
    assert_eq!(in_use.of_families.values().sum::<u64>(), of_sessions, "operators are no family");
    // A place that an operator returns is not for sessions.
    world.handle.calls().cancel("operator-0");
    let in_use = world.handle.calls().in_use();
    assert_eq!(
        (in_use.in_flight, in_use.waiting),
        (limits::CALLS_IN_FLIGHT.value, limits::CALLS_RESERVE.value)
    );
    world.handle.calls().cancel("one-more");
    assert_eq!(world.handle.calls().in_use().in_flight, limits::CALLS_IN_FLIGHT.value - 1);
}

/// A session has all places of a program; what an operator has scheduled goes out beside it.
#[test]
fn an_operators_schedule_has_a_place_at_an_executor_that_a_session_fills() {
    let (world, outcomes) = (World::new(|it| it.with("t.hang", ToolPlan::Hang)), Outcomes::default());
    let one = world.open("one");
    for number in 0..limits::CALLS_OF_PROGRAMS.value + 5 {
        world.call(&number.to_string(), &one, "t.hang", &outcomes);
    }
    let in_flight = || world.handle.calls().in_use().in_flight;
    let schedule = |made_by: Option<Actor>| {
        let call = Call { purpose: CallPurpose::Task, ..Call::new(tool("t.hang"), Map::new()) };
        let now = When::After(Span::from_millis(0));
        let payload = Payload::Call(Box::new(call));
        let new = NewSchedule { payload, ..NewSchedule::message(one.clone(), now, "") };
        world.handle.schedule(NewSchedule { made_by: made_by.map(Box::new), ..new }).expect("there is room");
        world.run_for(1);
    };
    schedule(None);
    assert_eq!(in_flight(), limits::CALLS_OF_PROGRAMS.value, "the session's own waits");
    for number in 1..=limits::CALLS_EXECUTOR_RESERVE.value {
        schedule(Some(Caller::OPERATOR.actor()));
        assert_eq!(in_flight(), limits::CALLS_OF_PROGRAMS.value + number);
    }
    schedule(Some(Caller::OPERATOR.actor()));
    let all = limits::CALLS_OF_PROGRAMS.value + limits::CALLS_EXECUTOR_RESERVE.value;
    assert_eq!(in_flight(), all, "an executor has a bound for operators as well");
}

#[test]
fn waiting_counts_as_time() {
    let (world, outcomes) = (World::new(|it| it.with("t.hang", ToolPlan::Hang)), Outcomes::default());
    let one = world.open("one");
    for number in 0..17 {
        world.call(&number.to_string(), &one, "t.hang", &outcomes);
    }
    world.run_for(60_000);
    let told = told(&outcomes);
    assert_eq!(told.len(), 17);
    assert_eq!(told[16], ("16".to_owned(), "timed out after 60 s while it waited for its turn".to_owned()));
    assert_eq!((world.executor.calls().len(), world.executor.cancelled().len()), (16, 16));
}

#[test]
fn only_so_many_calls_wait() {
    let (world, outcomes) = (World::new(|it| it.with("t.hang", ToolPlan::Hang)), Outcomes::default());
    let one = world.open("one");
    let of_sessions = limits::CALLS_WAITING.value - limits::CALLS_WAITING_RESERVE.value;
    for number in 0..of_sessions + 17 {
        world.call(&number.to_string(), &one, "t.hang", &outcomes);
    }
    let too_many = "too many calls wait for their turn".to_owned();
    assert_eq!(told(&outcomes), [((of_sessions + 16).to_string(), too_many.clone())]);
    // The rest of the line is for operators, who have two places at the executor.
    for number in 0..limits::CALLS_WAITING_RESERVE.value + limits::CALLS_EXECUTOR_RESERVE.value + 1 {
        world.call_by_operator(&format!("operator-{number}"), &one, "t.hang", &outcomes);
    }
    assert_eq!(world.handle.calls().in_use().waiting, limits::CALLS_WAITING.value);
    assert_eq!(told(&outcomes)[1..], [("operator-258".to_owned(), too_many)]);
}

#[test]
fn executors_that_answer_at_once_do_not_nest() {
    let (world, outcomes) = (World::new(strange), Outcomes::default());
    let one = world.open("one");
    for number in 0..16 {
        world.call(&number.to_string(), &one, "t.hang", &outcomes);
    }
    // As many as may wait.
    let all = 16 + limits::CALLS_WAITING.value - limits::CALLS_WAITING_RESERVE.value;
    for number in 16..all {
        world.call(&number.to_string(), &one, "t.echo", &outcomes);
    }
    assert!(told(&outcomes).is_empty());
    world.executor.answer_all();
    assert_eq!(told(&outcomes).len() as u64, all);
}

/// T13.
#[test]
fn outcomes_are_cut_and_marked() {
    let value = |bytes: usize| Value::from("é".repeat(bytes / 2));
    let world = World::new(|it| {
        it.with("t.whole", ToolPlan::Answer(value(65_534))).with("t.long", ToolPlan::Answer(value(300_000)))
    });
    let (one, outcomes) = (world.open("one"), Outcomes::default());
    world.call("whole", &one, "t.whole", &outcomes);
    world.call("long", &one, "t.long", &outcomes);
    let outcomes = outcomes.lock().expect("no test panics here");
    let [(_, whole), (_, long)] = outcomes.as_slice() else { panic!("{outcomes:?}") };
    assert_eq!((whole.cut, whole.bytes, whole.value.as_deref()), (false, 65_536, Some(&value(65_534))));
    assert_eq!((long.cut, long.bytes), (true, 300_002));
    let text = long.value.as_ref().and_then(|value| value.as_str()).expect("a text");
    assert!(text.starts_with("\"éé") && text.len() <= 65_536 && text.len() > 65_530, "{}", text.len());
}

/// T7.
#[test]
fn arguments_that_begin_with_an_underscore_do_not_reach_a_tool() {
    let (world, outcomes) = (World::new(strange), Outcomes::default());
    let one = world.open("one");
    let args = read(b"{:url \"x\" :_approved true \"_why\" \"y\" \"_\" 1}", &reveille::dialect::REQUEST_CAPS)
        .expect("EDN");
    world.call_with("a", &one, ("t.echo", args), &outcomes);
    assert_eq!(told(&outcomes), [("a".to_owned(), "{:url \"x\"}".to_owned())]);
    let args = read(b"{\"n\" {\"_inner\" 1}}", &reveille::dialect::REQUEST_CAPS).expect("EDN");
    world.call_with("b", &one, ("t.echo", args), &outcomes);
    assert_eq!(told(&outcomes)[1].1, "{\"n\" {\"_inner\" 1}}", "what is inside is the tool's own");
}

#[test]
fn calls_of_a_host_that_goes_have_failed() {
    let (world, outcomes) = (World::new(strange), Outcomes::default());
    let host = world.handle.hosts().attach(Arc::new(reveille::adapter::HostLocal::new()));
    let one = super::world::session("one");
    world.handle.open_session(Some(one.clone()), host, Default::default()).expect("the id is free");
    let hosts = SimTools::new(&world.stage).with("host.hang", ToolPlan::Hang);
    world.handle.tools().offer(host, Arc::new(hosts.clone()));
    world.call("a", &one, "host.hang", &outcomes);
    world.call("b", &one, "t.slow", &outcomes);
    world.handle.hosts().detach(host);
    let lost = "host-lost: the host of the session is gone".to_owned();
    assert_eq!(told(&outcomes), [("a".to_owned(), lost)]);
    hosts.answer_all();
    world.run_for(1_000);
    assert_eq!(told(&outcomes).len(), 2);
}

#[test]
fn no_call_outlives_the_engine() {
    let (world, outcomes) = (World::new(strange), Outcomes::default());
    let one = world.open("one");
    world.call("a", &one, "t.hang", &outcomes);
    world.handle.shut_down();
    let stopping = "the scheduler is stopping".to_owned();
    assert_eq!(told(&outcomes), [("a".to_owned(), stopping.clone())]);
    world.call("b", &one, "t.echo", &outcomes);
    assert_eq!(told(&outcomes)[1], ("b".to_owned(), stopping));
}

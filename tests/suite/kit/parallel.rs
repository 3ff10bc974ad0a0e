//! `run_parallel`: what is called, what is refused, and in which order results stand.

use std::sync::{Arc, Mutex};

use reveille::dialect::Notation;
use reveille::domain::{
    Call, CallPurpose, Caller, Dialect, ExecutorKind, Grant, GuardPolicy, Payload, PayloadKind, Risk, Rule,
    RuleScope, Ruling, ScheduleId, Scope, SessionId, Sink, Span, ToolSpec, When,
};
use reveille::edn::{Map, Value};
use reveille::engine::{Command, Input, Invocation, NewSchedule, Which};
use reveille::limits;
use reveille::port::{Executor, Returned};
use reveille::service::{CallStyle, Service, Waiter};
use reveille::testkit::ToolPlan;

use super::world::{Said, World, session, tool};

fn after(millis: u64, value: &str) -> ToolPlan {
    ToolPlan::After(Span::from_millis(millis), Value::from(value))
}

fn world() -> World {
    let world = World::new(|it| {
        it.with("t.a", ToolPlan::Answer(Value::from("a")))
            .with("t.slow", after(1_000, "slow"))
            .with("t.2s", after(2_000, "2"))
            .with("t.20ms", after(20, "20"))
            .with("t.echo", ToolPlan::Echo)
            .with("t.fail", ToolPlan::Fail("it went wrong"))
            .with("t.hang", ToolPlan::Hang)
            .with("t.drop", ToolPlan::Drop)
            .with("t.panic", ToolPlan::Panic)
            .with_spec(spec("t.closed", false, false), ToolPlan::Echo)
            .with_spec(spec("t.held", true, true), ToolPlan::Echo)
    });
    world.open("s");
    world
}

fn spec(name: &str, agents: bool, approval: bool) -> ToolSpec {
    ToolSpec {
        name: tool(name),
        description: "".into(),
        input_schema: Arc::new(Map::new().into()),
        risk: Risk::Change,
        approval,
        idempotent: false,
        agents,
        time_max: None,
    }
}

fn begin(world: &World, args: &str) -> (Said, Option<Waiter>) {
    world.begin("run_parallel", &Caller::session(session("s")).as_model(), args)
}

#[track_caller]
fn check(args: &str, millis: u64, expected: &str) {
    let world = world();
    let (said, _waiter) = begin(&world, args);
    world.run_for(millis);
    assert_eq!(said.text(), expected, "{args}");
}

/// T1.
#[test]
fn results_stand_in_the_order_of_the_list() {
    check(
        r#"{"actions":[{"name":"t.a"},{"name":"t.slow"},{"name":"t.echo","params":{"x":1}}]}"#,
        1_000,
        concat!(
            r#"{"results":[{"index":0,"name":"t.a","success":true,"data":"a"},"#,
            r#"{"index":1,"name":"t.slow","success":true,"data":"slow"},"#,
            r#"{"index":2,"name":"t.echo","success":true,"data":{"x":1}}],"#,
            r#""total":3,"succeeded":3,"failed":0,"elapsed_ms":1000}"#
        ),
    );
}

/// T3, T5, T7.
#[test]
fn what_is_wrong_with_one_item_is_its_own_error() {
    let world = world();
    let items = r#"{"actions":[{"name":"t.a"},{"name":"t.nothing_like"},{"name":"t.aa"},{"name":"t.closed"},
        {"name":"t.held","params":{"_approved":true}},7,{"nme":"t.a"},{"name":"t.fail"},{"name":"t.drop"},{"name":"t.panic"},
        {"name":"t.hang"},        {"name":"run_parallel"},{"name":"t.echo","params":3}]}"#;
    let (said, _waiter) = begin(&world, items);
    world.run_for(59_999);
    assert_eq!(said.text(), "");
    world.run_for(1);
    let text = said.text();
    for (index, part) in [
        r#""name":"t.a","success":true,"data":"a"}"#,
        r#""success":false,"error":"Tool 't.nothing_like' not found. There are t.20ms, t.2s, t.a, t.closed, t.drop."}"#,
        r#""success":false,"error":"Tool 't.aa' not found. Did you mean 't.a'?"}"#,
        r#""success":false,"error":"Tool 't.closed' is blocked by security policy."}"#,
        r#""success":false,"error":"Tool 't.held' requires approval but no approval queue available."}"#,
        r#""name":"","success":false,"error":"actions[5] must be an object, not integer"}"#,
        r#""name":"","success":false,"error":"unknown field actions[6].nme: actions[6] may have "#,
        r#""name":"t.fail","success":false,"error":"it went wrong"}"#,
        r#""name":"t.drop","success":false,"error":"the executor gave no answer"}"#,
        r#""name":"t.panic","success":false,"error":"the executor panicked"}"#,
        r#""name":"t.hang","success":false,"error":"timed out after 60 s"}"#,
        r#""name":"run_parallel","success":false,"error":"Tool 'run_parallel' cannot be called by another call."}"#,
        r#""name":"t.echo","success":false,"error":"actions[12].params must be an object, not integer"}"#,
    ]
    .into_iter()
    .enumerate()
    {
        let result = text.split(&format!("{{\"index\":{index},")).nth(1).unwrap_or_default();
        assert!(result.contains(part), "{index}: {part}\n{result}");
    }
    assert!(text.contains(r#""total":13,"succeeded":1,"failed":12"#), "{text}");
}

/// T2, T4.
#[test]
fn a_call_of_which_nothing_can_be_called_has_failed() {
    let world = world();
    let (said, _) = begin(&world, r#"{"actions":[{"name":"t.no"},{"name":"t.closed"}]}"#);
    let text = said.text();
    assert!(text.contains("All 2 parallel action(s) failed before execution"), "{text}");
    assert!(text.contains(r#""results":[{"index":0,"name":"t.no","success":false,"#), "{text}");
    assert!(said.is_error());
    for (args, part) in [
        ("{}", "actions is required"),
        (r#"{"actions":[]}"#, "actions is empty"),
        (r#"{"actions":7}"#, "must be a list of 1 to 50 actions"),
        (r#"{"actions":"[{"}"#, "must be a list of 1 to 50 actions"),
        (r#"{"actions":[{"name":"t.a"}],"timeout":301}"#, "timeout must be from 1 to 300"),
    ] {
        let text = begin(&world, args).0.text();
        assert!(text.contains(part), "{args}: {text}");
    }
    let many = |count: usize| format!(r#"{{"actions":[{}]}}"#, vec![r#"{"name":"t.a"}"#; count].join(","));
    let text = begin(&world, &many(51)).0.text();
    assert!(text.contains("actions is too long: parallel-calls is 50 calls"), "{text}");
    let (said, _waiter) = begin(&world, &many(50));
    assert!(said.text().contains(r#""total":50,"succeeded":50"#), "{}", said.text());
}

/// T6.
#[test]
fn what_other_programs_write_is_understood() {
    let expected = concat!(
        r#"{"results":[{"index":0,"name":"t.echo","success":true,"data":{"x":1}}],"#,
        r#""total":1,"succeeded":1,"failed":0,"elapsed_ms":0}"#
    );
    check(r#"{"actions":[{"tool":"t.echo","args":{"x":1}}]}"#, 0, expected);
    check(r#"{"actions":[{"action":"t.echo","arguments":{"x":1}}]}"#, 0, expected);
    check(r#"{"actions":"[{\"name\":\"t.echo\",\"params\":{\"x\":1,\"_approved\":true}}]"}"#, 0, expected);
    check(r#"{"actions":[{"name":"t__echo","params":{"x":1}}]}"#, 0, &expected.replace("t.echo", "t__echo"));
}

/// T8.
#[test]
fn fifty_calls_take_four_rounds_of_sixteen() {
    let world = world();
    let items = vec![r#"{"name":"t.20ms"}"#; 50].join(",");
    let (said, _waiter) = begin(&world, &format!(r#"{{"actions":[{items}]}}"#));
    world.run_for(79);
    assert_eq!(said.text(), "");
    world.run_for(1);
    assert!(said.text().contains(r#""succeeded":50,"failed":0,"elapsed_ms":80}"#), "{}", said.text());
    assert_eq!(world.executor.most_open() as u64, limits::CALLS_OF_SESSION.value);
}

/// T9.
#[test]
fn who_goes_ends_what_was_begun() {
    let world = world();
    let (said, waiter) = begin(&world, r#"{"actions":[{"name":"t.hang"},{"name":"t.slow"},{"name":"t.a"}]}"#);
    drop(waiter);
    assert_eq!(world.executor.cancelled().len(), 2);
    world.executor.answer_all();
    world.run_for(200_000);
    assert_eq!(said.text(), "");
    assert_eq!(world.handle.calls().in_use().in_flight, 0);
}

#[test]
fn grants_and_rules_hold_for_each_call() {
    let world = world();
    let rule = |name: &str, tools: &[&str], then| Rule {
        name: name.into(),
        of: RuleScope {
            kinds: vec![PayloadKind::Call],
            tools: tools.iter().map(|tool| Box::from(*tool)).collect(),
            ..RuleScope::default()
        },
        then,
        why: None,
    };
    let rules = vec![rule("no echo", &["t.echo"], Ruling::Refuse), rule("held", &["t.s*"], Ruling::Hold)];
    let policy = Some(Arc::new(GuardPolicy { rules, ..GuardPolicy::default() }));
    let by = Scope::Operator.into();
    world.handle.submit(Input::Command(Command::SetGuard { policy, by })).expect("no rule is wrong");
    let (said, _waiter) =
        begin(&world, r#"{"actions":[{"name":"t.echo"},{"name":"t.slow"},{"name":"t.a"}]}"#);
    let text = said.text();
    assert!(text.contains("'t.echo' is blocked by security policy"), "{text}");
    assert!(text.contains("'t.slow' requires approval"), "{text}");
    assert!(text.contains(r#""succeeded":1,"failed":2"#), "{text}");
    let grant = Grant { dialects: Some(vec![Dialect::Native]), ..Grant::FULL };
    world.handle.sessions().grant(&session("s"), grant, Scope::Operator).expect("it is open");
    let args: Value = Map::new().into();
    let style = CallStyle { notation: Notation::Json, patience: None };
    let called = Service::new(world.handle.clone()).begin_tool(
        "run_parallel",
        &Caller::session(session("s")),
        &args,
        style,
    );
    assert!(called.expect("no denial").is_none(), "the tool does not exist for the session");
}

/// Its calls are no runs, and the log has them all the same.
#[test]
fn the_log_says_who_called_which_tools_at_once() {
    let world = world();
    let (_said, _waiter) =
        begin(&world, r#"{"actions":[{"name":"t.echo"},{"name":"t.a"},{"name":"t.echo"},{"name":"t.no"}]}"#);
    world.run_for(0);
    let query = "[{(:reveille.engine/decisions {:kind [:tools-called]}) \
                 [:reveille.decision/kind :reveille.decision/detail :reveille.decision/by]}]";
    let said = crate::simulated::ask(&world.handle, &Caller::OPERATOR, query, true);
    assert!(said.contains(":tools-called") && said.contains("\"t.a, t.echo ×2\""), "{said}");
    assert!(said.contains("session s"), "{said}");
}

/// Its calls are no runs, so neither a hold nor the guard would stop them.
#[test]
fn nothing_is_called_at_once_while_everything_is_held_or_a_guard_is_asked() {
    let world = world();
    let submit = |command: Command| world.handle.submit(Input::Command(command)).expect("an operator may");
    let called = || {
        let (said, _waiter) = begin(&world, r#"{"actions":[{"name":"t.a"}]}"#);
        world.run_for(0);
        said.text()
    };
    submit(Command::HoldAll { by: Scope::Operator.into(), reason: Some("the disk is new".into()) });
    let held = called();
    assert!(held.contains("an operator holds everything (the disk is new)"), "{held}");
    submit(Command::ReleaseAll { by: Scope::Operator.into() });
    assert!(called().contains(r#""data":"a""#), "it is released");
    let policy = GuardPolicy { asks: Some(Span::from_millis(1_000)), ..GuardPolicy::default() };
    submit(Command::SetGuard { policy: Some(Arc::new(policy)), by: Scope::Operator.into() });
    let asks = called();
    assert!(asks.contains("run_parallel does not ask the guard: call it with background_run"), "{asks}");
    assert_eq!(world.executor.calls().len(), 1, "only what was called between");
}

#[test]
fn an_operator_for_a_session_may_call_what_agents_may_not() {
    let world = world();
    let operator = Caller { scope: Scope::Session(session("s")), ..Caller::OPERATOR };
    let (said, _waiter) = world.begin("run_parallel", &operator, r#"{"actions":[{"name":"t.closed"}]}"#);
    assert!(said.text().contains(r#""succeeded":1"#), "{}", said.text());
    let (said, _) = world.begin("run_parallel", &operator.as_model(), r#"{"actions":[{"name":"t.closed"}]}"#);
    assert!(said.text().contains("blocked by security policy"), "{}", said.text());
    let (said, _) = world.begin("run_parallel", &Caller::OPERATOR, r#"{"actions":[{"name":"t.a"}]}"#);
    assert!(said.text().contains("no_session"), "{}", said.text());
}

/// T10.
#[test]
fn what_has_not_ended_in_time_goes_on_as_a_task() {
    let world = world();
    let args = r#"{"actions":[{"name":"t.a"},{"name":"t.slow","params":{"x":1,"_y":2}},{"name":"t.hang"}],"timeout":1}"#;
    let args = args.replace("t.slow", "t.2s");
    let (said, _waiter) = begin(&world, &args);
    world.run_for(999);
    assert_eq!(said.text(), "");
    world.run_for(1);
    let text = said.text();
    assert!(text.contains(r#""name":"t.a","success":true"#), "{text}");
    assert!(text.contains(r#""name":"t.2s","success":false,"status":"running","task_id":""#), "{text}");
    assert!(text.contains(r#""total":3,"succeeded":1,"failed":0,"elapsed_ms":1000,"running":2"#), "{text}");
    assert_eq!(world.told(), Vec::<String>::new());
    world.run_for(1_000);
    let task = text.split("\"task_id\":\"").nth(1).and_then(|rest| rest.get(..12)).unwrap_or_default();
    let expected = format!("[BACKGROUND TASK COMPLETED] task_id={task} tool=t.2s elapsed=");
    let told = world.told();
    assert!(told.len() == 1 && told[0].starts_with(&expected), "{told:?}");
    assert_eq!(world.executor.calls().len(), 3, "no call is made twice");
    // The other one is a task as any other, and has an hour.
    let hanging = text.rsplit("\"task_id\":\"").next().and_then(|rest| rest.get(..12)).unwrap_or_default();
    let caller = Caller::session(session("s")).as_model();
    let cancel = format!(r#"{{"task_id":"{hanging}","cancel":true}}"#);
    let (said, _) = world.begin("background_run", &caller, &cancel);
    assert!(said.text().contains(r#""status":"cancelled""#), "{}", said.text());
    assert_eq!(world.executor.cancelled().len(), 1, "the executor is told");
    world.executor.answer_all();
    world.run_for(4_000_000);
    assert_eq!(world.told().len(), 1);
    assert_eq!(world.handle.calls().in_use().in_flight, 0);
}

/// An executor whose calls hang. When one of them is called off, its caller leaves.
#[derive(Default)]
struct Leaving {
    waiter: Mutex<Option<Waiter>>,
    open: Mutex<Vec<Returned>>,
    cancelled: Mutex<Vec<String>>,
}

impl Executor for Leaving {
    fn specs(&self, _: &SessionId) -> Arc<[ToolSpec]> {
        Arc::new([spec("l.hang", true, false)])
    }

    fn call(&self, _: Invocation, returned: Returned) {
        self.open.lock().expect("whole").push(returned);
    }

    fn cancel(&self, id: &str) {
        self.cancelled.lock().expect("whole").push(id.to_owned());
        let waiter = self.waiter.lock().expect("whole").take();
        drop(waiter);
    }
}

/// Two have not ended in time: the first becomes the last task that the session may have, and the second is called off.
#[test]
fn who_leaves_when_the_time_is_up_ends_no_task() {
    let (world, leaving) = (world(), Arc::new(Leaving::default()));
    world.handle.tools().add_executor(ExecutorKind::Operator, leaving.clone()).expect("no clash");
    for _ in 1..limits::SESSION_TASKS.value {
        let call =
            Call { purpose: CallPurpose::Task, sink: Sink::Session, ..Call::new(tool("t.hang"), Map::new()) };
        let due = When::After(Span::from_millis(3_600_000));
        let new = NewSchedule {
            dialect: Dialect::Primitives,
            payload: Payload::Call(Box::new(call)),
            ..NewSchedule::message(session("s"), due, "")
        };
        world.handle.submit(Input::Command(Command::CreateSchedule(new))).expect("there is room");
    }
    let (_said, waiter) = begin(&world, r#"{"actions":[{"name":"l.hang"},{"name":"l.hang"}],"timeout":1}"#);
    *leaving.waiter.lock().expect("whole") = waiter;
    world.run_for(1_000);
    let cancelled = leaving.cancelled.lock().expect("whole").clone();
    assert!(cancelled.len() == 1 && cancelled[0].ends_with("/1"), "{cancelled:?}");
    assert!(leaving.waiter.lock().expect("whole").is_none(), "its caller has left");
    assert_eq!(world.handle.calls().in_use().in_flight, 1, "the other one goes on");
}

/// Ends a task before it could ask for its call.
type End = fn(&World, &str);

/// A task that ends before it could ask for its call: nobody is left whom the call could tell anything.
#[test]
fn a_call_ends_with_the_task_that_never_asked_for_it() {
    let cancel = |world: &World, task: &str| {
        let which = Which::any(Scope::Operator, ScheduleId::new(task).expect("an id"));
        world.handle.submit(Input::Command(Command::CancelSchedule(which))).expect("it has not begun");
    };
    let close = |world: &World, _: &str| world.handle.close_session(&session("s")).expect("it is open");
    let ends: [End; 2] = [cancel, close];
    for end in ends {
        let world = world();
        let (said, _waiter) = begin(&world, r#"{"actions":[{"name":"t.hang"}],"timeout":1}"#);
        let hold = Command::HoldAll { by: Scope::Operator.into(), reason: None };
        world.handle.submit(Input::Command(hold)).expect("an operator may");
        world.run_for(1_000);
        let text = said.text();
        let task = text.rsplit("\"task_id\":\"").next().and_then(|rest| rest.get(..12)).unwrap_or_default();
        assert_eq!(world.handle.calls().in_use().in_flight, 1, "it goes on: {text}");
        end(&world, task);
        world.run_for(0);
        assert_eq!(world.handle.calls().in_use().in_flight, 0);
        assert_eq!(world.executor.cancelled().len(), 1, "the executor is told");
    }
}

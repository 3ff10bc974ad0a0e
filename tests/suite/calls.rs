//! Calls of tools: a schedule whose payload is a call, carried out by a simulated executor in virtual time.

use std::sync::Arc;

use reveille::domain::{
    Actor, Call, CallPurpose, CallVia, Caller, Durability, GuardPolicy, HostId, Outcome, Payload, Phase,
    Policy, Reason, Rule, RuleScope, Ruling, RunState, ScheduleId, Scope, Settings, Span, Status, ToolName,
    ToolSpec, When,
};
use reveille::edn::{Map, Value};
use reveille::engine::{Command, Input, NewSchedule, Report};
use reveille::runtime::Handle;
use reveille::testkit::{CallAnswer, SimExecutor, SimHost, Stage};

use crate::simulated::{bound, open, session};

/// An engine with one session and an executor.
struct Scene {
    stage: Stage,
    handle: Handle,
    executor: Arc<SimExecutor>,
}

impl Scene {
    fn new() -> Scene {
        let stage = Stage::seeded(3);
        let handle = Handle::new(stage.parts(Arc::new(SimHost::new(&stage, HostId::LOCAL))));
        let executor = Arc::new(SimExecutor::scripted(&stage).with("http.get"));
        executor.serve(&handle);
        open(&handle, "s", reveille::domain::SessionConfig::default());
        Scene { stage, handle, executor }
    }

    fn create(&self, via: CallVia, timeout_s: Option<u64>) -> ScheduleId {
        let tool = tool("http.get");
        let args: Value = Map::new().with("url", "https://api.example.com").into();
        let call = Call { via, purpose: CallPurpose::Job, ..Call::new(tool, args) };
        let timeout = timeout_s.map(|seconds| Span::from_millis(seconds * 1_000));
        let policy = Policy { timeout, ..Policy::PLAIN };
        let new = NewSchedule {
            payload: Payload::Call(Box::new(call)),
            settings: Some(Box::new(Settings { policy, ..Settings::PLAIN })),
            durability: Durability::Volatile,
            ..NewSchedule::message(session("s"), When::After(Span::from_millis(5_000)), "")
        };
        self.handle.schedule(new).expect("it is accepted")
    }

    /// The status of a schedule, and of its run the state, how far it came, why it ended, and what its call came to.
    fn says(&self, id: &ScheduleId) -> (Status, RunState, Option<Phase>, Option<Reason>, Option<Outcome>) {
        self.handle.view(|state| {
            let record = state.schedule(id).expect("it is there");
            let run = state.newest_run(record).expect("it has a run").run();
            let outcome = run.outcome.as_deref().cloned();
            (record.status(), run.state, run.phase, run.reason, outcome)
        })
    }

    fn pass(&self, seconds: u64) {
        self.stage.run_for(&self.handle, Span::from_millis(seconds * 1_000));
        self.executor.answer_due();
        self.handle.run_due();
    }
}

fn took() -> Span {
    Span::from_millis(20)
}

#[test]
fn a_call_goes_to_the_executor_and_ends_with_what_it_came_to() {
    let scene = Scene::new();
    let id = scene.create(CallVia::Any, None);
    scene.pass(4);
    assert!(scene.executor.calls().is_empty(), "never early");
    scene.pass(1);
    let calls = scene.executor.calls();
    let [call] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!((call.tool.as_str(), call.attempt, call.purpose), ("http.get", 1, CallPurpose::Job));
    assert_eq!(call.args.to_string(), r#"{:url "https://api.example.com"}"#);
    assert_eq!((call.session.as_str(), call.timeout.millis()), ("s", 60_000));
    let (status, state, phase, reason, outcome) = scene.says(&id);
    assert_eq!(
        (status, state, phase, reason),
        (Status::Delivered, RunState::Delivered, Some(Phase::Call), None)
    );
    assert!(outcome.is_some_and(|outcome| outcome.ok));
}

#[test]
fn each_way_not_to_answer_fails_the_run() {
    #[track_caller]
    fn check(answer: CallAnswer, timeout_s: Option<u64>, expected: (Reason, &str)) {
        let scene = Scene::new();
        scene.executor.script(answer);
        let id = scene.create(CallVia::Any, timeout_s);
        scene.pass(5);
        scene.pass(70);
        let (status, state, phase, reason, _) = scene.says(&id);
        assert_eq!((status, state, phase), (Status::Failed, RunState::Failed, Some(Phase::Call)));
        let text = scene.handle.view(|state| {
            let run = state.newest_run(state.schedule(&id).expect("it is there")).expect("a run").run();
            run.failure.as_ref().map(|failure| failure.message.to_string())
        });
        assert_eq!((reason, text.as_deref()), (Some(expected.0), Some(expected.1)));
        let told = if expected.0 == Reason::TimedOut { 1 } else { 0 };
        assert_eq!(scene.executor.cancelled().len(), told, "the executor of a call in time is not told");
    }
    check(
        CallAnswer::AtOnce(Outcome::of_error("it went wrong", took())),
        None,
        (Reason::ToolFailed, "it went wrong"),
    );
    let unknown = Outcome::of_failure(Reason::ToolUnknown, "there is no tool http.get", Span::ZERO);
    check(CallAnswer::AtOnce(unknown), None, (Reason::ToolUnknown, "there is no tool http.get"));
    check(CallAnswer::Drop, None, (Reason::ToolFailed, "the executor gave no answer"));
    check(CallAnswer::Panic, None, (Reason::ToolFailed, "the executor gave no answer"));
    check(CallAnswer::Never, None, (Reason::TimedOut, "timed out after 60 seconds"));
    check(CallAnswer::Never, Some(30), (Reason::TimedOut, "timed out after 30 seconds"));
    let late = Outcome::of_value(Value::from(1), 1, took());
    check(
        CallAnswer::After(Span::from_millis(65_000), late),
        None,
        (Reason::TimedOut, "timed out after 60 seconds"),
    );
}

#[test]
fn a_call_that_was_not_made_is_made_again_as_its_policy_says() {
    let scene = Scene::new();
    let busy = Outcome::of_failure(Reason::TooManyCalls, "not now", Span::ZERO);
    scene.executor.script(CallAnswer::AtOnce(busy));
    let tool = tool("http.get");
    let policy = Policy { backoff: vec![Span::from_millis(7_000)], ..Policy::PLAIN };
    let new = NewSchedule {
        payload: Payload::Call(Box::new(Call::new(tool, Map::new()))),
        settings: Some(Box::new(Settings { policy, ..Settings::PLAIN })),
        ..NewSchedule::message(session("s"), When::After(Span::from_millis(1_000)), "")
    };
    let id = scene.handle.schedule(new).expect("it is accepted");
    scene.pass(1);
    assert_eq!(scene.says(&id).1, RunState::Queued);
    scene.pass(7);
    assert_eq!(scene.says(&id).1, RunState::Delivered);
    let attempts: Vec<u16> = scene.executor.calls().iter().map(|call| call.attempt).collect();
    assert_eq!(attempts, [1, 2]);
}

#[test]
fn only_a_call_of_the_hosts_waits_for_the_host() {
    let scene = Scene::new();
    let host = scene.handle.hosts().attach(Arc::new(SimHost::new(&scene.stage, HostId::new(1))));
    scene.executor.serve_host(&scene.handle, host);
    let sessions = vec![session("s")];
    let host_sessions = Command::HostSessions { host, sessions, busy: Some(false), by: None };
    scene.handle.submit(Input::Command(host_sessions.clone())).expect("it is connected");
    // A turn goes on: a call needs no lane.
    let busy = Report::Busy { session: session("s"), busy: true, by: None };
    scene.handle.submit(Input::Report(busy)).expect("it is open");
    let (any, hosts) = (scene.create(CallVia::Any, None), scene.create(CallVia::Host, None));
    scene.pass(5);
    assert_eq!((scene.says(&any).1, scene.says(&hosts).1), (RunState::Delivered, RunState::Delivered));
    let (any, hosts) = (scene.create(CallVia::Any, None), scene.create(CallVia::Host, None));
    scene.handle.submit(Input::Report(Report::HostLost { host })).expect("it was connected");
    scene.pass(5);
    assert_eq!((scene.says(&any).1, scene.says(&hosts).1), (RunState::Delivered, RunState::Queued));
    let waits = scene.handle.view(|state| state.waits_for(state.schedule(&hosts).expect("it is there")));
    assert_eq!(waits, Some(Reason::HostGone));
    let host = scene.handle.hosts().attach(Arc::new(SimHost::new(&scene.stage, HostId::new(2))));
    scene.executor.serve_host(&scene.handle, host);
    let sessions = vec![session("s")];
    let again = Command::HostSessions { host, sessions, busy: Some(false), by: None };
    scene.handle.submit(Input::Command(again)).expect("it is connected");
    assert_eq!(scene.says(&hosts).1, RunState::Delivered);
}

#[test]
fn without_an_executor_there_is_no_tool() {
    let stage = Stage::seeded(3);
    let handle = Handle::new(stage.parts(Arc::new(SimHost::new(&stage, HostId::LOCAL))));
    let scene = Scene { executor: Arc::new(SimExecutor::scripted(&stage)), stage, handle };
    open(&scene.handle, "s", reveille::domain::SessionConfig::default());
    let id = scene.create(CallVia::Any, None);
    scene.pass(5);
    assert_eq!(scene.says(&id).3, Some(Reason::ToolUnknown));
}

/// The call of a tool that always needs an approval was made for another session. A rule by the maker lets it wait, and once it
/// is approved it is made: who makes it and who hands it over go by the same rule.
#[test]
fn an_approved_call_is_made_by_the_rule_that_held_it() {
    let stage = Stage::seeded(3);
    let handle = Handle::new(stage.parts(Arc::new(SimHost::new(&stage, HostId::LOCAL))));
    let executor = Arc::new(SimExecutor::scripted(&stage));
    let mail = ToolSpec::reading(tool("mail.send"), "Simulated.", Map::new().with("type", "object").into());
    executor.offer(ToolSpec { approval: true, ..mail });
    executor.serve(&handle);
    open(&handle, "s", reveille::domain::SessionConfig::default());
    open(&handle, "maker", reveille::domain::SessionConfig::default());
    let of = RuleScope { sessions: vec![session("maker")], ..RuleScope::default() };
    let rule = Rule { name: "look".into(), of, then: Ruling::Hold, why: None };
    let approval = Some(Span::from_millis(600_000));
    let policy = Some(Arc::new(GuardPolicy { rules: vec![rule], approval, ..GuardPolicy::default() }));
    let operator = || Actor { scope: Scope::Operator, via: None, tool: None, as_model: false };
    handle.submit(Input::Command(Command::SetGuard { policy, by: operator() })).expect("an operator may");
    let call = Call { purpose: CallPurpose::Job, ..Call::new(tool("mail.send"), Map::new()) };
    let maker = Actor { scope: Scope::Session(session("maker")), via: None, tool: None, as_model: false };
    let new = NewSchedule {
        payload: Payload::Call(Box::new(call)),
        made_by: Some(Box::new(maker)),
        ..NewSchedule::message(session("s"), When::After(Span::from_millis(5_000)), "")
    };
    let scene = Scene { stage, handle, executor };
    let id = scene.handle.schedule(new).expect("it is accepted");
    scene.pass(5);
    assert!(scene.executor.calls().is_empty(), "it waits");
    let held = scene.handle.view(|state| {
        let run = state.newest_run(state.schedule(&id)?)?;
        Some((state.run_id(run)?, state.approval_digest(run)?))
    });
    let (run, digest) = held.expect("it waits for an operator");
    let approve = Command::Approve { run, digest, by: operator() };
    scene.handle.submit(Input::Command(approve)).expect("an operator may");
    scene.pass(1);
    let (status, _, _, reason, _) = scene.says(&id);
    assert_eq!((status, reason, scene.executor.calls().len()), (Status::Delivered, None, 1));
}

/// An operator closes a tool to sessions after its call was scheduled. Only what an operator has scheduled is called then.
#[test]
fn a_tool_that_is_closed_to_sessions_is_not_called_for_any_of_them() {
    let stage = Stage::seeded(3);
    let handle = Handle::new(stage.parts(Arc::new(SimHost::new(&stage, HostId::LOCAL))));
    let executor = Arc::new(SimExecutor::scripted(&stage));
    let deploy =
        ToolSpec::reading(tool("ops.deploy"), "Simulated.", Map::new().with("type", "object").into());
    executor.offer(ToolSpec { agents: false, ..deploy });
    executor.serve(&handle);
    open(&handle, "s", reveille::domain::SessionConfig::default());
    let scene = Scene { stage, handle, executor };
    let schedule = |by: &Caller| {
        let call = Call { purpose: CallPurpose::Job, ..Call::new(tool("ops.deploy"), Map::new()) };
        let new = NewSchedule {
            payload: Payload::Call(Box::new(call)),
            made_by: by.maker(&session("s"), None, None),
            ..NewSchedule::message(session("s"), When::After(Span::from_millis(5_000)), "")
        };
        scene.handle.schedule(new).expect("it is accepted")
    };
    let by_sessions = bound("s").map(|(who, caller)| (who, schedule(&caller)));
    let by_operator = schedule(&Caller::OPERATOR);
    scene.pass(5);
    for (who, id) in by_sessions {
        assert_eq!(scene.says(&id).3, Some(Reason::ToolNotAllowed), "{who}");
    }
    assert_eq!((scene.says(&by_operator).3, scene.executor.calls().len()), (None, 1));
}

fn tool(name: &str) -> ToolName {
    ToolName::new(name).expect("a name")
}

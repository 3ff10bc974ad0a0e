//! What is said of calls of `run_parallel` and `background_run` that are refused: the kind of each error, its class, and the
//! field that it is about.

use std::collections::BTreeSet;
use std::sync::Arc;

use reveille::dialect::primitives;
use reveille::domain::{
    Caller, GuardPolicy, PayloadKind, Rule, RuleScope, Ruling, Scope, SessionId, Span, ToolSpec,
};
use reveille::edn::Map;
use reveille::engine::{Command, Input};
use reveille::testkit::ToolPlan;
use serde_json::Value;

use super::world::{World, session, tool};

const RUN: &str = "run_parallel";
const TASK: &str = "background_run";

/// A refusal: the tool, the arguments, then kind, class and field of the error.
type Row = (&'static str, &'static str, &'static str, &'static str, Option<&'static str>);

/// Refusals that the arguments alone decide, or the tools that there are.
const ROWS: &[Row] = &[
    (RUN, r#""t.a""#, "not_an_object", "VALIDATION", None),
    (RUN, r#"{"action":[]}"#, "unknown_field", "VALIDATION", Some("action")),
    (RUN, "{}", "missing", "VALIDATION", Some("actions")),
    (RUN, r#"{"actions":7}"#, "not_actions", "VALIDATION", Some("actions")),
    (RUN, r#"{"actions":"[{"}"#, "not_actions", "VALIDATION", Some("actions")),
    (RUN, r#"{"actions":[]}"#, "no_actions", "VALIDATION", Some("actions")),
    (RUN, r#"{"actions":[{"name":"t.a"}],"timeout":0}"#, "out_of_range", "VALIDATION", Some("timeout")),
    (RUN, r#"{"actions":[{"name":"t.a"}],"timeout":301}"#, "out_of_range", "VALIDATION", Some("timeout")),
    (
        RUN,
        r#"{"actions":[{"name":"t.a"}],"timeout":1.5}"#,
        "not_a_whole_number",
        "VALIDATION",
        Some("timeout"),
    ),
    (RUN, r#"{"actions":[{"name":"t.no"},{"nme":"t.a"}]}"#, "nothing_called", "VALIDATION", None),
    (RUN, r#"{"actions":[{"name":"run_parallel"}]}"#, "nothing_called", "VALIDATION", None),
    (TASK, "7", "not_an_object", "VALIDATION", None),
    (TASK, r#"{"task":"x"}"#, "unknown_field", "VALIDATION", Some("task")),
    (TASK, "{}", "nothing_asked", "VALIDATION", None),
    (TASK, r#"{"name":7}"#, "not_a_string", "VALIDATION", Some("name")),
    (TASK, r#"{"name":"t.a","params":7}"#, "wrong_type", "VALIDATION", Some("params")),
    (TASK, r#"{"list_tasks":"yes"}"#, "not_a_boolean", "VALIDATION", Some("list_tasks")),
    (TASK, r#"{"cancel":true}"#, "task_id_missing", "VALIDATION", Some("task_id")),
    (TASK, r#"{"wait":true}"#, "task_id_missing", "VALIDATION", Some("task_id")),
    (TASK, r#"{"wait":true,"task_id":"x","timeout":0}"#, "out_of_range", "VALIDATION", Some("timeout")),
    (TASK, r#"{"task_id":"000000000000"}"#, "no_such_task", "NOT_FOUND", Some("task_id")),
    (TASK, r#"{"task_id":"000000000000","cancel":true}"#, "no_such_task", "NOT_FOUND", Some("task_id")),
    (TASK, r#"{"task_id":"000000000000","wait":true}"#, "no_such_task", "NOT_FOUND", Some("task_id")),
    (TASK, r#"{"name":"t.no"}"#, "no_such_tool", "NOT_FOUND", Some("name")),
    (TASK, r#"{"name":"echo"}"#, "no_such_tool", "NOT_FOUND", Some("name")),
    (TASK, r#"{"name":"t.closed"}"#, "tool_not_allowed", "FORBIDDEN", Some("name")),
    (TASK, r#"{"name":"t.held"}"#, "tool_not_allowed", "FORBIDDEN", Some("name")),
    (TASK, r#"{"name":"t.ruled"}"#, "tool_not_allowed", "FORBIDDEN", Some("name")),
    (TASK, r#"{"name":"t.sql"}"#, "wrong_arguments", "VALIDATION", Some("params.query")),
    (TASK, r#"{"name":"t.sql","params":{"q":1}}"#, "wrong_arguments", "VALIDATION", Some("params.query")),
    (TASK, r#"{"name":"t.sql","params":{"query":1}}"#, "wrong_arguments", "VALIDATION", Some("params.query")),
    (TASK, r#"{"name":"background_run"}"#, "tool_not_allowed", "FORBIDDEN", Some("name")),
    (TASK, r#"{"name":"t.fail"}"#, "task_failed", "CONFLICT", None),
];

/// A tool that says what it takes.
fn sql() -> ToolSpec {
    let schema = r#"{:type "object" :required ["query"] :properties {:query {:type "string"} :rows {:type "integer"}}}"#;
    let schema = reveille::edn::read(schema.as_bytes(), &reveille::dialect::REQUEST_CAPS).expect("EDN");
    ToolSpec::reading(tool("t.sql"), "A tool.", schema)
}

fn world() -> World {
    let spec = |name: &str| ToolSpec::reading(tool(name), "A tool.", Map::new().into());
    let world = World::new(|it| {
        it.with("t.a", ToolPlan::Echo)
            .with("t.fail", ToolPlan::Fail("exit code 2"))
            .with("t.hang", ToolPlan::Hang)
            .with("t.ruled", ToolPlan::Echo)
            .with("t.echo", ToolPlan::Echo)
            .with("u.echo", ToolPlan::Echo)
            .with_spec(ToolSpec { agents: false, ..spec("t.closed") }, ToolPlan::Echo)
            .with_spec(ToolSpec { approval: true, ..spec("t.held") }, ToolPlan::Echo)
            .with_spec(sql(), ToolPlan::Echo)
    });
    world.open("s");
    let of =
        RuleScope { kinds: vec![PayloadKind::Call], tools: vec!["t.ruled".into()], ..RuleScope::default() };
    let rule = Rule { name: "no".into(), of, then: Ruling::Refuse, why: None };
    let policy = Some(Arc::new(GuardPolicy { rules: vec![rule], ..GuardPolicy::default() }));
    let set = Command::SetGuard { policy, by: Scope::Operator.into() };
    world.handle.submit(Input::Command(set)).expect("no rule is wrong");
    world
}

/// The error that a call is answered with.
#[track_caller]
fn error(world: &World, caller: &Caller, (tool, args): (&str, &str)) -> Value {
    let (said, _waiter) = world.begin(tool, caller, args);
    world.run_for(0);
    let text = said.text();
    let answer: Value = serde_json::from_str(&text).unwrap_or_else(|_| unreachable!("{args}: {text}"));
    assert!(said.is_error(), "{args}: {answer}");
    assert_eq!(answer["status"], "error", "{args}: {answer}");
    answer["error"].clone()
}

#[track_caller]
fn check(error: &Value, (args, kind, class, field): (&str, &str, &str, Option<&str>)) {
    let found = (error["kind"].as_str(), error["class"].as_str(), error["field"].as_str());
    assert_eq!(found, (Some(kind), Some(class), field), "{args}: {error}");
    assert!(error["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{args}: {error}");
    // A model has tools, and no HTTP.
    assert!(!error.to_string().contains("GET /"), "{args}: {error}");
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{args}: {error}");
}

fn model(of: SessionId) -> Caller {
    // With the session's own token, for which tools can be closed.
    Caller { scope: Scope::Session(of), ..crate::simulated::token("s") }
}

/// T2: each refusal of a call says what it is, of which class, and about which field.
#[test]
fn a_refusal_says_its_kind_its_class_and_its_field() {
    for (who, caller) in crate::simulated::bound("s") {
        for (tool, args, kind, class, field) in ROWS {
            let asked = format!("{who}: {args}");
            check(&error(&world(), &caller, (tool, args)), (asked.as_str(), *kind, *class, *field));
        }
    }
}

/// T2: what has a bound, and callers that are no session.
#[test]
fn a_refusal_by_a_bound_or_by_the_caller_says_so_too() {
    let world = world();
    let caller = model(session("s"));
    let many = format!(r#"{{"actions":[{}]}}"#, vec![r#"{"name":"t.a"}"#; 51].join(","));
    let too_many = error(&world, &caller, (RUN, &many));
    check(&too_many, ("51", "too_long", "LIMIT", Some("actions")));
    let value = too_many["value"].as_str().expect("the beginning of its text");
    assert!(value.starts_with(r#"[{"name":"t.a"},{"name":"t.a"},"#) && value.ends_with('…'), "{value}");
    let one = r#"{"actions":[{"name":"t.a"}]}"#;
    check(&error(&world, &Caller::OPERATOR, (RUN, one)), (one, "no_session", "VALIDATION", None));
    let list = r#"{"list_tasks":true}"#;
    check(&error(&world, &Caller::OPERATOR, (TASK, list)), (list, "no_session", "VALIDATION", None));
    for _ in 0..100 {
        drop(world.begin(TASK, &caller, r#"{"name":"t.hang"}"#));
    }
    let more = r#"{"name":"t.hang"}"#;
    check(&error(&world, &caller, (TASK, more)), (more, "limit_reached", "LIMIT", None));
}

/// T2: of each kind in the index of errors there is a row here, so that a new one is not forgotten.
#[test]
fn every_kind_in_the_index_has_a_row() {
    // A task is lost in a restart, which `durable::lost` has.
    let elsewhere = ["no_session", "task_lost"];
    let shown: BTreeSet<&str> = ROWS.iter().map(|row| row.2).chain(elsewhere).collect();
    for (kind, class, _) in primitives::errors() {
        assert!(shown.contains(kind), "{kind} has no row");
        let of_rows: BTreeSet<&str> = ROWS.iter().filter(|row| row.2 == kind).map(|row| row.3).collect();
        assert!(of_rows.is_empty() || of_rows == BTreeSet::from([class.name()]), "{kind}: {of_rows:?}");
    }
}

/// The arguments of each call are checked against the schema of its tool before any of them is made.
#[test]
fn the_arguments_of_each_call_are_those_that_its_tool_takes() {
    let world = world();
    let items = r#"{"actions":[{"name":"t.sql","params":{"q":1}},{"name":"t.sql","params":{"query":"x","rows":2.5}},
        {"name":"t.sql","params":{"query":"x","rows":2.0}}]}"#;
    let (said, _waiter) = world.begin(RUN, &model(session("s")), items);
    world.run_for(0);
    let answer: Value = serde_json::from_str(&said.text()).expect("JSON");
    let errors: Vec<&str> = (0..3).filter_map(|at| answer["results"][at]["error"].as_str()).collect();
    let rows = "params.rows must be of type integer, not float";
    assert_eq!(errors, ["params.query is required by the tool", rows], "{answer}");
    assert_eq!((&answer["succeeded"], world.executor.calls().len()), (&Value::from(1), 1), "{answer}");
}

/// T1, T2: as many calls as one may make are made, all of them, in order.
#[test]
fn fifty_calls_are_as_many_as_one_may_make() {
    let world = World::new(|it| {
        let slow = ToolPlan::After(Span::from_millis(1_000), "slow".into());
        it.with("t.echo", ToolPlan::Echo).with("t.slow", slow)
    });
    world.open("s");
    let item = |at: usize| match at {
        1 => r#"{"name":"t.slow"}"#.to_owned(),
        at => format!(r#"{{"name":"t.echo","params":{{"at":{at}}}}}"#),
    };
    let items: Vec<String> = (0..50).map(item).collect();
    let (said, _waiter) =
        world.begin(RUN, &model(session("s")), &format!(r#"{{"actions":[{}]}}"#, items.join(",")));
    world.run_for(1_000);
    let answer: Value = serde_json::from_str(&said.text()).expect("JSON");
    let results = answer["results"].as_array().expect("results");
    let in_order = results.iter().enumerate().all(|(at, result)| {
        result["index"] == at && (at == 1 || result["data"]["at"] == at) && result["success"] == true
    });
    assert!(in_order && results.len() == 50, "{answer}");
    assert_eq!(
        (&answer["total"], &answer["succeeded"], &answer["failed"]),
        (&50.into(), &50.into(), &0.into())
    );
}

/// An example works when it is sent as it stands, or there is none.
#[test]
fn the_example_of_a_refusal_works_or_is_not_there() {
    let world = world();
    let caller = model(session("s"));
    let (said, _waiter) = world.begin(TASK, &caller, r#"{"name":"t.hang"}"#);
    world.run_for(1_000);
    let launched: Value = serde_json::from_str(&said.text()).expect("JSON");
    let wait = format!(r#"{{"task_id":{},"wait":"true"}}"#, launched["task_id"]);
    for (tool, args, has_example) in [
        (TASK, r#"{"name":"t.a","args":{"n":1}}"#, true),
        (TASK, r#"{"list_tasks":"true"}"#, true),
        (TASK, wait.as_str(), true),
        (RUN, r#"{"actions":[{"name":"t.a"},{"name":"t.no"}],"timeout":"10"}"#, true),
        // What is named is not there, or not to be had.
        (TASK, r#"{"name":"t.no","args":{"n":1}}"#, false),
        (TASK, r#"{"name":"t.closed","args":{}}"#, false),
        (TASK, r#"{"name":"t.sql","args":{"query":5}}"#, false),
        (TASK, r#"{"task_id":"a1b2c3d4e5f6","wait":"true"}"#, false),
        (TASK, r#"{"task_id":"a1b2c3d4e5f6","cancel":"true"}"#, false),
        (RUN, r#"{"actions":[{"name":"t.no"}],"timeout":"10"}"#, false),
    ] {
        let error = error(&world, &caller, (tool, args));
        assert_eq!(error.get("example").is_some(), has_example, "{args}: {error}");
        let Some(example) = error.get("example") else { continue };
        let (said, _waiter) = world.begin(tool, &caller, &example.to_string());
        world.run_for(0);
        assert!(!said.is_error(), "{example}: {}", said.text());
    }
    // An example is tried without effect: only what was sent has been called.
    assert_eq!(world.executor.calls().len(), 3);
}

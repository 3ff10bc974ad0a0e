//! What a session is told of a call that an operator has to approve first.

use std::sync::Arc;

use reveille::domain::{Caller, GuardPolicy, Rule, RuleScope, Ruling, ScheduleId, Scope, Span};
use reveille::edn::Value;
use reveille::engine::{Command, Input};
use reveille::testkit::ToolPlan;

use super::world::{Said, World, session};

const LAUNCH: &str = r#"{"name":"ci.deploy"}"#;

/// A world in which an operator approves each call of a tool, if `has_approvals`.
fn world(has_approvals: bool) -> World {
    let world = World::new(|it| it.with("ci.deploy", ToolPlan::Answer(Value::from("done"))));
    world.open("s");
    let of = RuleScope { tools: vec!["ci.deploy".into()], ..RuleScope::default() };
    let rule = Rule { name: "look".into(), of, then: Ruling::Hold, why: None };
    let approval = has_approvals.then(|| Span::from_millis(600_000));
    let policy = Some(Arc::new(GuardPolicy { rules: vec![rule], approval, ..GuardPolicy::default() }));
    let set = Command::SetGuard { policy, by: Scope::Operator.into() };
    world.handle.submit(Input::Command(set)).expect("no rule is wrong");
    world
}

fn ask(world: &World, args: &str) -> Said {
    let (said, _waiter) = world.begin("background_run", &Caller::session(session("s")).as_model(), args);
    // A launch is answered after a moment in which it could have failed, a wait after its time.
    world.run_for(1_000);
    said
}

fn approve(world: &World, task: &str) {
    let held = world.handle.view(|state| {
        let run = state.newest_run(state.schedule(&ScheduleId::new(task).ok()?)?)?;
        Some((state.run_id(run)?, state.approval_digest(run)?))
    });
    let (run, digest) = held.expect("it waits for an operator");
    let approve = Command::Approve { run, digest, by: Scope::Operator.into() };
    world.handle.submit(Input::Command(approve)).expect("an operator may");
    world.run_for(0);
}

#[test]
fn a_task_that_waits_for_an_approval_says_so_until_it_is_approved() {
    let world = world(true);
    let launched = ask(&world, LAUNCH).text();
    let id =
        launched.split("\"task_id\":\"").nth(1).and_then(|rest| rest.get(..12)).expect(&launched).to_owned();
    let (status, wait) =
        (format!(r#"{{"task_id":"{id}"}}"#), format!(r#"{{"task_id":"{id}","wait":true,"timeout":1}}"#));
    for said in [&launched, &ask(&world, &status).text(), &ask(&world, &wait).text()] {
        assert!(
            said.contains(r#""status":"running""#) && said.contains(r#""waits_for":"approval""#),
            "{said}"
        );
        assert!(said.contains("an operator has to approve this call before it is made"), "{said}");
    }
    let listed = ask(&world, r#"{"list_tasks":true}"#).text();
    assert!(listed.contains(r#""waits_for":"approval""#), "{listed}");
    assert!(world.executor.calls().is_empty());
    approve(&world, &id);
    // Four seconds have passed since the launch: what is told of the task and its status count them alike.
    let head = format!("[BACKGROUND TASK COMPLETED] task_id={id} tool=ci.deploy elapsed=4.0s");
    assert!(world.told().first().is_some_and(|told| told.starts_with(&head)), "{:?}", world.told());
    let said = ask(&world, &status).text();
    assert!(
        said.contains(r#""status":"completed","elapsed_seconds":4.0"#) && !said.contains("waits_for"),
        "{said}"
    );
}

#[test]
fn a_call_at_once_of_what_needs_an_approval_says_what_waits_for_it() {
    let at_once = format!(r#"{{"actions":[{LAUNCH}]}}"#);
    for (has_approvals, error) in [
        (true, "requires approval, which run_parallel does not wait for: call it with background_run."),
        (false, "requires approval but no approval queue available."),
    ] {
        let world = world(has_approvals);
        let (said, _) = world.begin("run_parallel", &Caller::session(session("s")).as_model(), &at_once);
        assert!(said.is_error() && said.text().contains(error), "{}", said.text());
    }
}

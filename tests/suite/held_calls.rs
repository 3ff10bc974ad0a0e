//! Scheduled calls that wait for an operator: how long, and what their session is told if nobody approves (T51, T53).

use std::sync::Arc;

use reveille::domain::{
    Actor, GuardPolicy, Reason, Rule, RuleScope, Ruling, RunState, ScheduleId, Scope, Span,
};
use reveille::edn::{Map, Value};
use reveille::engine::{Command, Input};
use reveille::testkit::CallAnswer;

use crate::watching::{Scene, fine};

fn operator() -> Actor {
    Actor { scope: Scope::Operator, via: None, tool: None, as_model: false }
}

/// A scene in which an operator has so long to approve a call of `mail.send`.
pub(crate) fn scene(seconds: u64) -> Scene {
    let scene = Scene::new();
    let of = RuleScope { tools: vec!["mail.send".into()], ..RuleScope::default() };
    let rules = vec![Rule { name: "mail".into(), of, then: Ruling::Hold, why: None }];
    let approval = Some(Span::from_millis(seconds * 1_000));
    let policy = Some(Arc::new(GuardPolicy { rules, approval, ..GuardPolicy::default() }));
    let set = Command::SetGuard { policy, by: operator() };
    scene.handle().submit(Input::Command(set)).expect("an operator may");
    scene
}

fn call(scene: &Scene) -> Map {
    scene.call("schedule", r#"{"when" "in 1s" "action" "mail.send" "name" "x"}"#)
}

/// How the call of the job `x` stands, and why: the oldest run, which comes before what is told of it.
fn standing(scene: &Scene) -> (RunState, Option<Reason>) {
    let id = ScheduleId::new("cron_default_x").expect("an id");
    scene.handle().view(|state| {
        let record = state.schedule(&id).expect("it is there");
        let (_, run) = state.runs_of(record).last().expect("it has a run");
        (run.run().state, run.run().reason)
    })
}

fn approve(scene: &Scene) {
    let id = ScheduleId::new("cron_default_x").expect("an id");
    let (run, digest) = scene.handle().view(|state| {
        let record = state.schedule(&id).expect("it is there");
        let run = state.newest_run(record).expect("it has a run");
        (state.run_id(run).expect("it has an id"), state.approval_digest(run).expect("it waits"))
    });
    let approve = Command::Approve { run, digest, by: operator() };
    scene.handle().submit(Input::Command(approve)).expect("it waits");
    scene.handle().run_due();
}

/// The time of a call is a minute, and an operator may take longer than that.
#[test]
fn a_call_waits_for_its_approval_longer_than_it_may_take() {
    let scene = scene(3_600);
    scene.script(&[fine("1")]);
    call(&scene);
    scene.pass(600);
    assert_eq!((standing(&scene), scene.told().len()), ((RunState::Queued, None), 0));
    approve(&scene);
    scene.pass(2);
    let told = scene.told();
    assert_eq!((scene.executor.calls().len(), told.len()), (1, 1), "{told:?}");
    assert!(told[0].ends_with(" status=ok\nResult: 1"), "{told:?}");
}

/// The minute begins when the call is approved.
#[test]
fn a_call_that_was_approved_has_its_whole_time() {
    let scene = scene(3_600);
    scene.executor.script(CallAnswer::Never);
    call(&scene);
    scene.pass(600);
    approve(&scene);
    scene.pass(58);
    assert_eq!((standing(&scene).0, scene.told().len()), (RunState::InFlight, 0));
    scene.pass(4);
    assert!(scene.told()[0].ends_with("\nError: timed out after 60 seconds"), "{:?}", scene.told());
}

/// What is approved while everything is held waits, and no longer than it may take.
#[test]
fn an_approved_call_does_not_wait_for_ever() {
    let scene = scene(3_600);
    call(&scene);
    scene.pass(600);
    let hold = Command::HoldAll { by: operator(), reason: None };
    scene.handle().submit(Input::Command(hold)).expect("an operator may");
    approve(&scene);
    scene.pass(58);
    assert_eq!(standing(&scene).0, RunState::Queued);
    scene.pass(4);
    assert_eq!(standing(&scene), (RunState::Failed, Some(Reason::TimedOut)));
    assert!(scene.executor.calls().is_empty());
}

#[test]
fn a_session_is_told_that_nobody_has_approved_its_call() {
    let scene = scene(300);
    call(&scene);
    scene.pass(299);
    assert!(scene.told().is_empty());
    scene.pass(4);
    let told = scene.told();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains(" status=error\nError: nobody approved it in time"), "{told:?}");
    assert_eq!(standing(&scene), (RunState::Failed, Some(Reason::ApprovalExpired)));
    assert!(scene.executor.calls().is_empty());
}

#[test]
fn the_answer_says_that_an_operator_must_approve() {
    let scene = scene(300);
    let answer = call(&scene);
    let warnings = answer.keyword("warnings").map(Value::to_string).unwrap_or_default();
    assert!(warnings.contains("an operator must approve each call of mail.send"), "{answer:?}");
    let plain = scene.call("schedule", r#"{"when" "in 5m" "action" "http.get"}"#);
    assert!(!format!("{plain:?}").contains("must approve"), "{plain:?}");
}

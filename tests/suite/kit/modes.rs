//! `background_run` where its modes meet: which of two counts, what a wait is answered, and who is told in the end.

use reveille::domain::{Caller, ScheduleId, Scope, Span};
use reveille::edn::Value;
use reveille::engine::{Command, Input, State, Which};
use reveille::service::Waiter;
use reveille::testkit::ToolPlan;

use super::world::{Said, World, session};

fn after(millis: u64) -> ToolPlan {
    ToolPlan::After(Span::from_millis(millis), Value::from("done"))
}

fn world() -> World {
    let world = World::new(|it| {
        it.with("ci.build", after(5_000)).with("ci.hang", ToolPlan::Hang).with("ci.echo", ToolPlan::Echo)
    });
    world.open("s");
    world
}

fn ask(world: &World, args: &str) -> (Said, Option<Waiter>) {
    world.begin("background_run", &Caller::session(session("s")).as_model(), args)
}

/// The id of a task that was just launched and goes on.
#[track_caller]
fn launch(world: &World, tool: &str) -> String {
    let (said, _waiter) = ask(world, &format!(r#"{{"name":"{tool}"}}"#));
    world.run_for(300);
    let text = said.text();
    let id = text.split("\"task_id\":\"").nth(1).and_then(|rest| rest.get(..12));
    id.unwrap_or_else(|| unreachable!("{text}")).to_owned()
}

#[track_caller]
fn check(world: &World, args: &str, part: &str) {
    let text = ask(world, args).0.text();
    assert!(text.contains(part), "{args}: {text}");
}

/// T19: of each pair of modes the one that comes first in list, cancel, wait, status, launch counts.
#[test]
fn of_two_modes_the_earlier_one_counts() {
    for (pair, part) in [
        (r#""list_tasks":true,"cancel":true"#, r#""total":1,"#),
        (r#""list_tasks":true,"wait":true"#, r#""total":1,"#),
        (r#""list_tasks":true,"task_id":"ID""#, r#""total":1,"#),
        (r#""list_tasks":true,"name":"ci.echo""#, r#""total":1,"#),
        (r#""cancel":true,"wait":true,"task_id":"ID""#, r#""stopped":"asked""#),
        (r#""cancel":true,"task_id":"ID""#, r#""stopped":"asked""#),
        (r#""cancel":true,"task_id":"ID","name":"ci.echo""#, r#""stopped":"asked""#),
        (r#""task_id":"ID","name":"ci.echo""#, r#""tool_name":"ci.hang","status":"running""#),
        // What is false is not asked for.
        (r#""list_tasks":false,"cancel":false,"wait":false,"task_id":"ID""#, r#""status":"running""#),
    ] {
        let world = world();
        let id = launch(&world, "ci.hang");
        check(&world, &format!("{{{}}}", pair.replace("ID", &id)), part);
        assert_eq!(world.executor.calls().len(), 1, "{pair}: nothing else is called");
    }
    let world = world();
    let id = launch(&world, "ci.build");
    let (said, _waiter) = ask(&world, &format!(r#"{{"wait":true,"task_id":"{id}","name":"ci.echo"}}"#));
    assert_eq!(said.text(), "", "it waits");
    world.run_for(4_700);
    assert!(said.text().contains(r#""tool_name":"ci.build","status":"completed""#), "{}", said.text());
    assert_eq!(world.executor.calls().len(), 1);
}

/// T19: to cancel and to wait need a task, whatever else is said; nothing is called instead.
#[test]
fn a_cancel_and_a_wait_need_a_task() {
    let world = world();
    check(&world, r#"{"cancel":true}"#, "cancel needs task_id");
    check(&world, r#"{"wait":true}"#, "wait needs task_id");
    check(&world, r#"{"cancel":true,"name":"ci.echo"}"#, "cancel needs task_id");
    check(&world, r#"{"wait":true,"timeout":5,"name":"ci.echo"}"#, "wait needs task_id");
    check(&world, r#"{"cancel":true,"wait":true}"#, "cancel needs task_id");
    assert!(world.executor.calls().is_empty());
}

/// T20: the bounds on how long a wait may be.
#[test]
fn a_wait_is_from_a_second_to_an_hour() {
    let world = world();
    let id = launch(&world, "ci.hang");
    let wait = |timeout: &str| format!(r#"{{"wait":true,"task_id":"{id}","timeout":{timeout}}}"#);
    for wrong in ["0", "-1", "3601"] {
        check(&world, &wait(wrong), "timeout must be from 1 to 3600");
    }
    check(&world, &wait("0.9"), "timeout must be a whole number");
    // The longest, by somebody who goes.
    let (said, waiter) = ask(&world, &wait("3600"));
    world.run_for(10_000);
    assert_eq!(said.text(), "");
    drop(waiter);
    let (said, _waiter) = ask(&world, &wait("1"));
    world.run_for(999);
    assert_eq!(said.text(), "");
    world.run_for(1);
    assert!(!said.is_error() && said.text().contains(r#""status":"running""#), "{}", said.text());
}

/// T22: who cancels what has ended already is told so, with what it came to.
#[test]
fn a_task_that_has_ended_is_not_cancelled_and_says_what_it_came_to() {
    let world = world();
    let id = launch(&world, "ci.build");
    world.run_for(5_000);
    let cancel = format!(r#"{{"task_id":"{id}","cancel":true}}"#);
    check(&world, &cancel, r#""message":"already completed""#);
    check(&world, &cancel, r#""status":"completed","elapsed_seconds":5.0"#);
    check(&world, &cancel, r#""result":"done""#);
    assert!(world.executor.cancelled().is_empty(), "the executor has nothing to end");
    assert_eq!(world.told().len(), 1, "it was told once, as any task");
}

/// T9, T14, T22: the executor is told at the very moment in which nobody waits any more, not a second later.
#[test]
fn an_executor_is_told_at_once_that_nobody_waits() {
    let world = world();
    let caller = Caller::session(session("s")).as_model();
    let items = r#"{"actions":[{"name":"ci.hang"},{"name":"ci.build"}]}"#;
    let (_said, waiter) = world.begin("run_parallel", &caller, items);
    world.run_for(100);
    // From here on no time passes, and nothing that is due is done.
    drop(waiter);
    assert_eq!(world.executor.cancelled().len(), 2, "the caller is gone");
    let id = launch(&world, "ci.hang");
    check(&world, &format!(r#"{{"task_id":"{id}","cancel":true}}"#), r#""stopped":"asked""#);
    assert_eq!(world.executor.cancelled().len(), 3, "somebody has cancelled it");
    let _task = launch(&world, "ci.hang");
    world.handle.close_session(&session("s")).expect("it is open");
    assert_eq!(world.executor.cancelled().len(), 4, "its session is closed");
    assert_eq!(world.handle.calls().in_use().in_flight, 0);
}

/// T21: a wait whose time is over in the moment in which its task ends. Whichever comes first, either the caller has the end
/// or the session is told, and never both.
#[test]
fn a_wait_and_its_task_that_end_together_are_told_of_once() {
    for is_task_first in [true, false] {
        let world = world();
        let id = launch(&world, "ci.build");
        // The task ends 5 s after its launch, and so does the wait.
        world.run_for(700);
        let (said, _waiter) = ask(&world, &format!(r#"{{"task_id":"{id}","wait":true,"timeout":4}}"#));
        if is_task_first {
            world.run_for(4_000);
        } else {
            world.stage.clock.advance(Span::from_millis(4_000));
            world.handle.run_due();
        }
        let expected = if is_task_first { "completed" } else { "running" };
        assert!(said.text().contains(&format!(r#""status":"{expected}""#)), "{}", said.text());
        world.run_for(10_000);
        assert_eq!(world.told().len(), usize::from(!is_task_first));
    }
}

/// T21: of two who wait, one goes. The other one has the end, and the session is not told.
#[test]
fn a_task_is_not_told_of_while_somebody_still_waits() {
    let world = world();
    let id = launch(&world, "ci.build");
    let wait = format!(r#"{{"task_id":"{id}","wait":true}}"#);
    let ((first, _waiter), (second, goes)) = (ask(&world, &wait), ask(&world, &wait));
    drop(goes);
    world.run_for(10_000);
    assert!(first.text().contains(r#""status":"completed""#), "{}", first.text());
    assert_eq!((second.text().as_str(), world.told()), ("", vec![]));
}

/// T21, T22: a task that is ended from elsewhere while somebody waits for it: the wait is over at once.
#[test]
fn a_wait_ends_with_the_cancel_of_its_task() {
    let world = world();
    let id = launch(&world, "ci.hang");
    let (said, _waiter) = ask(&world, &format!(r#"{{"task_id":"{id}","wait":true}}"#));
    let which = Which::any(Scope::Session(session("s")), ScheduleId::new(&id).expect("an id"));
    world.handle.submit(Input::Command(Command::CancelCall(which))).expect("it goes on");
    assert!(said.text().contains(r#""status":"cancelled""#), "{}", said.text());
    world.executor.answer_all();
    world.run_for(10_000);
    assert_eq!(world.told(), Vec::<String>::new(), "and a late outcome is nobody's");
}

/// T21: a task whose time is up, or that an operator cancels, while somebody waits for it. The caller has the end, and the
/// session is not told.
#[test]
fn a_wait_has_the_end_of_a_task_that_did_not_end_by_itself() {
    for is_cancelled in [true, false] {
        let world = world();
        let id = launch(&world, "ci.hang");
        let (said, _waiter) = ask(&world, &format!(r#"{{"task_id":"{id}","wait":true,"timeout":3600}}"#));
        if is_cancelled {
            let which = Which::any(Scope::Operator, ScheduleId::new(&id).expect("an id"));
            world.handle.submit(Input::Command(Command::CancelCall(which))).expect("it goes on");
        }
        // Its time is an hour from its launch, which was a little before.
        world.run_for(3_599_900);
        let expected = if is_cancelled { "cancelled" } else { "failed" };
        assert!(said.text().contains(&format!(r#""status":"{expected}""#)), "{}", said.text());
        assert_eq!(world.told(), Vec::<String>::new());
    }
}

/// T26: nobody hears what a task comes to whose process ends before it.
#[test]
fn a_task_that_is_out_would_be_lost_with_the_process() {
    let world = world();
    let id = launch(&world, "ci.build");
    let (count, named) = world.handle.view(|state| (state.volatile_count(), state.losable()));
    assert_eq!((count, named.len(), &*named[0].id.to_string()), (1, 1, &*id));
    world.run_for(10_000);
    assert_eq!(world.handle.view(State::volatile_count), 0);
}

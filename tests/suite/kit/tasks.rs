//! `background_run`: its modes, what is answered and what the session is told.

use reveille::domain::{Caller, HostId, Refusal, ScheduleId, Scope, SessionConfig, Span};
use reveille::edn::Value;
use reveille::engine::{Command, Input, Which};
use reveille::service::Waiter;
use reveille::testkit::ToolPlan;

use super::world::{Said, World, session};

fn after(millis: u64) -> ToolPlan {
    ToolPlan::After(Span::from_millis(millis), Value::from("done"))
}

fn world() -> World {
    let world = World::new(|it| {
        it.with("ci.build", after(5_000))
            .with("ci.quick", after(200))
            .with("ci.hang", ToolPlan::Hang)
            .with("ci.fail", ToolPlan::Fail("exit code 2"))
            .with("ci.panic", ToolPlan::Panic)
    });
    world.open("s");
    world
}

fn ask(world: &World, args: &str) -> (Said, Option<Waiter>) {
    world.begin("background_run", &Caller::session(session("s")).as_model(), args)
}

/// The id of a task that was just launched and goes on.
fn launch(world: &World, tool: &str) -> String {
    let (said, _waiter) = ask(world, &format!(r#"{{"name":"{tool}"}}"#));
    world.run_for(300);
    let text = said.text();
    let id = text.split("\"task_id\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    assert!(id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
    assert!(
        text.contains(&format!(r#""tool_name":"{tool}","status":"running","elapsed_seconds":0.3"#)),
        "{text}"
    );
    id.to_owned()
}

/// T18.
#[test]
fn a_task_is_launched_and_its_session_is_told_of_the_end() {
    let world = world();
    let id = launch(&world, "ci.build");
    let (said, _) = ask(&world, &format!(r#"{{"task_id":"{id}"}}"#));
    assert!(said.text().contains(r#""status":"running","elapsed_seconds":0.3"#), "{}", said.text());
    world.run_for(4_699);
    assert_eq!(world.told(), Vec::<String>::new());
    world.run_for(1);
    let expected =
        format!("[BACKGROUND TASK COMPLETED] task_id={id} tool=ci.build elapsed=5.0s\nResult: \"done\"");
    assert_eq!(world.told(), [expected]);
    let (said, _) = ask(&world, &format!(r#"{{"task_id":"{id}"}}"#));
    assert!(said.text().contains(r#""status":"completed","elapsed_seconds":5.0"#), "{}", said.text());
    assert!(said.text().contains(r#""result":"done""#), "{}", said.text());
}

/// T18.
#[test]
fn what_ends_at_once_is_answered_and_not_told() {
    let world = world();
    let (said, _waiter) = ask(&world, r#"{"name":"ci.quick"}"#);
    world.run_for(200);
    assert!(said.text().contains(r#""status":"completed""#), "{}", said.text());
    for (tool, error) in [("ci.fail", "exit code 2"), ("ci.panic", "the executor panicked")] {
        let (said, _waiter) = ask(&world, &format!(r#"{{"name":"{tool}"}}"#));
        world.run_for(0);
        let expected = format!("Background task failed immediately: {error}");
        assert!(said.is_error() && said.text().contains(&expected), "{}", said.text());
    }
    world.run_for(10_000);
    assert_eq!(world.told(), Vec::<String>::new());
}

/// T19, T22.
#[test]
fn the_first_mode_that_fits_counts() {
    let world = world();
    let id = launch(&world, "ci.hang");
    for (args, part) in [
        (
            r#"{"list_tasks":true,"cancel":true,"wait":true,"name":"x"}"#,
            r#""total":1,"running":1,"completed":0,"failed":0"#,
        ),
        (r#"{"cancel":true,"wait":true}"#, "cancel needs task_id"),
        (r#"{"wait":true,"name":"ci.fail"}"#, "wait needs task_id"),
        (r#"{"wait":true,"task_id":"ID","timeout":3601}"#, "timeout must be from 1 to 3600"),
        (r#"{"wait":true,"task_id":"ID","timeout":0.9}"#, "timeout must be a whole number"),
        (r#"{"task_id":"ID","name":"ci.fail"}"#, r#""status":"running""#),
        ("{}", "nothing is asked for"),
        (r#"{"task_id":"000000000000"}"#, "Task '000000000000' not found"),
        (r#"{"task_id":"000000000000","cancel":true}"#, "Task '000000000000' not found"),
        (r#"{"task_id":"000000000000","wait":true}"#, "Task '000000000000' not found"),
        (r#"{"name":"ci.biuld"}"#, "Did you mean 'ci.build'?"),
        (r#"{"name":"run_parallel"}"#, "cannot be called by another call"),
        (
            r#"{"task_id":"ID","cancel":true}"#,
            r#""status":"cancelled","elapsed_seconds":0.3,"stopped":"asked""#,
        ),
        (r#"{"task_id":"ID","cancel":true}"#, r#""message":"already cancelled""#),
    ] {
        let text = ask(&world, &args.replace("ID", &id)).0.text();
        assert!(text.contains(part), "{args}: {text}");
    }
    assert_eq!(world.executor.cancelled().len(), 1);
    world.executor.answer_all();
    world.run_for(10_000);
    assert_eq!(world.told(), Vec::<String>::new(), "who cancels is not told");
}

/// T20.
#[test]
fn who_waits_gets_the_end_and_is_not_told_again() {
    let world = world();
    let id = launch(&world, "ci.build");
    let (said, _waiter) = ask(&world, &format!(r#"{{"task_id":"{id}","wait":true}}"#));
    world.run_for(4_699);
    assert_eq!(said.text(), "");
    world.run_for(1);
    assert!(said.text().contains(r#""status":"completed""#), "{}", said.text());
    world.run_for(10_000);
    assert_eq!(world.told(), Vec::<String>::new());
    // Ended already.
    let (said, _) = ask(&world, &format!(r#"{{"task_id":"{id}","wait":true}}"#));
    assert!(said.text().contains(r#""status":"completed""#), "{}", said.text());
    // The time is over, or the caller is gone: the session is told.
    let id = launch(&world, "ci.build");
    let (said, _waiter) = ask(&world, &format!(r#"{{"task_id":"{id}","wait":true,"timeout":2}}"#));
    world.run_for(2_000);
    assert!(!said.is_error() && said.text().contains(r#""status":"running""#), "{}", said.text());
    let (said, waiter) = ask(&world, &format!(r#"{{"task_id":"{id}","wait":true}}"#));
    drop(waiter);
    world.run_for(10_000);
    assert_eq!((said.text().as_str(), world.told().len()), ("", 1));
}

/// T22.
#[test]
fn tasks_of_others_are_not_there_and_an_operator_s_cancel_is_told() {
    let world = world();
    let id = launch(&world, "ci.hang");
    world.open("other");
    let other = Caller::session(session("other")).as_model();
    for args in
        [r#"{"task_id":"ID"}"#, r#"{"task_id":"ID","cancel":true}"#, r#"{"task_id":"ID","wait":true}"#]
    {
        let text = world.begin("background_run", &other, &args.replace("ID", &id)).0.text();
        assert!(text.contains("not found"), "{text}");
    }
    let which = Which::any(Scope::Operator, ScheduleId::new(&id).expect("an id"));
    world.handle.submit(Input::Command(Command::CancelCall(which))).expect("it goes on");
    world.run_for(0);
    let expected = format!("[BACKGROUND TASK CANCELLED] task_id={id} tool=ci.hang elapsed=0.3s");
    assert!(world.told().first().is_some_and(|told| told.starts_with(&expected)), "{:?}", world.told());
}

/// What was launched while everything is held is cancelled before it begins, and a caller that waits for it gets its end.
#[test]
fn a_task_that_has_not_begun_is_cancelled() {
    let world = world();
    let submit = |command| world.handle.submit(Input::Command(command)).expect("an operator may");
    submit(Command::HoldAll { by: Scope::Operator.into(), reason: None });
    let id = launch(&world, "ci.build");
    let (end, _waiter) = ask(&world, &format!(r#"{{"task_id":"{id}","wait":true}}"#));
    let (said, _) = ask(&world, &format!(r#"{{"task_id":"{id}","cancel":true}}"#));
    assert!(said.text().contains(r#""status":"cancelled""#), "{}", said.text());
    world.run_for(0);
    assert!(end.text().contains(r#""status":"cancelled""#), "{}", end.text());
    submit(Command::ReleaseAll { by: Scope::Operator.into() });
    world.run_for(10_000);
    assert_eq!((world.executor.calls().len(), world.told().len()), (0, 0));
    // The call of this one has ended, and what there is to tell of it waits.
    let id = launch(&world, "ci.build");
    submit(Command::HoldAll { by: Scope::Operator.into(), reason: None });
    world.run_for(5_000);
    let which = Which::any(Scope::Operator, ScheduleId::new(&id).expect("an id"));
    let refused = world.handle.submit(Input::Command(Command::CancelCall(which)));
    assert!(matches!(refused, Err(Refusal::NotCancellable { .. })), "{refused:?}");
    submit(Command::ReleaseAll { by: Scope::Operator.into() });
    world.run_for(0);
    assert_eq!(world.told().len(), 1);
}

/// A session is closed while a call of its waits for the end of a hold: a caller that waits for that call is answered at once.
#[test]
fn who_waits_for_a_task_of_a_session_that_is_closed_is_answered() {
    let world = world();
    let hold = Command::HoldAll { by: Scope::Operator.into(), reason: None };
    world.handle.submit(Input::Command(hold)).expect("an operator may");
    let id = launch(&world, "ci.build");
    let (end, _waiter) = ask(&world, &format!(r#"{{"task_id":"{id}","wait":true}}"#));
    assert_eq!(end.text(), "");
    world.handle.close_session(&session("s")).expect("it is open");
    world.run_for(0);
    assert!(end.is_error() && end.text().contains("not found"), "{}", end.text());
}

#[test]
fn what_old_tasks_came_to_makes_room_and_they_say_so() {
    let verbose = ToolPlan::After(Span::from_millis(100), Value::from("x".repeat(100_000)));
    let world = World::new(|it| it.with("ci.verbose", verbose));
    world.open("s");
    let ids: Vec<String> = (0..70)
        .map(|_| {
            let (said, _waiter) = ask(&world, r#"{"name":"ci.verbose"}"#);
            world.run_for(1_000);
            let text = said.text();
            let id = text.split("\"task_id\":\"").nth(1).and_then(|rest| rest.split('"').next());
            id.unwrap_or_else(|| unreachable!("{text}")).to_owned()
        })
        .collect();
    // 64 outcomes of 64 KiB are 4 MiB.
    for (number, id) in ids.iter().enumerate() {
        let text = ask(&world, &format!(r#"{{"task_id":"{id}"}}"#)).0.text();
        assert!(text.contains(r#""status":"completed""#), "{text}");
        let note = r#""note":"outcome dropped: it had 100002 bytes."#;
        assert_eq!(text.contains(note), number < 6, "{number}");
        assert_eq!(text.contains("xxx"), number >= 6, "{number}");
    }
    assert_eq!(world.handle.view(reveille::engine::State::task_outcome_bytes), 64 * 65_536);
}

/// T25.
#[test]
fn a_session_has_a_hundred_tasks_and_they_end_with_it() {
    let world = world();
    for _ in 0..100 {
        let (_, waiter) = ask(&world, r#"{"name":"ci.hang"}"#);
        drop(waiter);
    }
    let (said, _) = ask(&world, r#"{"name":"ci.hang"}"#);
    assert!(said.is_error() && said.text().contains("session-tasks"), "{}", said.text());
    world.run_for(1_000);
    assert_eq!(world.handle.calls().in_use().in_flight, 16);
    world.handle.close_session(&session("s")).expect("it is open");
    world.run_for(1_000);
    let in_use = world.handle.calls().in_use();
    assert_eq!((in_use.in_flight, in_use.waiting), (0, 0));
    assert_eq!(world.executor.cancelled().len(), 16);
}

/// Where nobody listens, no answer says that somebody is told, and the warning says where the end waits.
#[test]
fn a_task_of_which_nobody_is_told_says_so() {
    let world = world();
    let away = world.handle.open_session(Some(session("away")), HostId::INBOX, SessionConfig::default());
    away.expect("the id is free");
    for (who, is_heard) in [("s", true), ("away", false)] {
        let caller = Caller::session(session(who)).as_model();
        let ask = |tool: &str, args: &str| {
            let (said, _waiter) = world.begin(tool, &caller, args);
            world.run_for(1_000);
            said.text()
        };
        let launched = ask("background_run", r#"{"name":"ci.hang"}"#);
        let id = launched.split("\"task_id\":\"").nth(1).and_then(|rest| rest.get(..12)).expect(&launched);
        let status = ask("background_run", &format!(r#"{{"task_id":"{id}"}}"#));
        let parallel = ask("run_parallel", r#"{"actions":[{"name":"ci.hang"}],"timeout":1}"#);
        assert!(parallel.contains(r#""running":1"#), "{parallel}");
        for text in [&launched, &status, &parallel] {
            assert_eq!(text.contains("you are told when"), is_heard, "{text}");
        }
        for text in [&launched, &parallel] {
            assert_eq!(text.contains("will wait in the inbox of the session away"), !is_heard, "{text}");
        }
    }
}

/// The time is for a wait. It is checked in every mode, and a launch says that it does not bound the task.
#[test]
fn a_time_that_bounds_nothing_is_said_to() {
    let world = world();
    for (timeout, why) in [
        (r#""abc""#, "timeout must be a whole number"),
        ("[]", "timeout must be a whole number"),
        ("-1", "timeout must be from 1 to 3600"),
    ] {
        for mode in [r#""name":"ci.hang""#, r#""task_id":"x""#, r#""list_tasks":true"#] {
            let (said, _) = ask(&world, &format!(r#"{{{mode},"timeout":{timeout}}}"#));
            assert!(said.is_error() && said.text().contains(why), "{mode}: {}", said.text());
        }
    }
    for (timeout, is_warned) in [("5", true), ("null", false)] {
        let (said, _waiter) = ask(&world, &format!(r#"{{"name":"ci.hang","timeout":{timeout}}}"#));
        world.run_for(1_000);
        let text = said.text();
        assert!(!said.is_error() && text.contains(r#""status":"running""#), "{text}");
        assert_eq!(
            text.contains("timeout bounds a wait (wait: true), and not the task"),
            is_warned,
            "{text}"
        );
    }
}

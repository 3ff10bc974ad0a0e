//! A name that is used again while a run of the job that had it is not over: the new job has its run, and what waited of the
//! former one is cancelled (T53).

use std::sync::Arc;

use reveille::domain::{
    Actor, Caller, Dialect, Reason, Refusal, RunState, ScheduleId, Scope, Span, Ways, When,
};
use reveille::engine::{Command, Input, NewSchedule, Report};
use reveille::testkit::CallAnswer;

use crate::held_calls;
use crate::scheduled_calls::{Desk, channel};
use crate::simulated::{self, ask, session, standing};
use crate::watching::{Scene, fine};

/// The runs of the job `x`, oldest first: which job it was of, how it stands, and why.
fn runs(scene: &Scene) -> Vec<(u32, RunState, Option<Reason>)> {
    let id = ScheduleId::new("cron_default_x").expect("an id");
    scene.handle().view(|state| {
        let record = state.schedule(&id).expect("it is there");
        let mut runs: Vec<_> = state
            .runs_of(record)
            .map(|(_, run)| (run.run().incarnation, run.run().state, run.run().reason))
            .collect();
        runs.reverse();
        runs
    })
}

fn held(scene: &Scene) -> String {
    let held = "[{:reveille.engine/held-runs [:reveille.run/id]}]";
    ask(scene.handle(), &Caller::OPERATOR, held, false)
}

#[test]
fn a_reminder_that_waits_gives_way_to_the_one_that_replaces_it() {
    let scene = Scene::new();
    scene.busy(true);
    scene.call("remind", r#"{"when" "in 1s" "message" "OLD" "name" "x"}"#);
    scene.pass(2);
    scene.call("remind", r#"{"when" "in 1s" "message" "NEW" "name" "x"}"#);
    assert_eq!(runs(&scene), [(1, RunState::Cancelled, Some(Reason::Replaced))]);
    scene.pass(2);
    scene.busy(false);
    let told = scene.told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].ends_with("\nMessage: NEW"), "{told:?}");
    scene.rest();
    assert_eq!(runs(&scene)[1..], [(2, RunState::Delivered, None)]);
    assert_eq!(scene.told().len(), 1);
}

#[test]
fn a_call_that_is_out_is_no_reason_to_skip_the_call_that_replaces_it() {
    let scene = Scene::new();
    scene.executor.script(CallAnswer::After(Span::from_millis(20_000), fine("1")));
    scene.script(&[fine("2")]);
    scene.call("schedule", r#"{"when" "in 1s" "action" "http.get" "name" "x"}"#);
    scene.pass(2);
    scene.call("schedule", r#"{"when" "in 1s" "action" "http.get" "name" "x"}"#);
    scene.pass(2);
    assert_eq!(scene.executor.calls().len(), 2, "the former one has not ended");
    assert!(scene.executor.cancelled().is_empty());
    scene.pass(30);
    scene.rest();
    assert_eq!(runs(&scene).iter().filter(|(_, state, _)| *state == RunState::Failed).count(), 0);
    let id = ScheduleId::new("cron_default_x").expect("an id");
    let counted = |state: &reveille::engine::State| {
        let progress = state.schedule(&id).map(|record| record.progress().clone());
        progress.map(|progress| (progress.runs, progress.delivered, progress.last_skip))
    };
    assert_eq!(scene.handle().view(counted), Some((1, 1, None)), "the end of the former one is not counted");
}

#[test]
fn a_call_that_waits_for_an_approval_is_withdrawn_with_its_job() {
    let scene = held_calls::scene(3_600);
    scene.call("schedule", r#"{"when" "in 1s" "action" "mail.send" "args" {"v" "old"} "name" "x"}"#);
    scene.pass(2);
    assert!(held(&scene).contains("cron_default_x"), "{}", held(&scene));
    scene.call("schedule", r#"{"when" "in 3s" "action" "http.get" "name" "x"}"#);
    assert!(!held(&scene).contains("cron_default_x"), "{}", held(&scene));
    assert_eq!(runs(&scene), [(1, RunState::Cancelled, Some(Reason::Replaced))]);
    scene.pass(5);
    let called = scene.executor.calls().len();
    assert_eq!(
        (called, runs(&scene).len()),
        (1, 3),
        "the new call, and what is told of it: {:?}",
        runs(&scene)
    );
}

/// Between a look at a name and the change, somebody else may take the name: the step decides whose job may be replaced.
#[test]
fn a_job_is_replaced_only_if_it_is_of_the_session_that_the_command_names() {
    let (handle, _clock) = simulated::engine(&["alice", "bob"]);
    let id = ScheduleId::new("cron_default_x").expect("an id");
    let put = |owner: &str, of: Option<&str>| {
        let when = When::After(Span::from_millis(60_000));
        let message = NewSchedule::message(session(owner), when, "m");
        let new = NewSchedule { id: Some(id.clone()), dialect: Dialect::Scheduler, ..message };
        handle.submit(Input::Command(Command::Supersede { new, of: of.map(session) }))
    };
    let exists = Err(Refusal::ScheduleExists { schedule: id.clone() });
    let owner = || handle.view(|state| state.schedule(&id).map(|it| it.schedule().owner.as_str().to_owned()));
    assert_eq!(put("alice", Some("alice")), Ok(()));
    let before = standing(&handle);
    assert_eq!(put("bob", Some("bob")), exists);
    assert_eq!(standing(&handle), before, "nothing has changed");
    assert_eq!(put("alice", Some("alice")), Ok(()), "it is its own");
    assert_eq!((put("bob", None), owner().as_deref()), (Ok(()), Some("bob")), "whose grant reaches others");
    assert_eq!((put("alice", Some("alice")), owner().as_deref()), (exists, Some("bob")));
}

const TO_OPS: &str = r#"{"when" "in 1s" "action" "http.get" "name" "x" "output_channel" "ops"}"#;
const TO_SESSION: &str = r#"{"when" "in 1s" "action" "http.get" "name" "x"}"#;

/// A scene with the channel `ops`, and what goes there.
fn with_channel() -> (Scene, Desk) {
    let (scene, desk) = (Scene::new(), Desk::default());
    assert!(scene.handle().outside().open_channels(Arc::new(desk.clone()), vec![channel("ops", true)]));
    scene.script(&[fine("1"), fine("2")]);
    (scene, desk)
}

/// Pauses or resumes what goes out by the channel.
fn stop(scene: &Scene, is_paused: bool) {
    let (channel, ways) = ("ops".into(), Ways::Outbound);
    let by = Actor::from(Scope::Operator);
    let command = match is_paused {
        true => Command::PauseChannel { channel, ways, by },
        false => Command::ResumeChannel { channel, ways, by },
    };
    scene.handle().submit(Input::Command(command)).expect("an operator may");
    scene.pass(1);
}

/// The results in what was told, in order.
fn results(told: &[String]) -> Vec<&str> {
    told.iter().filter_map(|text| text.split("\nResult: ").nth(1)).collect()
}

/// What waits for a channel stays there, and what comes after it goes where the job tells now.
#[test]
fn what_waits_for_the_channel_of_a_former_job_is_not_taken_into_the_session() {
    let (scene, desk) = with_channel();
    stop(&scene, true);
    scene.call("schedule", TO_OPS);
    scene.pass(3);
    assert_eq!((desk.texts().len(), scene.told().len()), (0, 0), "it waits for the channel");
    scene.call("schedule", TO_SESSION);
    scene.pass(3);
    assert_eq!((desk.texts().len(), results(&scene.told())), (0, vec!["2"]));
    stop(&scene, false);
    assert_eq!((results(&desk.texts()), scene.told().len()), (vec!["1"], 1));
}

/// As before, with the other order: the session is busy while the job is replaced.
#[test]
fn what_waits_for_the_session_of_a_former_job_does_not_go_out() {
    let (scene, desk) = with_channel();
    scene.busy(true);
    scene.call("schedule", TO_SESSION);
    scene.pass(3);
    scene.call("schedule", TO_OPS);
    scene.pass(3);
    assert_eq!((results(&desk.texts()), scene.told().len()), (vec!["2"], 0));
    scene.busy(false);
    assert_eq!((desk.texts().len(), results(&scene.told())), (1, vec!["1"]));
}

/// A channel that is closed to sessions while something waits for it: what comes after that is told in the session.
#[test]
fn what_comes_after_a_channel_was_closed_does_not_wait_for_it() {
    let (scene, desk) = with_channel();
    stop(&scene, true);
    scene.call("schedule", r#"{"when" "* * * * *" "action" "http.get" "name" "x" "output_channel" "ops"}"#);
    while scene.executor.calls().is_empty() {
        scene.pass(1);
    }
    assert_eq!((desk.texts().len(), scene.told().len()), (0, 0), "it waits for the channel");
    let closed = Report::ChannelOpened(channel("ops", false));
    scene.handle().submit(Input::Report(closed)).expect("it is configured");
    scene.pass(60);
    assert_eq!((desk.texts().len(), scene.executor.calls().len(), scene.told().len()), (0, 2, 1));
    let id = ScheduleId::new("cron_default_x").expect("an id");
    let waits = |state: &reveille::engine::State| {
        let record = state.schedule(&id).expect("it is there");
        state.runs_of(record).filter(|(_, run)| run.run().state == RunState::Queued).count()
    };
    assert_eq!(scene.handle().view(waits), 1, "what waits for the channel");
}

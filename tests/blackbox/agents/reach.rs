//! A run reaches the agent's own conversation: once, with a receipt, and with nothing of the daemon's in the agent's environment.

use super::{PATIENCE, Scene, is_alive};
use crate::harness::daemon::{text, until};
use crate::harness::stream::Stream;

#[test]
fn a_closed_conversation_is_gone_on_with() {
    let mut scene = Scene::new("resume", "", "");
    scene.open("s", "remember the word pineapple");
    let schedule = scene.create("s", "what was the word");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    assert_eq!(scene.prompted("what was the word"), 1);
    let prompt = scene.lines("prompts").pop().expect("a prompt");
    assert!(prompt.contains("Run ") && prompt.contains("not typed by a person"), "{prompt}");
    let lines = scene.lines("lines").join("\n");
    assert!(lines.contains("\"session/load\"") && !lines.contains("\"session/new\""), "{lines}");
    until("the session is idle", PATIENCE, || {
        scene.session("s", ":psi.agent-session/busy?").contains("busy? false")
    });
    scene.await_processes_gone();
    scene.daemon.end("-TERM");
    scene.home.assert_sound();
}

#[test]
fn a_conversation_is_begun_and_gone_on_with_by_a_later_process() {
    let mut scene = Scene::new("begun", "", "");
    scene.open_at("s", "fake");
    let first = scene.create("s", "the first");
    scene.await_shown(&first, ":psi.scheduler/status :delivered");
    let address = scene.session("s", ":psi.agent-session/address");
    assert!(address.contains("\"fake:c-"), "{address}");
    scene.await_processes_gone();
    let mut scene = scene.kill_and_start();
    assert_eq!(scene.session("s", ":psi.agent-session/address"), address, "it is stored");
    let second = scene.create("s", "the second");
    scene.await_shown(&second, ":psi.scheduler/status :delivered");
    let lines = scene.lines("lines").join("\n");
    assert_eq!(lines.matches("\"session/new\"").count(), 1, "{lines}");
    assert_eq!((scene.prompted("the first"), scene.prompted("the second")), (1, 1));
}

/// The daemon has a secret and a token; the agent has what is listed.
#[test]
fn nothing_but_what_is_listed_is_in_an_agents_environment() {
    let mut scene = Scene::new("environment", "", "");
    scene.open("s", "hello");
    let schedule = scene.create("s", "look");
    scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    let starts = scene.lines("starts");
    let names = starts[0].split(' ').nth(1).expect("names");
    // Some systems' loaders add one of their own.
    let names: Vec<&str> = names.split(',').filter(|name| *name != "LC_CTYPE").collect();
    // The last one tells hooks of ours that the daemon drives the agent.
    assert_eq!(names, ["API_KEY", "FAKE_AGENT_HOME", "PATH", "REVEILLE_HOSTED"]);
    assert!(!scene.daemon.log().contains("sk-of-the-test"));
}

#[test]
fn a_group_is_killed_as_one_when_the_daemon_ends() {
    let mut scene = Scene::new("group", "child stuck", "");
    scene.open("s", "hello");
    let _ = scene.create("s", "look");
    until("it is started", PATIENCE, || !scene.lines("children").is_empty());
    let child = scene.lines("children")[0].clone();
    assert!(is_alive(&child));
    let Scene { home, daemon, stream } = scene;
    drop(stream);
    daemon.end("-TERM");
    until("its child is gone", PATIENCE, || !is_alive(&child));
    drop(home);
}

/// A harness that asks for the session is the live door; when it has gone, the conversation is gone on with as before.
#[test]
fn a_harness_that_attaches_gets_what_is_due() {
    let mut scene = Scene::new("harness", "", "");
    scene.open("s", "hello");
    until("the agents have it", PATIENCE, || {
        scene.session("s", ":psi.agent-session/host").contains("\"agents\"")
    });
    let mut harness = Stream::connect(&scene.daemon.socket).expect("it lives");
    let attached = harness.ask("{:op :host/attach :sessions [\"s\"]}").expect("it lives");
    assert!(attached.keyword("ok").is_some(), "{attached:?}");
    let live = scene.create("s", "the live one");
    let pushes = std::iter::from_fn(|| harness.pushed());
    let id = pushes.into_iter().find_map(|pushed| Some(text(&pushed, &["delivery-id"])?.to_owned()));
    let id = id.expect("it is pushed");
    harness.ask(&format!("{{:op :delivery/ack :delivery-id {id:?}}}")).expect("it lives");
    scene.await_shown(&live, ":psi.scheduler/status :delivered");
    assert!(scene.lines("starts").is_empty(), "no agent was started");
    drop(harness);
    let closed = scene.create("s", "the closed one");
    scene.await_shown(&closed, ":psi.scheduler/status :delivered");
    assert_eq!((scene.prompted("the live one"), scene.prompted("the closed one")), (0, 1));
}

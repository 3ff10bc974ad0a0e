//! The agent in a window is killed, as `kill -9` does, at each point of a turn: no prompt vanishes, none is shown twice, and
//! the conversation goes on in a process of the host of agents.

use std::io::Read as _;
use std::process::Child;
use std::time::Duration;

use serde_json::json;

use super::PATIENCE;
use super::windows::Window;
use crate::harness::daemon::{pass, until};

/// A window of Claude Code with its waiter.
struct Turn {
    window: Window,
    waiter: Child,
}

impl Turn {
    /// The window is idle, and waits.
    fn idle(name: &str) -> Turn {
        let window = Window::new(name, "claude");
        window.hook("SessionStart", &json!({"source": "startup"}));
        let waiter = window.wait();
        Turn { window, waiter }
    }

    /// The waiter has ended with a prompt for the window; the prompt's schedule, and its text as the window got it.
    fn woken(name: &str) -> (Turn, String, String) {
        let mut turn = Turn::idle(name);
        let schedule = turn.window.create("the prompt");
        until("it is woken", PATIENCE, || turn.waiter.try_wait().expect("it can be asked").is_some());
        let mut prompt = String::new();
        let words = turn.waiter.stderr.as_mut().expect("a pipe");
        words.read_to_string(&mut prompt).expect("UTF-8");
        assert!(prompt.contains("the prompt"), "{prompt}");
        (turn, schedule, prompt)
    }

    /// The agent dies, and its waiter with it.
    fn kill(&mut self) {
        self.window.kill();
        // It may have ended before.
        let _ = self.waiter.kill();
        self.waiter.wait().expect("it ends");
    }

    /// The prompt was shown so many times by processes of the host of agents; and so is the next one, once.
    fn goes_on(mut self, prompts: usize) {
        let next = self.window.create("the next");
        self.window.scene.await_shown(&next, ":psi.scheduler/status :delivered");
        until("no turn goes on", PATIENCE, || self.window.is(":psi.agent-session/busy?", "busy? false"));
        let scene = &self.window.scene;
        assert_eq!((scene.prompted("the prompt"), scene.prompted("the next")), (prompts, 1));
        assert!(self.window.is(":psi.agent-session/inbox-count", "inbox-count 0"), "something is left");
    }
}

#[test]
fn before_the_prompt_is_due() {
    let mut turn = Turn::idle("window-kill-idle");
    let schedule = turn.window.create("the prompt");
    turn.kill();
    turn.window.scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    turn.goes_on(1);
}

#[test]
fn with_a_prompt_that_it_has_not_shown() {
    let (mut turn, schedule, _) = Turn::woken("window-kill-handed");
    turn.kill();
    turn.window.scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    turn.goes_on(1);
}

#[test]
fn in_the_turn_that_the_prompt_has_begun() {
    let (mut turn, schedule, prompt) = Turn::woken("window-kill-shown");
    turn.window.hook("UserPromptSubmit", &json!({ "prompt": prompt }));
    turn.window.scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    turn.kill();
    turn.goes_on(0);
}

#[test]
fn in_a_turn_of_a_person_with_a_prompt_that_waits() {
    let mut turn = Turn::idle("window-kill-person");
    turn.window.hook("UserPromptSubmit", &json!({"prompt": "hello"}));
    let schedule = turn.window.create("the prompt");
    turn.window.scene.await_shown(&schedule, ":psi.scheduler/status :queued");
    turn.kill();
    turn.window.scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    turn.goes_on(1);
}

#[test]
fn with_a_prompt_that_the_end_of_a_turn_has_handed_over() {
    let mut turn = Turn::idle("window-kill-stop");
    // With a waiter, it is the waiter that gets what is due at the end of a turn.
    turn.waiter.kill().expect("it lives");
    until("it waits no more", PATIENCE, || {
        turn.window.is(":psi.agent-session/reception", "reception :nobody")
    });
    turn.window.hook("UserPromptSubmit", &json!({"prompt": "hello"}));
    let schedule = turn.window.create("the prompt");
    turn.window.scene.await_shown(&schedule, ":psi.scheduler/status :queued");
    let said = turn.window.hook("Stop", &json!({}));
    assert!(said.contains("the prompt"), "{said}");
    turn.window.scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    turn.kill();
    turn.goes_on(0);
}

#[test]
fn after_the_turn() {
    let (mut turn, schedule, prompt) = Turn::woken("window-kill-ended");
    turn.window.hook("UserPromptSubmit", &json!({ "prompt": prompt }));
    turn.window.hook("Stop", &json!({}));
    turn.window.scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    turn.kill();
    turn.goes_on(0);
}

/// The daemon is killed instead, with a prompt that the window has not shown. The next one asks who has the conversation when
/// the window shows it.
#[test]
fn a_prompt_that_is_shown_while_the_next_daemon_looks_for_the_window() {
    let (Turn { window, mut waiter }, schedule, prompt) = Turn::woken("window-kill-daemon");
    waiter.wait().expect("it has ended");
    let list = format!("echo >> {}; sleep 3; echo []", window.scene.file("asked").display());
    let window = window.with_another_daemon(&format!("holders = [\"/bin/sh\", \"-c\", {list:?}]\n"));
    until("it is asked for", PATIENCE, || !window.scene.lines("asked").is_empty());
    assert_eq!(window.hook("UserPromptSubmit", &json!({ "prompt": prompt })), "");
    window.scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    assert_eq!(window.hook("Stop", &json!({})), "", "it is not handed over again");
    pass(Duration::from_secs(4));
    assert!(window.scene.lines("starts").is_empty(), "nothing was started");
    assert!(window.is(":psi.agent-session/inbox-count", "inbox-count 0"), "something is left");
}

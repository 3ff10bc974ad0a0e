//! A window of Claude Code whose daemon is killed, as `kill -9` does, at each point of a turn that a prompt of ours begins: the
//! window shows the prompt once, and it is delivered once.

use std::process::Child;

use serde_json::json;

use super::agents::{ask, end, eql, hook, reception, start, status, until, waiter};
use crate::harness::daemon::{Daemon, Home};

/// A window with a waiter, and a durable prompt that has woken it.
struct Woken {
    home: Home,
    daemon: Daemon,
    prompt: String,
}

impl Woken {
    fn new(name: &str) -> Woken {
        let home = Home::new(name);
        let daemon = Daemon::start(&home);
        start(&home, "c1", "startup");
        let mut waiters = Vec::new();
        waiter(&home, "c1", &mut waiters);
        let made = eql(
            &home,
            "[(psi.scheduler/create {:kind :message :session-id \"claude:c1\" :message \"Look at the build.\" :delay-ms 1 \
             :durability :durable})]",
        );
        assert!(made.contains("created? true"), "{made}");
        let ended = end(waiters.remove(0));
        assert_eq!(ended.code, Some(2), "{}", ended.err);
        Woken { home, daemon, prompt: ended.err }
    }

    /// Kills the daemon, and starts the next one.
    fn killed(self) -> Woken {
        let Woken { home, daemon, prompt } = self;
        daemon.kill();
        let daemon = Daemon::start(&home);
        Woken { home, daemon, prompt }
    }

    /// The window shows the prompt to its hook; what the hook answers.
    fn show(&self) -> String {
        hook(&self.home, "UserPromptSubmit", "c1", &json!({ "prompt": self.prompt }))
    }

    fn stop(&self) -> String {
        hook(&self.home, "Stop", "c1", &json!({}))
    }

    fn is_delivered(&self) -> bool {
        status(&self.home).contains("status :delivered")
    }

    /// Nothing is handed over any more: not at the end of a turn, and not to the waiter that begins then.
    fn ends_soundly(self) {
        let mut waiters: Vec<Child> = Vec::new();
        waiter(&self.home, "c1", &mut waiters);
        until(|| reception(&self.home, "c1") == "host");
        let inbox = ask(&self.home, "c1", "[:psi.agent-session/inbox-count :psi.agent-session/busy?]");
        assert!(inbox.contains("inbox-count 0") && inbox.contains("busy? false"), "{inbox}");
        assert!(waiters[0].try_wait().expect("it can be asked").is_none(), "it is woken again");
        assert!(self.is_delivered(), "{}", status(&self.home));
        hook(&self.home, "SessionEnd", "c1", &json!({"reason": "exit"}));
        assert_eq!(end(waiters.remove(0)).code, Some(0));
        self.daemon.end("-TERM");
        self.home.assert_sound();
    }
}

#[test]
fn with_the_prompt_on_its_way_to_the_window() {
    let woken = Woken::new("hook-kill-handed").killed();
    assert!(!woken.is_delivered(), "nobody has seen it");
    assert_eq!(woken.show(), "");
    until(|| woken.is_delivered());
    assert_eq!(woken.stop(), "", "it is not handed over again");
    woken.ends_soundly();
}

#[test]
fn with_the_prompt_shown_and_the_turn_under_way() {
    let woken = Woken::new("hook-kill-shown");
    assert_eq!(woken.show(), "");
    assert!(woken.is_delivered());
    let woken = woken.killed();
    assert!(woken.is_delivered(), "{}", status(&woken.home));
    assert_eq!(woken.stop(), "");
    woken.ends_soundly();
}

#[test]
fn after_the_turn() {
    let woken = Woken::new("hook-kill-ended");
    assert_eq!(woken.show(), "");
    assert_eq!(woken.stop(), "");
    woken.killed().ends_soundly();
}

/// The window never comes to show it: a person has begun another turn, at whose end it is handed over.
#[test]
fn with_a_prompt_that_the_window_does_not_show() {
    let woken = Woken::new("hook-kill-unshown").killed();
    hook(&woken.home, "UserPromptSubmit", "c1", &json!({"prompt": "hello"}));
    let said = woken.stop();
    assert!(said.contains("Look at the build."), "{said}");
    assert!(woken.is_delivered());
    assert_eq!(woken.stop(), "");
    woken.ends_soundly();
}

/// The agent of the window is killed, and the daemon with it: what was shown is delivered, and what was not is left.
#[test]
fn with_the_window_as_well() {
    let woken = Woken::new("hook-kill-both").killed();
    until(|| ask(&woken.home, "c1", "[:psi.agent-session/inbox-count]").contains("inbox-count 1"));
    assert!(!woken.is_delivered(), "{}", status(&woken.home));
    woken.daemon.end("-TERM");
}

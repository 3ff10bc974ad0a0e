//! Codex as the daemon meets it: its hooks, and the queue of a conversation, into which `codex queue` puts what is due. The
//! test's Codex is a shell that starts hooks as it is told, and its `queue` is a script that writes down what it gets.

use std::cell::Cell;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Stdio};

use serde_json::{Value, json};

use super::agents::{eql, until};
use crate::harness::command::program;
use crate::harness::daemon::{Daemon, Home};

struct Codex<'h> {
    home: &'h Home,
    process: Child,
    orders: ChildStdin,
    number: Cell<u32>,
}

impl<'h> Codex<'h> {
    fn new(home: &'h Home) -> Codex<'h> {
        let work = home.path().join("work");
        fs::create_dir_all(&work).expect("a directory");
        // The program that runs is the one that is asked to queue: `codex queue …` is the shell with this script.
        fs::copy("/bin/sh", home.path().join("codex")).expect("it is there");
        fs::write(work.join("queue"), "for word in \"$@\"; do printf '%s\\n' \"$word\"; done >> queued\n")
            .expect("ours");
        let mut shell = std::process::Command::new(home.path().join("codex"));
        shell.env_clear().env("HOME", home.path()).current_dir(home.path()).process_group(0);
        let mut process = shell.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it is there");
        let orders = process.stdin.take().expect("a pipe");
        Codex { home, process, orders, number: Cell::new(0) }
    }

    /// Runs a hook, which has to end with 0; what it prints.
    fn hook(&self, event: &str, more: &Value) -> String {
        let mut input = json!({
            "session_id": "c1",
            "cwd": self.home.path().join("work"),
            "hook_event_name": event,
        });
        input.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        self.number.set(self.number.get() + 1);
        let number = self.number.get();
        let path = |name: &str| self.home.path().join(format!("{name}-{number}"));
        fs::write(path("in"), input.to_string()).expect("ours");
        let hook = program();
        let order = format!(
            "'{}' hook codex --data-dir state < in-{number} > out-{number}; echo $? > code.tmp; mv code.tmp code-{number}\n",
            hook.display()
        );
        (&self.orders).write_all(order.as_bytes()).expect("it listens");
        until(|| path("code").exists());
        assert_eq!(fs::read_to_string(path("code")).expect("ours"), "0\n", "{event}");
        fs::read_to_string(path("out")).expect("ours")
    }

    /// The messages in the queue, in order.
    fn queued(&self) -> Vec<String> {
        let words = fs::read_to_string(self.home.path().join("work/queued")).unwrap_or_default();
        words
            .split("--message=")
            .skip(1)
            .map(|text| text.split("\n--resume\n").next().unwrap_or_default().trim().to_owned())
            .collect()
    }

    fn schedule(&self, message: &str) {
        let made = eql(
            self.home,
            &format!(
                "[(psi.scheduler/create {{:kind :message :session-id \"codex:c1\" :message {message:?} :delay-ms 1}})]"
            ),
        );
        assert!(made.contains("created? true"), "{made}");
    }

    /// After a turn of a person's, a prompt is due, and is in the queue.
    fn queues_the_first(&self) {
        self.hook("UserPromptSubmit", &json!({"prompt": "hello"}));
        self.hook("Stop", &json!({}));
        until(|| self.is(":psi.agent-session/reception", "reception :host"));
        self.schedule("Look at the build.");
        until(|| self.queued().len() == 1);
    }

    fn has(&self, status: &str, count: usize) -> bool {
        let shown = eql(self.home, "[{:psi.scheduler/schedules [:psi.scheduler/status]}]");
        shown.matches(&format!("status :{status}")).count() == count
    }

    fn is(&self, attribute: &str, part: &str) -> bool {
        eql(self.home, &format!("[{{[:psi.agent-session/session-id \"codex:c1\"] [{attribute}]}}]"))
            .contains(part)
    }
}

impl Drop for Codex<'_> {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What is due is put into the queue once, and is delivered when Codex takes it from there, and not before.
#[test]
fn what_is_due_is_queued_once_and_delivered_when_it_is_taken() {
    let home = Home::new("codex-queue");
    let daemon = Daemon::start(&home);
    let codex = Codex::new(&home);
    codex.queues_the_first();
    let sent = codex.queued().remove(0);
    assert!(sent.ends_with("\n\nLook at the build.") && sent.contains("[Reveille] run "), "{sent}");
    assert!(codex.has("delivered", 0), "queued is not delivered");
    assert_eq!(codex.hook("UserPromptSubmit", &json!({ "prompt": sent })), "");
    assert!(codex.has("delivered", 1) && codex.is(":psi.agent-session/busy?", "busy? true"));
    codex.hook("Stop", &json!({}));
    until(|| codex.is(":psi.agent-session/reception", "reception :host"));
    assert_eq!(codex.queued().len(), 1);
    daemon.end("-TERM");
}

/// A message that is put into the queue twice runs twice, whatever it is named. The one that was called back is blocked when
/// Codex comes to it.
#[test]
fn trap_8_what_is_in_the_queue_twice_goes_to_the_model_once() {
    let home = Home::new("codex-trap-8");
    let daemon = Daemon::start(&home);
    let codex = Codex::new(&home);
    codex.queues_the_first();
    // A turn of somebody else's ends before Codex has taken it: it is called back, and put into the queue again.
    codex.hook("UserPromptSubmit", &json!({"prompt": "wait"}));
    codex.hook("Stop", &json!({}));
    until(|| codex.queued().len() == 2);
    let [first, second] = &codex.queued()[..] else { panic!("two") };
    assert_eq!(first, second, "it is the same run");
    assert_eq!(codex.hook("UserPromptSubmit", &json!({ "prompt": first })), "");
    until(|| codex.has("delivered", 1));
    codex.hook("Stop", &json!({}));
    let blocked = codex.hook("UserPromptSubmit", &json!({ "prompt": second }));
    let blocked: Value = serde_json::from_str(&blocked).expect(&blocked);
    assert_eq!(blocked["decision"], "block");
    assert!(codex.has("delivered", 1) && codex.has("failed", 0));
    daemon.end("-TERM");
}

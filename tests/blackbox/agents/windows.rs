//! One conversation with both ways into it: a window, whose hooks tell of it, and the host of agents, which may begin a process
//! in it. While the window is there nothing is resumed, and what is due gets to the window; afterwards it is resumed.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::{PATIENCE, Scene};
use crate::harness::daemon::{now, pass, until};

/// A window of an agent, which may as well be resumed.
pub(super) struct Window {
    pub(super) scene: Scene,
    agent: &'static str,
    /// The process that hooks name.
    process: AgentProcess,
}

/// A process that stands for an agent.
struct AgentProcess(Child);

impl Drop for AgentProcess {
    fn drop(&mut self) {
        // It may have been killed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Window {
    /// An agent whose conversation `c1` exists, and a window that may come to have it open.
    pub(super) fn new(name: &str, agent: &'static str) -> Window {
        let scene = Scene::new(name, "", "");
        let file = scene.home.path().join("agents.toml");
        let text = fs::read_to_string(&file).expect("ours");
        fs::write(&file, text.replace("[agents.fake]", &format!("[agents.{agent}]"))).expect("ours");
        let said = ["user_message_chunk", "agent_message_chunk"];
        let said = said.map(|by| json!({ "by": by, "text": "before" }).to_string() + "\n");
        fs::write(scene.file("c1.jsonl"), said.concat()).expect("ours");
        let process = Command::new("/bin/sleep").arg("600").spawn().expect("it is there");
        Window { scene: scene.kill_and_start(), agent, process: AgentProcess(process) }
    }

    /// The daemon is killed, and started again with these lines in the agent's configuration as well.
    pub(super) fn with_another_daemon(self, lines: &str) -> Window {
        let file = self.scene.home.path().join("agents.toml");
        let text = fs::read_to_string(&file).expect("ours");
        fs::write(&file, text + lines).expect("ours");
        Window { scene: self.scene.kill_and_start(), ..self }
    }

    /// The agent's process dies.
    pub(super) fn kill(&mut self) {
        self.process.0.kill().expect("it lives");
        self.process.0.wait().expect("it ends");
    }

    fn id(&self) -> String {
        format!("{}:c1", self.agent)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.scene.home.command(&[&["hook", self.agent], args].concat());
        command.args(["--data-dir", "state"]).env("CLAUDE_PID", self.process.0.id().to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts the waiter of the window, which has its place in the daemon then.
    pub(super) fn wait(&self) -> Child {
        let mut waiter = self.command(&["--wait"]).spawn().expect("the binary was built");
        let input = json!({"session_id": "c1", "cwd": "/", "hook_event_name": "Stop"}).to_string();
        waiter.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
        until("it waits", PATIENCE, || self.is(":psi.agent-session/reception", "reception :host"));
        waiter
    }

    /// A short hook, which has to end with 0.
    pub(super) fn hook(&self, event: &str, more: &Value) -> String {
        let mut input = json!({
            "session_id": "c1",
            "cwd": self.scene.home.path().join("work"),
            "hook_event_name": event,
        });
        input.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        let mut child = self.command(&[]).spawn().expect("the binary was built");
        child.stdin.take().expect("a pipe").write_all(input.to_string().as_bytes()).expect("it reads");
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!(ended.status.code(), Some(0), "{event}");
        String::from_utf8(ended.stdout).expect("UTF-8")
    }

    pub(super) fn create(&mut self, text: &str) -> String {
        let session = self.id();
        self.scene.create(&session, text)
    }

    pub(super) fn is(&self, attribute: &str, part: &str) -> bool {
        self.scene.session(&self.id(), attribute).contains(part)
    }

    /// Waits until so many are left for the window, and then as long as a process would have been begun in.
    fn await_left(&self, count: usize) {
        let count = format!("inbox-count {count}");
        until("it is left", PATIENCE, || self.is(":psi.agent-session/inbox-count", &count));
        pass(Duration::from_millis(500));
    }
}

/// Gemini CLI has no waiter: what is due is handed over at the end of a turn, and resumed once its window is closed.
#[test]
fn a_window_gets_what_is_due_and_a_closed_one_is_resumed() {
    let mut window = Window::new("both-doors", "gemini");
    window.hook("SessionStart", &json!({"source": "startup"}));
    window.hook("BeforeAgent", &json!({"prompt": "hello"}));
    let first = window.create("the first");
    window.scene.await_shown(&first, ":psi.scheduler/status :queued");
    let said = window.hook("AfterAgent", &json!({"prompt_response": "Hi."}));
    let said: Value = serde_json::from_str(&said).expect(&said);
    let words = said["reason"].as_str().expect("words");
    assert!(said["decision"] == "block" && words.ends_with("\n\nthe first"), "{said}");
    window.hook("BeforeAgent", &json!({ "prompt": words }));
    window.hook("AfterAgent", &json!({"stop_hook_active": true}));
    window.scene.await_shown(&first, ":psi.scheduler/status :delivered");
    // What comes due beside an idle window waits for its next turn.
    let second = window.create("the second");
    window.await_left(1);
    assert!(window.scene.lines("starts").is_empty(), "nothing was started");
    window.hook("SessionEnd", &json!({"reason": "exit"}));
    let closed = now();
    window.scene.await_shown(&second, ":psi.scheduler/status :delivered");
    assert!(closed.elapsed_here() < Duration::from_secs(2), "{:?}", closed.elapsed_here());
    assert_eq!((window.scene.prompted("the first"), window.scene.prompted("the second")), (0, 1));
}

/// The host of agents has the session, and a warm process in the conversation, when a window opens it.
#[test]
fn a_window_that_opens_takes_the_conversation_from_the_host_of_agents() {
    let mut window = Window::new("window-takes", "gemini");
    let session = window.id();
    window.scene.open_at(&session, &session);
    let first = window.create("the first");
    window.scene.await_shown(&first, ":psi.scheduler/status :delivered");
    until("its turn is over", PATIENCE, || window.is(":psi.agent-session/busy?", "busy? false"));
    window.hook("SessionStart", &json!({"source": "resume"}));
    until("nobody hosts it", PATIENCE, || window.is(":psi.agent-session/reception", "reception :nobody"));
    window.scene.await_processes_gone();
    let second = window.create("the second");
    window.await_left(1);
    assert_eq!(window.scene.prompted("the second"), 0, "it is left for the window");
    let said = window.hook("AfterAgent", &json!({}));
    assert!(said.contains("the second"), "{said}");
    window.scene.await_shown(&second, ":psi.scheduler/status :delivered");
    assert_eq!(window.scene.prompted("the second"), 0);
}

/// A window that opens while the agent is in a turn of ours is found when the next prompt is due.
#[test]
fn a_window_that_opens_in_a_turn_gets_the_next_prompt() {
    let mut window = Window::new("window-mid-turn", "gemini");
    let session = window.id();
    window.scene.mode("gate");
    window.scene.open_at(&session, &session);
    let first = window.create("the first");
    until("its turn goes on", PATIENCE, || window.is(":psi.agent-session/busy?", "busy? true"));
    window.hook("SessionStart", &json!({"source": "resume"}));
    window.scene.mode("");
    window.scene.await_shown(&first, ":psi.scheduler/status :delivered");
    let second = window.create("the second");
    window.await_left(1);
    assert_eq!(window.scene.prompted("the second"), 0);
    let said = window.hook("AfterAgent", &json!({}));
    assert!(said.contains("the second"), "{said}");
    window.scene.await_shown(&second, ":psi.scheduler/status :delivered");
}

/// Another session of the same conversation is not known to the window's hooks. It waits until the window is closed.
#[test]
fn another_session_of_a_conversation_in_a_window_waits() {
    let mut window = Window::new("window-named", "claude");
    let conversation = window.id();
    window.scene.open_at("review", &conversation);
    window.hook("SessionStart", &json!({"source": "resume"}));
    let schedule = window.scene.create("review", "the prompt");
    window
        .scene
        .await_shown(&schedule, ":psi.scheduler/status :queued :psi.scheduler/reason :held-elsewhere");
    pass(Duration::from_millis(500));
    assert!(window.scene.lines("starts").is_empty(), "nothing was started");
    window.hook("SessionEnd", &json!({"reason": "prompt_input_exit"}));
    window.scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    assert_eq!(window.scene.prompted("the prompt"), 1);
}

/// A process takes its time to open the conversation, and a window opens it meanwhile: it is found before the prompt is sent.
#[test]
fn a_window_that_opens_while_a_process_starts_is_found_before_the_prompt() {
    let mut window = Window::new("window-in-start", "claude");
    let conversation = window.id();
    window.scene.mode("load-gate");
    window.scene.open_at("review", &conversation);
    let schedule = window.scene.create("review", "the prompt");
    let opens = |line: &String| line.contains("session/resume") || line.contains("session/load");
    until("a process opens the conversation", PATIENCE, || window.scene.lines("lines").iter().any(opens));
    window.hook("SessionStart", &json!({"source": "resume"}));
    window.scene.mode("");
    window
        .scene
        .await_shown(&schedule, ":psi.scheduler/status :queued :psi.scheduler/reason :held-elsewhere");
    window.scene.await_processes_gone();
    assert_eq!(window.scene.prompted("the prompt"), 0, "the window has the conversation");
    window.hook("SessionEnd", &json!({"reason": "prompt_input_exit"}));
    window.scene.await_shown(&schedule, ":psi.scheduler/status :delivered");
    assert_eq!(window.scene.prompted("the prompt"), 1);
}

/// A window whose waiter is gone still has its conversation. When it is killed, it says nothing.
#[test]
fn a_window_without_a_waiter_is_not_resumed_beside_and_a_killed_one_is() {
    let mut window = Window::new("window-killed", "claude");
    window.hook("SessionStart", &json!({"source": "startup"}));
    let mut waiter = window.wait();
    waiter.kill().expect("it lives");
    waiter.wait().expect("it ends");
    until("it waits no more", PATIENCE, || window.is(":psi.agent-session/reception", "reception :nobody"));
    let first = window.create("the first");
    window.await_left(1);
    assert!(window.scene.lines("starts").is_empty(), "nothing was started");
    window.kill();
    let killed = now();
    window.scene.await_shown(&first, ":psi.scheduler/status :delivered");
    assert!(killed.elapsed_here() < Duration::from_secs(5), "{:?}", killed.elapsed_here());
    assert_eq!(window.scene.prompted("the first"), 1);
}

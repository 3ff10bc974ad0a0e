//! Gemini CLI and Qwen Code as the daemon meets them: hooks with the JSON that Gemini CLI 0.61 and Qwen Code 0.24.4 give them,
//! the socket of a Qwen window, and the file in which it writes the conversation down. The test's own process stands for the
//! agent.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use super::agents::{eql, until};
use crate::faults::layer;
use crate::harness::daemon::{Daemon, Home, PATIENCE, eventually};

/// A window of an agent.
struct Window<'h> {
    home: &'h Home,
    agent: &'static str,
    /// Where Qwen Code listens.
    socket: UnixListener,
    /// Where it writes the conversation down.
    transcript: PathBuf,
}

impl<'h> Window<'h> {
    fn new(home: &'h Home, agent: &'static str) -> Window<'h> {
        let socket = UnixListener::bind(home.path().join("window.sock")).expect("it is free");
        Window { home, agent, socket, transcript: home.path().join("chat.jsonl") }
    }

    /// A short hook, which has to end with 0.
    fn hook(&self, event: &str, more: &Value) -> String {
        let mut input = json!({
            "session_id": "c1",
            "transcript_path": self.transcript,
            "cwd": "/home/ada/work",
            "hook_event_name": event,
        });
        input.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        let mut command = self.home.command(&["hook", self.agent, "--data-dir", "state"]);
        command.env("QWEN_CODE_MESSAGING_SOCKET", self.home.path().join("window.sock"));
        command.env("QWEN_CODE_MESSAGING_TOKEN", "only-children");
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().expect("the binary was built");
        child.stdin.take().expect("a pipe").write_all(input.to_string().as_bytes()).expect("it reads");
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!(ended.status.code(), Some(0), "{event}");
        String::from_utf8(ended.stdout).expect("UTF-8")
    }

    /// The next message that comes in at the socket. A window says nothing there.
    fn receive(&self) -> String {
        self.socket.set_nonblocking(true).expect("it can");
        let mut came = None;
        let is_there = eventually(PATIENCE, || {
            came = self.socket.accept().ok();
            came.is_some()
        });
        assert!(is_there.is_some(), "nobody sends anything");
        let (mut stream, _) = came.expect("it is there");
        stream.set_nonblocking(false).expect("it can");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("text");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let [auth, message] = &lines[..] else { panic!("{text}") };
        assert_eq!((&auth["type"], &auth["token"]), (&json!("auth"), &json!("only-children")));
        assert_eq!((&message["type"], &message["toSessionId"]), (&json!("user"), &json!("c1")));
        message["message"]["content"].as_str().expect("words").to_owned()
    }

    /// The model gets a message: it is in the conversation now.
    fn write_down(&self, message: &str) {
        let text =
            format!("<cross_session_message from=\"own process\">\n{message}\n</cross_session_message>");
        let message = json!({ "role": "user", "parts": [{ "text": text }] });
        let line = json!({ "type": "user", "subtype": "notification", "message": message });
        let mut file = OpenOptions::new().create(true).append(true).open(&self.transcript).expect("a file");
        writeln!(file, "{line}").expect("it is written");
    }

    fn ask(&self, attributes: &str) -> String {
        let agent = self.agent;
        eql(self.home, &format!("[{{[:psi.agent-session/session-id \"{agent}:c1\"] {attributes}}}]"))
    }

    fn is(&self, part: &str) -> bool {
        let attributes =
            "[:psi.agent-session/reception :psi.agent-session/busy? :psi.agent-session/inbox-count]";
        self.ask(attributes).contains(part)
    }

    fn schedule(&self, message: &str) {
        let agent = self.agent;
        let made = eql(
            self.home,
            &format!(
                "[(psi.scheduler/create {{:kind :message :session-id \"{agent}:c1\" :message {message:?} :delay-ms 1}})]"
            ),
        );
        assert!(made.contains("created? true"), "{made}");
    }

    fn has(&self, status: &str, count: usize) -> bool {
        let shown = eql(self.home, "[{:psi.scheduler/schedules [:psi.scheduler/status]}]");
        shown.matches(&format!("status :{status}")).count() == count
    }
}

/// An idle window gets what is due through its socket, and what it writes down is the receipt.
#[test]
fn a_window_of_qwen_is_sent_what_is_due_and_its_own_record_is_the_receipt() {
    let home = Home::new("qwen-woken");
    let daemon = Daemon::start(&home);
    let window = Window::new(&home, "qwen");
    assert_eq!(window.hook("SessionStart", &json!({"source": "startup"})), "");
    until(|| window.is("reception :host"));
    window.schedule("Look at the build.");
    let sent = window.receive();
    assert!(
        sent.contains("not a message from the user") && sent.ends_with("\n\nLook at the build."),
        "{sent}"
    );
    // It says so once it is idle, and that may come after the prompt was sent.
    window.hook("Notification", &json!({"notification_type": "idle_prompt"}));
    assert!(
        window.is("inbox-count 0") && window.has("delivered", 0),
        "sent is not delivered, and not called back"
    );
    window.write_down(&sent);
    until(|| window.has("delivered", 1));
    until(|| window.is("busy? true"));
    assert_eq!(window.hook("Stop", &json!({"stop_hook_active": false})), "");
    assert!(window.is("busy? false"));
    // The next one waits already.
    until(|| window.is("reception :host"));
    window.schedule("And again.");
    let sent = window.receive();
    // A turn may be over before the waiter has looked: its end is told with what it was about.
    window.write_down(&sent);
    window.hook("Stop", &json!({}));
    assert!(window.has("delivered", 2));
    assert!(window.is("busy? false"));
    until(|| window.is("reception :host"));
    assert!(window.is("busy? false"), "nobody says that the turn begins after it has ended");
    daemon.end("-TERM");
}

/// The receipt and the end of a turn are told by two processes. Here the end overtakes the receipt, which waits for the disk.
#[test]
fn a_turn_that_ends_before_its_receipt_is_on_disk_does_not_go_on() {
    let home = Home::new("qwen-overtaken");
    let Some(library) = layer::build(&home, "disk_fails") else { return };
    let flag = home.path().join("calls");
    let mut serve = home.serve();
    serve.env("LD_PRELOAD", &library).env("DISK_FAILS", &flag);
    let daemon = Daemon::start_with(&home, &mut serve);
    let window = Window::new(&home, "qwen");
    window.hook("SessionStart", &json!({"source": "startup"}));
    until(|| window.is("reception :host"));
    window.schedule("Look at the build.");
    let sent = window.receive();
    fs::write(&flag, "slow").expect("ours");
    window.write_down(&sent);
    // The engine has the receipt, and the process that brings it waits for the disk.
    until(|| window.has("delivered", 1));
    // Without a transcript, because a receipt of its own would wait as well.
    window.hook("Stop", &json!({"transcript_path": null}));
    fs::remove_file(&flag).expect("ours");
    // Once the disk has answered, the process that brought the receipt says that the turn has begun.
    let began = "[{(:reveille.engine/decisions {:kind :session-busy}) [:reveille.decision/cursor]}]";
    until(|| eql(&home, began).contains("cursor"));
    until(|| window.is("busy? false"));
    daemon.end("-TERM");
}

/// What comes due in a turn is sent once it has ended, and once only, however many hooks have begun to wait.
#[test]
fn a_turn_of_qwen_is_not_disturbed_and_its_end_sends_once() {
    let home = Home::new("qwen-turn");
    let daemon = Daemon::start(&home);
    let window = Window::new(&home, "qwen");
    window.hook("SessionStart", &json!({"source": "startup"}));
    until(|| window.is("reception :host"));
    // A waiter that the daemon refuses tries again later, in the middle of whatever goes on then.
    window.schedule("first");
    let first = window.receive();
    window.hook("Stop", &json!({}));
    window.write_down(&first);
    until(|| window.has("delivered", 1));
    window.hook("Stop", &json!({}));
    until(|| window.is("reception :host"));
    window.hook("UserPromptSubmit", &json!({"prompt": "take your time"}));
    window.schedule("second");
    until(|| window.has("queued", 1));
    assert!(window.is("busy? true"));
    window.hook("Stop", &json!({}));
    let second = window.receive();
    // The window has it, and has not given it to the model when the turn before it is said to be over.
    assert_eq!(window.hook("Stop", &json!({})), "", "nothing is handed over twice");
    window.hook("Notification", &json!({"notification_type": "idle_prompt"}));
    window.write_down(&second);
    until(|| window.has("delivered", 2));
    assert_eq!(window.hook("Stop", &json!({})), "");
    assert!(window.is("busy? false") && window.is("inbox-count 0"));
    daemon.end("-TERM");
}

/// A person who cuts a turn short ends it, and the window is woken again.
#[test]
fn a_turn_of_qwen_that_is_cut_short_is_over() {
    let home = Home::new("qwen-cut");
    let daemon = Daemon::start(&home);
    let window = Window::new(&home, "qwen");
    window.hook("SessionStart", &json!({"source": "startup"}));
    until(|| window.is("reception :host"));
    window.schedule("first");
    window.write_down(&window.receive());
    until(|| window.is("busy? true"));
    window.schedule("second");
    window.hook("Notification", &json!({"notification_type": "idle_prompt"}));
    assert!(window.receive().ends_with("second"));
    // The conversation is over: what was sent for it is not for the next one, and waits.
    window.hook("SessionEnd", &json!({"reason": "clear"}));
    until(|| window.is("reception :nobody") && window.is("inbox-count 1"));
    assert!(window.has("delivered", 1));
    daemon.end("-TERM");
}

/// A window that does not listen is told as such, and nothing is lost.
#[test]
fn a_window_of_qwen_without_a_socket_refuses() {
    let home = Home::new("qwen-deaf");
    let daemon = Daemon::start(&home);
    let window = Window::new(&home, "qwen");
    fs::remove_file(home.path().join("window.sock")).expect("it is there");
    window.hook("SessionStart", &json!({"source": "startup"}));
    until(|| window.is("reception :host"));
    window.schedule("Look.");
    until(|| window.has("failed", 1));
    let why = eql(&home, "[{:psi.scheduler/schedules [{:psi.scheduler/runs [:reveille.run/error]}]}]");
    assert!(why.contains("its window does not listen"), "{why}");
    daemon.end("-TERM");
}

/// Gemini CLI goes on with what a hook hands over at the end of a turn, and shows it to another hook.
#[test]
fn gemini_is_handed_what_is_due_at_the_end_of_a_turn() {
    let home = Home::new("gemini-turn-end");
    let daemon = Daemon::start(&home);
    let window = Window::new(&home, "gemini");
    window.hook("SessionStart", &json!({"source": "startup"}));
    assert!(window.is("reception :nobody"));
    window.hook("BeforeAgent", &json!({"prompt": "hello"}));
    assert!(window.is("busy? true"));
    window.schedule("Look at the build.");
    until(|| window.has("queued", 1));
    let said: Value =
        serde_json::from_str(&window.hook("AfterAgent", &json!({"prompt_response": "Hi."}))).expect("JSON");
    let words = said["reason"].as_str().expect("words");
    assert!(said["decision"] == "block" && words.ends_with("\n\nLook at the build."), "{said}");
    assert_eq!(window.hook("BeforeAgent", &json!({"prompt": words})), "");
    assert!(window.is("busy? true") && window.has("delivered", 1), "the turn goes on");
    assert_eq!(window.hook("AfterAgent", &json!({"stop_hook_active": true})), "", "once");
    assert!(window.is("busy? false"));
    daemon.end("-TERM");
}

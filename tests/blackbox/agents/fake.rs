//! An agent that speaks the Agent Client Protocol and does as it is told: this test program itself, started again by the daemon.
//!
//! Its conversations are files, as those of real agents are. What it is to do stands in the file `mode`, word by word; a word
//! with `once:` before it is done one time.

use std::fs::{self, File};
use std::io::{BufRead, Write};
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::daemon::{Tick, now, pass};

/// The variable that makes this program an agent: the directory of its files.
pub(crate) const HOME: &str = "FAKE_AGENT_HOME";

/// Under the name of this test the daemon starts the agent; without the variable it is a test that shows nothing.
#[test]
fn serve() {
    // The harness of the tests has written a line to standard output by now, as some agents do: the daemon passes it over.
    if let Some(home) = std::env::var_os(HOME) {
        Agent { home: home.into(), mode: None, waited: Duration::ZERO, asked: None }.serve();
    }
}

struct Agent {
    home: PathBuf,
    /// The mode that the client has set.
    mode: Option<String>,
    /// How long the client took between our answers and its next lines, until the prompt came.
    waited: Duration,
    /// The prompt and the conversation in which it waits for an answer to what it asked.
    asked: Option<(Value, String)>,
}

impl Agent {
    #[expect(clippy::disallowed_methods, reason = "its environment is what the test is about")]
    fn serve(&mut self) {
        let mut environment: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
        environment.sort();
        self.append("starts", &format!("{} {}", std::process::id(), environment.join(",")));
        if self.told("child") {
            // A child that would outlive us.
            self.have_child();
        }
        if self.told("noise") {
            let mut out = std::io::stdout();
            out.write_all(b"\xff\xfe{\"jsonrpc\"\n[[[[\n").expect("a pipe");
            let long = vec![b'x'; 3 << 20];
            out.write_all(&long).and_then(|()| out.write_all(b"\n")).expect("a pipe");
            self.say(&json!({ "jsonrpc": "2.0", "id": 9, "method": "fs/read_text_file", "params": { "path": "/" } }));
        }
        let mut answered: Option<Tick> = None;
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            self.waited += answered.take().map_or(Duration::ZERO, Tick::elapsed_here);
            let message: Value = serde_json::from_str(&line).expect("JSON");
            self.append("lines", &line);
            let (id, params) = (&message["id"], &message["params"]);
            match message["method"].as_str() {
                Some("initialize") => self.initialize(id),
                Some("session/new") => self.new_conversation(id),
                Some("session/load") => self.load(id, params, true),
                Some("session/resume") => self.load(id, params, false),
                Some("session/set_mode") => {
                    self.mode = params["modeId"].as_str().map(ToOwned::to_owned);
                    self.answer(id, &json!({}));
                }
                Some("session/prompt") => {
                    self.append("waited-us", &self.waited.as_micros().to_string());
                    self.waited = Duration::ZERO;
                    self.prompt(id, params);
                    continue;
                }
                Some("session/cancel") => self.append("cancels", "cancel"),
                None if *id == "ask-1" => self.go_on(&message["result"]["outcome"]),
                Some(_) | None => {}
            }
            answered = Some(now());
        }
    }

    #[expect(clippy::zombie_processes, reason = "it is to be left behind")]
    fn have_child(&self) {
        let child = std::process::Command::new("/bin/sleep").arg("600").spawn().expect("a child");
        self.append("children", &child.id().to_string());
    }

    fn initialize(&self, id: &Value) {
        self.at_point(1);
        if self.told("mute") {
            pass(Duration::from_secs(600));
        }
        let session = if self.told("no-resume") { json!({}) } else { json!({ "resume": {} }) };
        self.answer(
            id,
            &json!({
                "protocolVersion": 1,
                "agentInfo": { "name": "fake", "version": "1" },
                "agentCapabilities": { "loadSession": true, "sessionCapabilities": session },
            }),
        );
        self.at_point(2);
    }

    fn new_conversation(&self, id: &Value) {
        if self.told("login") {
            return self.refuse(id, -32_000, "Authentication required");
        }
        let conversation = format!("c-{}", std::process::id());
        File::create(self.file(&conversation)).expect("a file");
        self.answer(id, &json!({ "sessionId": conversation, "modes": MODES.clone() }));
    }

    fn load(&self, id: &Value, params: &Value, is_replayed: bool) {
        self.at_point(3);
        if self.told("hang-load") {
            pass(Duration::from_secs(600));
        }
        while self.told("load-gate") {
            pass(Duration::from_millis(20));
        }
        if self.told("second-writer") {
            return self.refuse(id, -32_600, "in use elsewhere: thread t already has an active writer");
        }
        if self.told("login") {
            return self.refuse(id, -32_000, "Authentication required");
        }
        let conversation = params["sessionId"].as_str().expect("an id");
        let said = fs::read_to_string(self.file(conversation));
        if said.is_err() && !self.told("lie-load") {
            return self.refuse(id, -32_603, "no such session");
        }
        for line in said.unwrap_or_default().lines().filter(|_| is_replayed) {
            let said: Value = serde_json::from_str(line).expect("ours");
            // In two parts: prompts come as they come.
            let text = said["text"].as_str().expect("a text");
            let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
            for part in [&text[..middle], &text[middle..]] {
                self.update(
                    conversation,
                    &json!({
                        "sessionUpdate": said["by"], "content": { "type": "text", "text": part },
                    }),
                );
            }
        }
        self.answer(id, &json!({ "modes": MODES.clone() }));
        if self.told("late-tools") {
            self.append("tools-at", &millis());
        }
    }

    /// Ends the turn in which it asked, and says how it was answered.
    fn go_on(&mut self, outcome: &Value) {
        let Some((id, conversation)) = self.asked.take() else { return };
        self.chunk(&conversation, outcome["optionId"].as_str().unwrap_or("nothing"));
        self.answer(&id, &json!({ "stopReason": "end_turn" }));
    }

    fn prompt(&mut self, id: &Value, params: &Value) {
        let conversation = params["sessionId"].as_str().expect("an id");
        let text = params["prompt"][0]["text"].as_str().expect("a text");
        self.append("prompts", &text.replace('\n', " "));
        self.append("modes", self.mode.as_deref().unwrap_or("none"));
        self.append("prompts-at", &millis());
        if self.told("fail-prompt") {
            return self.refuse(id, -32_603, "the model is not there");
        }
        if self.told("login-prompt") {
            return self.refuse(id, -32_000, "Authentication required");
        }
        if self.told("429-in-words") {
            self.record(conversation, "user_message_chunk", text);
            self.chunk(conversation, "exceeded retry limit, last status: 429 Too Many Requests");
            return self.answer(id, &json!({ "stopReason": "end_turn" }));
        }
        if self.told("429") {
            self.record(conversation, "user_message_chunk", text);
            return self.answer(id, &json!({ "stopReason": "end_turn" }));
        }
        self.at_point(4);
        self.record(conversation, "user_message_chunk", text);
        self.at_point(5);
        if self.told("silent") {
            return self.append("silences", "silent");
        }
        self.chunk(conversation, "Working. ");
        self.at_point(6);
        if self.told("gate") {
            self.chunk(conversation, "Still at it. ");
            while self.told("gate") {
                pass(Duration::from_millis(20));
            }
        }
        if self.told("dear") {
            let cost = json!({ "amount": 0.75, "currency": "USD" });
            let usage = json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost });
            self.update(conversation, &usage);
        }
        if self.told("slow") {
            pass(Duration::from_millis(300));
        }
        if self.told("stuck") {
            return;
        }
        if self.told("ask") {
            self.ask(conversation);
        }
        if self.told("wait") {
            self.asked = Some((id.clone(), conversation.to_owned()));
            return;
        }
        // Asked for what it was told to remember, it looks into its own conversation.
        let said = fs::read_to_string(self.file(conversation)).unwrap_or_default();
        let word = said
            .split_once("Remember the word ")
            .filter(|_| text.starts_with("Which word") && !self.told("forget"));
        let last = word.map_or("Done.", |(_, rest)| rest.split(',').next().unwrap_or_default());
        self.chunk(conversation, last);
        self.record(conversation, "agent_message_chunk", &format!("Working. {last}"));
        let usage = json!({ "inputTokens": 100, "outputTokens": 7, "totalTokens": 107 });
        self.answer(id, &json!({ "stopReason": "end_turn", "usage": usage }));
        self.at_point(7);
    }

    /// Asks for permission.
    fn ask(&self, conversation: &str) {
        let command = if self.told("long") { "x".repeat(20_000) } else { "rm -rf /".to_owned() };
        let mut call = json!({
            "toolCallId": "t1", "title": "rm -rf /", "kind": "execute", "rawInput": { "command": command },
        });
        if self.told("before") {
            // It tells of the call first, and names it in the question.
            call["sessionUpdate"] = json!("tool_call");
            self.update(conversation, &call);
            call = json!({ "toolCallId": "t1" });
        }
        self.say(&json!({
            "jsonrpc": "2.0", "id": "ask-1", "method": "session/request_permission",
            "params": {
                "sessionId": conversation,
                "toolCall": call,
                "options": [
                    { "optionId": "a!", "kind": "allow_always", "name": "Always" },
                    { "optionId": "a", "kind": "allow_once", "name": "Allow" },
                    { "optionId": "r", "kind": "reject_once", "name": "Reject" },
                ],
            },
        }));
    }

    /// Whether this word stands in the mode; one that is to be done once is taken out.
    fn told(&self, word: &str) -> bool {
        let file = self.home.join("mode");
        let mode = fs::read_to_string(&file).unwrap_or_default();
        let once = format!("once:{word}");
        if mode.split_whitespace().any(|told| told == once) {
            let rest: Vec<&str> = mode.split_whitespace().filter(|told| *told != once).collect();
            fs::write(&file, rest.join(" ")).expect("ours");
            return true;
        }
        mode.split_whitespace().any(|told| told == word)
    }

    /// A point of a turn at which it crashes, or stands still until the daemon is gone, if it is told to.
    fn at_point(&self, at: u8) {
        if self.told(&format!("halt-{at}")) {
            self.append("halts", &at.to_string());
            let daemon = parent_id();
            while parent_id() == daemon {
                pass(Duration::from_millis(20));
            }
            std::process::abort();
        }
        if self.told(&format!("crash-{at}")) {
            let said = format!("fake: crashed at {at}, key sk-secret-of-the-test\n");
            std::io::stderr().write_all(said.as_bytes()).expect("a pipe");
            // As kill -9 does: nothing is flushed, nobody is told.
            std::process::abort();
        }
    }

    fn chunk(&self, conversation: &str, text: &str) {
        self.update(
            conversation,
            &json!({
                "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text },
            }),
        );
    }

    fn update(&self, conversation: &str, update: &Value) {
        let params = json!({ "sessionId": conversation, "update": update });
        self.say(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }

    fn answer(&self, id: &Value, result: &Value) {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn refuse(&self, id: &Value, code: i64, message: &str) {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
    }

    fn say(&self, message: &Value) {
        let mut out = std::io::stdout();
        // The daemon may have gone.
        let _ = out.write_all(format!("{message}\n").as_bytes()).and_then(|()| out.flush());
    }

    fn record(&self, conversation: &str, by: &str, text: &str) {
        append(&self.file(conversation), &json!({ "by": by, "text": text }).to_string());
    }

    fn append(&self, file: &str, line: &str) {
        append(&self.home.join(file), line);
    }

    fn file(&self, conversation: &str) -> PathBuf {
        self.home.join(format!("{conversation}.jsonl"))
    }
}

static MODES: std::sync::LazyLock<Value> = std::sync::LazyLock::new(
    || json!({ "currentModeId": "auto", "availableModes": [{ "id": "auto", "name": "Auto" }, { "id": "ask", "name": "Ask" }] }),
);

fn append(file: &Path, line: &str) {
    let mut file = File::options().create(true).append(true).open(file).expect("a file");
    file.write_all(format!("{line}\n").as_bytes()).expect("it is written");
}

fn millis() -> String {
    let since = crate::harness::daemon::wall();
    since.to_string()
}

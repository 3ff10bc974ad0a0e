//! A server of the Model Context Protocol that does as it is told: this test program itself, started again by the daemon, or a
//! part of it that is reached over HTTP (`fake_http.rs`).
//!
//! What it is to do stands in the file `mode`, word by word; a word with `once:` before it is done one time. What it was sent
//! is in `lines`, and its process ids in `starts`.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::daemon::pass;

/// The variable that makes this program a server: the directory of its files.
pub(super) const FILES: &str = "FAKE_SERVER_FILES";

/// Under the name of this test the daemon starts the server; without the variable it is a test that shows nothing.
#[test]
fn serve() {
    // The harness of the tests has written lines to standard output by now, as some servers do: the daemon passes them over.
    if let Some(home) = std::env::var_os(FILES) {
        let out = Box::new(std::io::stdout());
        Server { is_program: true, ..Server::new(home.into(), out) }.serve();
    }
}

pub(super) struct Server {
    home: PathBuf,
    /// Whether it is a process of its own, which can crash.
    is_program: bool,
    /// Where its messages go, one a line.
    out: RefCell<Box<dyn Write>>,
    /// The calls of `meet` that wait for others.
    waiting: RefCell<Vec<Value>>,
}

/// The calls of `meet` over HTTP: how many have come, how many are there, and how many were at most.
struct Meeting {
    came: usize,
    present: usize,
    most: usize,
}

static MEETING: (Mutex<Meeting>, Condvar) =
    (Mutex::new(Meeting { came: 0, present: 0, most: 0 }), Condvar::new());
/// How many calls one server is given at a time.
const AT_ONCE: usize = 8;

impl Server {
    pub(super) fn new(home: PathBuf, out: Box<dyn Write>) -> Server {
        Server { home, is_program: false, out: RefCell::new(out), waiting: RefCell::default() }
    }

    fn serve(&self) {
        self.append("starts", &std::process::id().to_string());
        if self.told("child") {
            self.have_child();
        }
        if self.told("noise") {
            self.print(b"\xff\xfe{\"jsonrpc\"\n[[[[\n{\"log\":\"started\"}\n\n");
            self.say(
                &json!({"jsonrpc": "2.0", "id": "s1", "method": "sampling/createMessage", "params": {}}),
            );
        }
        if self.told("dead") {
            end(3, "no licence");
        }
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            self.append("lines", &line);
            self.hear(&serde_json::from_str(&line).expect("JSON"));
        }
        self.append("ends", "its input was closed");
        if self.told("immortal") {
            pass(Duration::from_secs(600));
        }
    }

    /// Does what a message asks for.
    pub(super) fn hear(&self, message: &Value) {
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str() {
            Some("initialize") => self.initialize(id, params),
            Some("tools/list") => self.list(id, params),
            Some("tools/call") => self.call(id, params),
            Some("notifications/cancelled") if self.told("late") => self.answer_late(&params["requestId"]),
            Some(_) | None => {}
        }
    }

    #[expect(clippy::zombie_processes, reason = "it is to be left behind")]
    fn have_child(&self) {
        let child = std::process::Command::new("/bin/sleep").arg("600").spawn().expect("a child");
        self.append("children", &child.id().to_string());
    }

    fn initialize(&self, id: &Value, params: &Value) {
        if self.told("mute") {
            pass(Duration::from_secs(600));
        }
        let tools = json!({"tools": {"listChanged": true}});
        let server = json!({"name": "fake", "version": "1"});
        let version = &params["protocolVersion"];
        self.answer(id, &json!({"protocolVersion": version, "capabilities": tools, "serverInfo": server}));
    }

    /// Two pages.
    fn list(&self, id: &Value, params: &Value) {
        if self.told("noise") {
            self.answer(&json!(77), &json!({ "nobody": "asked" }));
        }
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        if params["cursor"].is_null() {
            let mut echo = tool("echo");
            echo["description"] = json!("Says it again.");
            echo["annotations"] = json!({"readOnlyHint": true});
            let others = ["fail", "text", "slow", "die", "huge", "twice", "meet"].map(tool);
            let tools: Vec<Value> = std::iter::once(echo).chain(others).collect();
            self.answer(id, &json!({"tools": tools, "nextCursor": "2"}));
        } else {
            let mut tools = vec![tool("closed"), tool("taken"), tool("no/name"), tool("change")];
            if self.home.join("changed").exists() {
                tools.push(tool("fresh"));
            }
            self.answer(id, &json!({ "tools": tools }));
        }
    }

    fn call(&self, id: &Value, params: &Value) {
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        match params["name"].as_str().unwrap_or_default() {
            "echo" => self.answer(id, &json!({"content": [], "structuredContent": params["arguments"]})),
            "text" => {
                let said = fs::read_to_string(self.home.join("said"));
                self.answer(
                    id,
                    &json!({ "content": text(&said.unwrap_or_else(|_| "all is well".to_owned())) }),
                );
            }
            // It has its answer once it is called off.
            "slow" | "meet" if self.told("late") => {}
            "meet" => self.meet(id),
            "fail" => self.answer(id, &json!({"content": text("no such branch"), "isError": true})),
            "die" if self.is_program => end(4, "out of paper"),
            "die" => {}
            "huge" => {
                self.print(&vec![b'x'; 5 << 20]);
                self.print(b"\n");
            }
            "twice" => self.print(
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[],\"content\":[]}}}}\n")
                    .as_bytes(),
            ),
            "change" => {
                self.append("changed", "yes");
                // A stream of its own says it otherwise.
                if !self.told("stream") {
                    self.say(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
                }
                self.answer(id, &json!({ "content": text("changed") }));
            }
            // The calling off is not heard: it is read when nobody waits any more.
            "slow" => {
                pass(Duration::from_secs(4));
                self.answer(id, &json!({ "content": text("too late") }));
            }
            _ => self.say(
                &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no such tool"}}),
            ),
        }
    }

    /// Answers a call that nobody waits for any more, and then once more.
    fn answer_late(&self, id: &Value) {
        for _ in 0..2 {
            self.answer(id, &json!({"content": [{"type": "text", "text": "too late"}]}));
        }
        self.append("late", &id.to_string());
    }

    /// Answers when so many calls as a server is given at a time are there, and says how many were.
    fn meet(&self, id: &Value) {
        let met = |count: usize| json!({"content": [], "structuredContent": {"met": count}});
        if self.is_program {
            self.waiting.borrow_mut().push(id.clone());
            let count = self.waiting.borrow().len();
            if count == AT_ONCE {
                self.waiting.take().iter().for_each(|id| self.answer(id, &met(count)));
            }
            return;
        }
        let mut meeting = MEETING.0.lock().expect("whole");
        meeting.came += 1;
        meeting.present += 1;
        meeting.most = meeting.most.max(meeting.present);
        let awaited = meeting.came.div_ceil(AT_ONCE) * AT_ONCE;
        MEETING.1.notify_all();
        let patience = Duration::from_secs(20);
        let waited = MEETING.1.wait_timeout_while(meeting, patience, |meeting| meeting.came < awaited);
        let (mut meeting, _) = waited.expect("whole");
        // Before it answers: another one may come at once.
        meeting.present -= 1;
        let count = meeting.most;
        drop(meeting);
        self.answer(id, &met(count));
    }

    fn answer(&self, id: &Value, result: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    pub(super) fn say(&self, message: &Value) {
        self.print(format!("{message}\n").as_bytes());
    }

    fn print(&self, bytes: &[u8]) {
        let mut out = self.out.borrow_mut();
        let printed = out.write_all(bytes).and_then(|()| out.flush());
        // A daemon that has had enough of it closes the other end.
        if printed.is_err() {
            self.append("ends", "its output was closed");
        }
    }

    /// Whether it was told this; what is done once is not told again.
    pub(super) fn told(&self, word: &str) -> bool {
        let path = self.home.join("mode");
        let mode = fs::read_to_string(&path).unwrap_or_default();
        let once = format!("once:{word}");
        if mode.split_whitespace().any(|told| told == once) {
            let rest: Vec<&str> = mode.split_whitespace().filter(|told| **told != once).collect();
            fs::write(path, rest.join(" ")).expect("ours");
            return true;
        }
        mode.split_whitespace().any(|told| told == word)
    }

    pub(super) fn append(&self, name: &str, line: &str) {
        let file = File::options().create(true).append(true).open(self.home.join(name));
        // In one piece: several requests over HTTP are written down at once.
        file.expect("ours").write_all(format!("{line}\n").as_bytes()).expect("ours");
    }
}

/// Says why, and ends this process at once, as a crash does.
#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "a server that crashes is what the test is about"
)]
fn end(code: i32, why: &str) {
    std::io::stderr().write_all(why.as_bytes()).expect("a pipe");
    std::process::exit(code);
}

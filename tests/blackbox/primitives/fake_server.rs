//! A server of the Model Context Protocol that does as it is told: this test program itself, started again by the daemon.
//!
//! What it is to do stands in the file `mode`, word by word; a word with `once:` before it is done one time. What it was sent is
//! in `lines`, and its process ids in `starts`.

use std::fs::{self, File};
use std::io::{BufRead, Write};
use std::path::PathBuf;
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
        Server { home: home.into() }.serve();
    }
}

struct Server {
    home: PathBuf,
}

impl Server {
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
            let message: Value = serde_json::from_str(&line).expect("JSON");
            let (id, params) = (&message["id"], &message["params"]);
            match message["method"].as_str() {
                Some("initialize") => self.initialize(id, params),
                Some("tools/list") => self.list(id, params),
                Some("tools/call") => self.call(id, params),
                Some(_) | None => {}
            }
        }
        self.append("ends", "its input was closed");
        if self.told("immortal") {
            pass(Duration::from_secs(600));
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
            let tools =
                [echo, tool("fail"), tool("text"), tool("slow"), tool("die"), tool("huge"), tool("twice")];
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
            "text" => self.answer(id, &json!({ "content": text("all is well") })),
            "fail" => self.answer(id, &json!({"content": text("no such branch"), "isError": true})),
            "die" => end(4, "out of paper"),
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
                self.say(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
                self.answer(id, &json!({ "content": text("changed") }));
            }
            // The calling off is not heard: it is read when nobody waits any more.
            "slow" => pass(Duration::from_secs(4)),
            _ => self.say(
                &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no such tool"}}),
            ),
        }
        if params["name"] == "slow" {
            self.answer(id, &json!({ "content": text("too late") }));
        }
    }

    fn answer(&self, id: &Value, result: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn say(&self, message: &Value) {
        self.print(format!("{message}\n").as_bytes());
    }

    fn print(&self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        let printed = out.write_all(bytes).and_then(|()| out.flush());
        // A daemon that has had enough of it closes the other end.
        if printed.is_err() {
            self.append("ends", "its output was closed");
        }
    }

    /// Whether it was told this; what is done once is not told again.
    fn told(&self, word: &str) -> bool {
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

    fn append(&self, name: &str, line: &str) {
        let file = File::options().create(true).append(true).open(self.home.join(name));
        writeln!(file.expect("ours"), "{line}").expect("ours");
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

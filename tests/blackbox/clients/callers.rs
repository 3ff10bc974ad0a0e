//! Tool servers without a named session: whose call it is. The test's own process stands for the agent, and is the parent of its
//! hooks and of its tool server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::agents::{ask, eql, hook, recorded, schedule, start, until};
use crate::harness::daemon::{Daemon, Home};

/// A tool server without a named session.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    fn start(home: &Home, client: &str, environment: &[(&str, &str)]) -> Server {
        let mut command = home.command(&["mcp", "--data-dir", "state"]);
        command.envs(environment.iter().copied());
        Server::of(command, client)
    }

    fn of(mut command: Command, client: &str) -> Server {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary was built");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let mut server = Server { child, input, output: BufReader::new(output), asked: 0 };
        let hello = json!({"protocolVersion": "2025-06-18", "clientInfo": {"name": client, "version": "0"}});
        server.ask("initialize", &hello);
        server
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let asked = json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        writeln!(self.input, "{asked}").expect("it reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        serde_json::from_str(&line).expect(&line)
    }

    /// Creates a schedule; whatever the call has beside is given as it is.
    fn create(&mut self, message: &str, args: &Value, meta: &Value) -> Value {
        let mut given = json!({"message": message, "when": "in 1 hour"});
        given.as_object_mut().expect("a map").extend(args.as_object().cloned().unwrap_or_default());
        let params = json!({"name": "create", "arguments": given, "_meta": meta});
        self.ask("tools/call", &params)["result"]["structuredContent"].clone()
    }

    fn tell(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("it reads");
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        serde_json::from_str(&line).expect(&line)
    }

    fn end(mut self) {
        drop(self.input);
        self.child.wait().expect("it ends");
    }
}

/// The sessions of the schedules with these messages.
fn owner(home: &Home, message: &str) -> String {
    let asked = "[{:psi.scheduler/schedules [:psi.scheduler/message :psi.scheduler/origin-session-id]}]";
    let answer = eql(home, asked);
    let (_, rest) =
        answer.split_once(&format!("{message:?} :psi.scheduler/origin-session-id \"")).expect(&answer);
    rest.split('"').next().expect("an id").to_owned()
}

/// The hooks of the process say whose call it is, anew after each /clear; the variable of the first conversation does not.
#[test]
fn a_call_is_for_the_conversation_that_its_process_is_in() {
    let home = Home::new("agents-whose");
    let daemon = Daemon::start(&home);
    let mut server = Server::start(&home, "claude-code", &[("CLAUDE_CODE_SESSION_ID", "first")]);
    let none = json!({});
    server.create("by the variable", &none, &none);
    assert_eq!(owner(&home, "by the variable"), "claude:first");
    start(&home, "first", "startup");
    server.create("by the hook", &none, &none);
    assert_eq!(owner(&home, "by the hook"), "claude:first");
    hook(&home, "SessionEnd", "first", &json!({"reason": "clear"}));
    start(&home, "second", "clear");
    server.create("after clear", &none, &none);
    assert_eq!(owner(&home, "after clear"), "claude:second");
    // A model's words are not believed: no tool has such an argument.
    let forged = server.create("forged", &json!({"address": "claude:first"}), &json!({"threadId": "x"}));
    assert_eq!(forged["error"]["kind"], "unknown_field", "{forged}");
    server.end();
    daemon.end("-TERM");
}

/// Two windows are two processes, and two sessions.
#[test]
fn two_windows_are_two_sessions() {
    let home = Home::new("agents-windows");
    let daemon = Daemon::start(&home);
    // A shell stands for the second window: the parent of its hook and of its tool server.
    let script = "\"$0\" hook claude --data-dir state < hook.json; \"$0\" mcp --data-dir state; true";
    std::fs::write(home.path().join("hook.json"), recorded("SessionStart", "other", &json!({})))
        .expect("ours");
    let program = home.command(&[]).get_program().to_owned();
    let mut shell = home.command_of(std::path::Path::new("/bin/sh"), &["-c", script]);
    shell.arg(program);
    start(&home, "mine", "startup");
    let mut other = Server::of(shell, "claude-code");
    let mut mine = Server::start(&home, "claude-code", &[]);
    let none = json!({});
    other.create("in the other window", &none, &none);
    mine.create("in this window", &none, &none);
    assert_eq!(owner(&home, "in the other window"), "claude:other");
    assert_eq!(owner(&home, "in this window"), "claude:mine");
    other.end();
    mine.end();
    daemon.end("-TERM");
}

#[test]
fn codex_says_the_thread_with_each_call_and_opencodes_plugin_the_address() {
    let home = Home::new("agents-marks");
    let daemon = Daemon::start(&home);
    let none = json!({});
    let mut codex = Server::start(&home, "codex-mcp-client", &[]);
    codex.create("in a thread", &none, &json!({"threadId": "t-1", "sessionId": "s-1"}));
    codex.create("in another", &none, &json!({"threadId": "t-2"}));
    assert_eq!(
        (owner(&home, "in a thread"), owner(&home, "in another")),
        ("codex:t-1".into(), "codex:t-2".into())
    );
    codex.end();
    let mut opencode = Server::start(&home, "opencode", &[("REVEILLE_AGENT", "opencode")]);
    let marks = json!({"address": "opencode:ses_1", "directory": "/home/ada"});
    let made = opencode.create("by the plugin", &marks, &none);
    assert_eq!(made["created"], true, "{made}");
    assert_eq!(owner(&home, "by the plugin"), "opencode:ses_1");
    // The plugin of one agent does not speak for another.
    opencode.create("for another", &json!({"address": "claude:c1"}), &none);
    assert!(owner(&home, "for another").starts_with("mcp:"));
    opencode.end();
    daemon.end("-TERM");
}

/// A conversation that nobody knows has a session of its own, and is told that nobody is woken.
#[test]
fn an_unknown_conversation_is_answered_and_told_that_it_wakes_nobody() {
    let home = Home::new("agents-unknown");
    let daemon = Daemon::start(&home);
    let none = json!({});
    let (mut one, mut two) = (Server::start(&home, "x", &[]), Server::start(&home, "x", &[]));
    let made = one.create("by one", &none, &none);
    two.create("by two", &none, &none);
    assert!(
        made["warnings"][0].as_str().expect("words").contains("Nobody is connected who could be woken"),
        "{made}"
    );
    assert_ne!(owner(&home, "by one"), owner(&home, "by two"));
    one.end();
    two.end();
    let mut named = Server::start(&home, "x", &[("REVEILLE_SESSION", "named")]);
    named.create("by name", &none, &none);
    assert_eq!(owner(&home, "by name"), "named");
    named.end();
    daemon.end("-TERM");
}

/// An agent may wait for what is due: its call ends as soon as something comes, others are answered meanwhile, and a call that
/// it cancels takes nothing.
#[test]
fn a_call_waits_until_something_comes_into_the_inbox() {
    let home = Home::new("agents-wait");
    let daemon = Daemon::start(&home);
    let mut server = Server::start(&home, "x", &[("REVEILLE_SESSION", "claude:c1")]);
    let call = |id: u64, args: &Value| {
        let params = json!({"name": "inbox", "arguments": args});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let messages = |answer: &Value| answer["result"]["structuredContent"]["messages"].clone();
    let text = |answer: &Value| messages(answer)[0]["text"].clone();
    let wait = json!({"wait_seconds": 600});
    server.tell(&call(100, &wait));
    let listed = server.ask("tools/call", &json!({"name": "list", "arguments": {}}));
    assert_eq!(listed["result"]["structuredContent"]["total"], 0, "{listed}");
    schedule(&home, "c1", "at last", 1);
    let answer = server.next();
    assert_eq!((&answer["id"], text(&answer)), (&json!(100), json!("at last")), "{answer}");
    // Cancelled: nothing is taken, and nothing is answered.
    server.tell(&call(101, &wait));
    server.ask("ping", &json!({}));
    server
        .tell(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 101}}));
    server.ask("ping", &json!({}));
    schedule(&home, "c1", "for the next call", 1);
    until(|| ask(&home, "c1", "[:psi.agent-session/inbox-count]").contains("inbox-count 1"));
    server.tell(&call(102, &json!({"wait_seconds": 1})));
    let answer = server.next();
    assert_eq!((&answer["id"], text(&answer)), (&json!(102), json!("for the next call")), "{answer}");
    // Nothing comes in time; and one that still waits keeps nobody from ending.
    server.tell(&call(103, &json!({"wait_seconds": 1})));
    let answer = server.next();
    assert_eq!((&answer["id"], messages(&answer)), (&json!(103), json!([])), "{answer}");
    server.tell(&call(104, &json!({"wait_seconds": 601})));
    assert_eq!(server.next()["result"]["structuredContent"]["error"]["kind"], "out_of_range");
    server.tell(&call(105, &wait));
    server.end();
    daemon.end("-TERM");
}

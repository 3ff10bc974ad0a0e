//! The Model Context Protocol as a client speaks it: lines in, lines out. Conversations are in `fixtures/mcp/`; those of the
//! protocol are played over HTTP too, in `tests/suite/http/mcp.rs`. The clock is simulated, and nothing waits.

pub(crate) mod script;

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::domain::{
    BootTime, Caller, CallerRole, Channel, ChannelKind, Dialect, HostId, Moment, Now, Primitives, Right,
    SessionConfig, SessionId,
};
use reveille::engine::{Input, Report};
use reveille::runtime::Handle;
use reveille::service::{Service, TOOLBOX, ToolInfo};
use reveille::surface::mcp::{McpService, Origin, Scheduler, ToolFilter, serve};
use reveille::testkit::{SimClock, Stage};
use serde_json::Value;

fn engine() -> Handle {
    let mut stage = Stage::seeded(20_260_422);
    let wall = Moment::parse("2026-04-22T13:00:00Z").expect("an instant");
    let boot = BootTime::from_nanos(3_600_000_000_000);
    stage.clock = Arc::new(SimClock::starting_at(Now { wall, boot }));
    let handle = Handle::new(stage.parts(Arc::new(HostLocal::new())));
    for session in ["main", "other"] {
        let id = SessionId::new(session).expect("an id");
        handle.open_session(Some(id), HostId::LOCAL, SessionConfig::default()).expect("it opens");
    }
    handle
}

fn caller(name: &str) -> Caller {
    match name {
        "operator" => Caller::OPERATOR,
        "observer" => Caller { right: Right::Read, ..Caller::OPERATOR },
        session => Caller::session(SessionId::new(session).expect("an id")),
    }
}

/// Sends one line through the stream protocol, and says what came back.
fn ask(handle: &Handle, name: &str, line: &str) -> Option<String> {
    let (caller, offer) = (caller(name), ToolFilter::default());
    let scheduler = Scheduler { service: &Service::new(handle.clone()), caller: &caller, offer: &offer };
    let service = McpService { features: &scheduler };
    let mut output = Vec::new();
    let input = format!("{line}\n");
    serve(input.as_bytes(), &mut output, |line| service.answer(line, None).body).expect("memory");
    let output = String::from_utf8(output).expect("UTF-8");
    assert!(output.lines().count() <= 1, "{output}");
    (!output.is_empty()).then_some(output)
}

#[track_caller]
fn check(script: &str) {
    let faults = script::play(script, || {
        let handle = engine();
        move |name: &str, line: &str| ask(&handle, name, line)
    });
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn the_protocol_is_spoken_as_written() {
    check(include_str!("../../../fixtures/mcp/protocol.txt"));
}

#[test]
fn the_tools_answer_as_written() {
    check(include_str!("../../../fixtures/mcp/tools.txt"));
}

/// Every tool of every dialect has a schema that a client can read.
#[test]
fn every_dialect_can_be_offered() {
    let handle = engine();
    handle.tools().switch(Primitives::all());
    let (name, goes_to) = ("ops".into(), "https://hooks.example.com".into());
    let channel = Channel { name, kind: ChannelKind::Webhook, goes_to, agents: true, agents_manage: true };
    handle.submit(Input::Report(Report::ChannelOpened(channel))).expect("it is a fact");
    let (caller, offer) = (caller("main"), ToolFilter::parse(&Dialect::NAMES.join(",")));
    let offer = offer.expect("dialects");
    let scheduler = Scheduler { service: &Service::new(handle.clone()), caller: &caller, offer: &offer };
    let service = McpService { features: &scheduler };
    let list = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let body = service.answer(list, None).body.expect("an answer");
    let answer: Value = serde_json::from_str(&body).expect("JSON");
    let tools = answer["result"]["tools"].as_array().expect("a list");
    // An agent has all of them but the one by which operators try a channel.
    let is_operators = |tool: &&ToolInfo| tool.name == "channels.test_send";
    assert_eq!(tools.len(), TOOLBOX.iter().filter(|tool| !is_operators(tool)).count());
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert!(!tool["description"].as_str().unwrap_or_default().is_empty(), "{tool}");
    }
    assert!(ToolFilter::parse("").is_err() && ToolFilter::parse("native,none").is_err());
}

/// Any prefix of a message, and any message with one byte changed, is answered with a message or with nothing.
#[test]
fn no_line_is_answered_with_anything_but_a_message() {
    let handle = engine();
    let line =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{"first":1}}}"#;
    let mut lines: Vec<Vec<u8>> = (0..line.len()).map(|end| line.as_bytes()[..end].to_vec()).collect();
    for place in 0..line.len() {
        for byte in [b'"', b'{', b'}', b'\\', 0, 0xff, b'0'] {
            let mut changed = line.as_bytes().to_vec();
            changed[place] = byte;
            lines.push(changed);
        }
    }
    let (caller, offer) = (caller("main"), ToolFilter::default());
    let scheduler = Scheduler { service: &Service::new(handle.clone()), caller: &caller, offer: &offer };
    let service = McpService { features: &scheduler };
    for line in lines {
        let reply = service.answer(&line, None);
        let Some(body) = reply.body else { continue };
        let answer: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(answer["jsonrpc"], "2.0", "{body}");
        assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{body}");
    }
}

/// A session's token keeps to its pace, each creation counts once, and a model is told when to come back.
#[test]
fn creations_keep_their_pace() {
    let handle = engine();
    let (caller, offer) = (Caller { role: CallerRole::Session, ..caller("main") }, ToolFilter::default());
    let scheduler = Scheduler { service: &Service::new(handle.clone()), caller: &caller, offer: &offer };
    let service = McpService { features: &scheduler };
    let create = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create",
        "arguments":{"message":"m","when":"in 1 hour","key":"k"}}}"#;
    let ask = || service.answer(create, None).body.expect("an answer");
    for count in 0..reveille::limits::CREATES_PER_MINUTE.value {
        let answer = ask();
        assert!(answer.contains("\"isError\":false"), "{count}: {answer}");
    }
    let answer = ask();
    assert!(answer.contains("\"class\":\"LIMIT\"") && answer.contains("wait_ms"), "{answer}");
}

/// The command, over an engine of its own.
#[test]
fn the_command_speaks_it_on_stdio() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_reveille"))
        .args(["mcp", "--session", "mine"])
        .env("REVEILLE_URL", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "garbage",
        concat!(
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":"#,
            r#"{"name":"create","arguments":{"message":"m","when":"in 1 hour"}}}"#
        ),
    ];
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(format!("{}\n", lines.join("\n")).as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    let out = String::from_utf8(output.stdout).expect("UTF-8");
    let answers: Vec<Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("a message a line")).collect();
    assert_eq!(answers.len(), 3, "{out}");
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answers[1]["error"]["code"], -32_700);
    let created = &answers[2]["result"]["structuredContent"];
    assert_eq!(created["created"], true, "{out}");
    // Nothing is downgraded in silence.
    assert_eq!(created["durability"], "volatile");
    let warns = |at: usize, of: &str| created["warnings"][at].as_str().is_some_and(|text| text.contains(of));
    assert!(warns(0, "it will wait in the inbox of the session mine") && warns(1, "lost"), "{out}");
    let err = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(err.contains("cancelled"), "{err}");
}

/// What plays the conversations finds what is wrong with one.
#[test]
fn a_conversation_that_goes_otherwise_is_found() {
    let rows = [
        (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, true),
        (r#"{"a":1}"#, r#"{"a":2}"#, false),
        (r#"{"b":"!"}"#, r#"{"a":1}"#, true),
        (r#"{"a":"!"}"#, r#"{"a":1}"#, false),
        (r#"{"a":"_"}"#, r#"{"b":1}"#, false),
        (r#"{"a":["_"]}"#, r#"{"a":[1,2]}"#, false),
        (r#"{"a":"~x"}"#, r#"{"a":"yz"}"#, false),
        (r#"{"a":"{\"b\":1}"}"#, r#"{"a":"{\"b\":1,\"c\":2}"}"#, true),
        (r#"{"a":"{\"b\":1}"}"#, r#"{"a":"{\"b\":2}"}"#, false),
        (r#"{"a":"$x","b":"$x"}"#, r#"{"a":"1","b":"1"}"#, true),
        (r#"{"a":"$x","b":"$x"}"#, r#"{"a":"1","b":"2"}"#, false),
        ("nothing", r#"{"a":1}"#, false),
        (r#"{"a":1}"#, "", false),
        ("nothing", "", true),
    ];
    for (expected, came, is_right) in rows {
        let answer = (!came.is_empty()).then(|| came.to_owned());
        let script = format!("# a row\nmain> x\n< {expected}\n");
        let faults = script::play(&script, || |_: &str, _: &str| answer.clone());
        assert_eq!(faults.is_empty(), is_right, "{expected} {came}: {faults:?}");
    }
}

/// Clients give up after a minute, often without a word, and what an inbox gives to a call that nobody waits for is lost.
#[test]
fn a_call_of_the_inbox_is_over_before_its_client_gives_up() {
    let asked = |seconds: &str| {
        let params = format!(r#"{{"name":"inbox","arguments":{{"wait_seconds":{seconds}}}}}"#);
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        format!("{:?}", Origin::of(call.as_bytes()))
    };
    for (seconds, waits) in [("5", "Some(5)"), ("110", "Some(50)"), ("600", "Some(50)"), ("601", "None")] {
        let origin = asked(seconds);
        assert!(origin.contains(&format!("wait_seconds: {waits}")), "{seconds}: {origin}");
    }
}

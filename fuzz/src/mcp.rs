//! Fuzzes MCP messages, one per line, sent by a session with its six tools or, after a `!`, by an
//! operator with all tools. Each gets one answer or none, as JSON-RPC demands: with the request's
//! id, and none for a notification. A relay classifies a message as the service does, and adds the
//! headers that the service expects.

use reveille::dialect::{REQUEST_CAPS, json};
use reveille::service::Service;
use reveille::surface::mcp::{
    McpReply, McpService, MirroredHeaders, MirroredValue, ProxiedMessage, Scheduler, ToolFilter, serve,
};
use serde_json::Value;

use super::scene::{Scene, callers};

/// The maximum of lines: each may create a schedule.
const LINES: usize = 16;

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let [operator, main] = callers();
    let (caller, offer, input) = match input.strip_prefix(b"!") {
        Some(rest) => {
            (operator, ToolFilter::parse("cron,psi,native,reminder,session-action").expect("dialects"), rest)
        }
        None => (main, ToolFilter::default(), input),
    };
    let Scene { handle, .. } = Scene::new();
    let scheduler = Scheduler { service: &Service::new(handle.clone()), caller: &caller, offer: &offer };
    let service = McpService { features: &scheduler };
    let lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').take(LINES).collect();
    for line in &lines {
        check(line, &service.answer(line, None));
        relayed(line, &service);
    }
    streamed(&lines);
}

/// Checks an answer with serde_json, independently of our parser.
fn check(line: &[u8], reply: &McpReply) {
    let answer = reply.body.as_ref().map(|body| {
        assert!(!body.contains('\n'), "{body}");
        serde_json::from_str::<Value>(body).expect("an answer is JSON")
    });
    if let Some(answer) = &answer {
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer}");
        let is_error = |error: &Value| error["code"].is_i64() && error["message"].is_string();
        assert!(answer.get("error").is_none_or(is_error), "{answer}");
    }
    if json::read(line, &REQUEST_CAPS).is_err() {
        let answer = answer.expect("what cannot be read is answered");
        return assert_eq!((&answer["error"]["code"], answer.get("id")), (&(-32_700).into(), None));
    }
    let asked: Value = serde_json::from_slice(line).expect("it was read");
    let is_message = asked["jsonrpc"] == "2.0" && asked["method"].is_string();
    let id = asked.get("id");
    match answer {
        // serde_json may round an id beyond 64 bits, so only ids that it represents exactly are
        // compared.
        Some(answer) if id.is_some_and(|id| id.is_string() || id.is_i64() || id.is_u64()) => {
            assert_eq!(answer.get("id"), id, "{answer}");
        }
        Some(answer) => assert!(id.is_some() || !is_message, "{asked}: {answer}"),
        None => assert!(!is_message || id.is_none(), "{asked} is not answered"),
    }
}

fn relayed(line: &[u8], service: &McpService<'_>) {
    let relayed = ProxiedMessage::of(line);
    let said = |name| {
        let header = relayed.headers.iter().find(|(header, _)| *header == name);
        header.map_or(MirroredValue::Nothing, |(_, value)| {
            assert!(value.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{value}");
            MirroredValue::Once(value)
        })
    };
    let mirror = MirroredHeaders {
        revision: said(MirroredHeaders::REVISION),
        method: said(MirroredHeaders::METHOD),
        name: said(MirroredHeaders::NAME),
    };
    let reply = service.answer(line, Some(&mirror));
    check(line, &reply);
    // Otherwise the relay would drop an answer, or invent one.
    assert_eq!(relayed.is_remark, reply.body.is_none());
    if let Some(body) = &reply.body {
        let answer: Value = serde_json::from_str(body).expect("it was checked");
        // -32020 is the error for headers that contradict the message.
        assert_ne!(answer["error"]["code"], -32_020, "its own headers are refused: {answer}");
        assert_eq!(relayed.answer(body, String::new).as_ref(), Some(body), "passed on");
    }
}

/// Checks the stream: each line that is not blank is answered once and in order.
fn streamed(lines: &[&[u8]]) {
    let (mut output, mut asked) = (Vec::new(), Vec::new());
    let answer = |line: &[u8]| {
        asked.push(line.to_vec());
        Some(asked.len().to_string())
    };
    serve(&lines.join(&b'\n')[..], &mut output, answer).expect("memory");
    let said: Vec<&[u8]> =
        lines.iter().copied().filter(|line| !line.iter().all(u8::is_ascii_whitespace)).collect();
    assert_eq!(asked, said);
    let expected: String = (1..=said.len()).map(|number| format!("{number}\n")).collect();
    assert_eq!(String::from_utf8(output), Ok(expected));
}

//! Any lines as messages of the Model Context Protocol, to a service over an engine without I/O: those of a session with
//! its six tools, or, behind a `!`, of an operator with all tools there are. Each is answered by one message or by none, as
//! JSON-RPC has it: with the id of the request, and nothing to a notification. What a relay makes of a message is what the
//! service makes of it, and the headers that it adds are those that the service expects.

use reveille::dialect::{REQUEST_CAPS, json};
use reveille::surface::mcp::{Mirror, Offer, Relayed, Reply, Said, Scheduler, Service, serve};
use serde_json::Value;

use super::scene::{Scene, callers};

/// Lines that are played, at most: each may make a schedule.
const LINES: usize = 16;

/// Fails where one of that does not hold.
pub fn run(input: &[u8]) {
    let [operator, main] = callers();
    let (caller, offer, input) = match input.strip_prefix(b"!") {
        Some(rest) => {
            (operator, Offer::parse("cron,psi,native,reminder,session-action").expect("dialects"), rest)
        }
        None => (main, Offer::default(), input),
    };
    let Scene { handle, .. } = Scene::new();
    let scheduler = Scheduler { handle: &handle, caller: &caller, offer: &offer };
    let service = Service { features: &scheduler };
    let lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').take(LINES).collect();
    for line in &lines {
        check(line, &service.answer(line, None));
        relayed(line, &service);
    }
    streamed(&lines);
}

/// What must be answered, by the parser of another crate.
fn check(line: &[u8], reply: &Reply) {
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
        // An id that is no number of 64 bits is a number of another size to that parser.
        Some(answer) if id.is_some_and(|id| id.is_string() || id.is_i64() || id.is_u64()) => {
            assert_eq!(answer.get("id"), id, "{answer}");
        }
        Some(answer) => assert!(id.is_some() || !is_message, "{asked}: {answer}"),
        None => assert!(!is_message || id.is_none(), "{asked} is not answered"),
    }
}

fn relayed(line: &[u8], service: &Service<'_>) {
    let relayed = Relayed::of(line);
    let said = |name| {
        let header = relayed.headers.iter().find(|(header, _)| *header == name);
        header.map_or(Said::Nothing, |(_, value)| {
            assert!(value.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{value}");
            Said::Once(value)
        })
    };
    let mirror =
        Mirror { revision: said(Mirror::REVISION), method: said(Mirror::METHOD), name: said(Mirror::NAME) };
    let reply = service.answer(line, Some(&mirror));
    check(line, &reply);
    assert_eq!(relayed.is_remark, reply.body.is_none());
    if let Some(body) = &reply.body {
        let answer: Value = serde_json::from_str(body).expect("it was checked");
        assert_ne!(answer["error"]["code"], -32_020, "its own headers are refused: {answer}");
        assert_eq!(relayed.answer(body, String::new).as_ref(), Some(body), "passed on");
    }
}

/// As a stream: each line that says anything is answered once, in order, as it came.
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

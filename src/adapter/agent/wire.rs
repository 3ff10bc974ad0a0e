//! The Agent Client Protocol, version 1, in the client's role: a line of JSON-RPC 2.0 each way.
//!
//! What is sent: seven requests and answers to the agent's. What is read: answers, updates of a session, and questions for
//! permission; every other request is answered with "method not found". What lives elsewhere: when something is sent, and what
//! an answer means (`conversation.rs`). Invariant: whatever an agent writes is read without a panic; what is not understood is
//! noise.
//! Source: the protocol's schema 1.15.

use serde_json::{Value, json};

use super::details::{Details, WORD_BYTES};
use crate::domain::SessionId;
use crate::limits;

/// A request to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Agree on the version.
    Initialize,
    /// Begin a conversation in a directory.
    New,
    /// Go on with a conversation, without a replay of it.
    Resume,
    /// Go on with a conversation, and replay it.
    Load,
    /// Set how much the agent may do unasked.
    SetMode(Box<str>),
    /// Say something.
    Prompt(Box<str>),
}

/// What the requests of a conversation have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// The agent's id of the conversation; empty before there is one.
    pub(super) conversation: &'a str,
    /// The working directory.
    pub(super) directory: &'a str,
    /// The tool servers that the agent gets in it, by [`tool_servers`].
    pub(super) servers: &'a Value,
}

/// Prints the tool servers of a session's conversation: our own, whose calls are the session's, or none.
pub(super) fn tool_servers(command: Option<&[String]>, session: &SessionId) -> Value {
    let of = |(program, arguments): (&String, &[String])| {
        let whose = json!({ "name": SESSION_VARIABLE, "value": session.as_str() });
        json!([{ "name": "reveille", "command": program, "args": arguments, "env": [whose] }])
    };
    command.and_then(<[String]>::split_first).map_or_else(|| json!([]), of)
}

impl Request {
    /// Prints the request as a line.
    pub(super) fn print(&self, id: u64, place: &Place<'_>) -> String {
        let Place { conversation, directory, servers } = place;
        let (method, params) = match self {
            Request::Initialize => (
                "initialize",
                json!({
                    "protocolVersion": 1,
                    "clientInfo": { "name": "reveille", "version": env!("CARGO_PKG_VERSION") },
                    "clientCapabilities": {
                        "fs": { "readTextFile": false, "writeTextFile": false },
                        "terminal": false,
                    },
                }),
            ),
            Request::New => ("session/new", json!({ "cwd": directory, "mcpServers": servers })),
            Request::Resume | Request::Load => (
                if *self == Request::Load { "session/load" } else { "session/resume" },
                json!({ "sessionId": conversation, "cwd": directory, "mcpServers": servers }),
            ),
            Request::SetMode(mode) => {
                ("session/set_mode", json!({ "sessionId": conversation, "modeId": mode }))
            }
            Request::Prompt(text) => (
                "session/prompt",
                json!({ "sessionId": conversation, "prompt": [{ "type": "text", "text": text }] }),
            ),
        };
        line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }
}

/// Prints the notification that cancels the turn of a conversation.
pub(super) fn cancel(conversation: &str) -> String {
    line(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": conversation } }))
}

/// Prints the answer to a question for permission: the option that was chosen, or that the question is cancelled.
pub(super) fn permit(id: &Value, option: Option<&str>) -> String {
    let outcome = match option {
        Some(option) => json!({ "outcome": "selected", "optionId": option }),
        None => json!({ "outcome": "cancelled" }),
    };
    line(&json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": outcome } }))
}

/// Prints the answer to a request that we do not know.
pub(super) fn unknown_method(id: &Value, method: &str) -> String {
    let message = format!("there is no {}", cut(method, 64));
    line(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": message } }))
}

fn line(value: &Value) -> String {
    // JSON has no bare line break: within texts they are escaped.
    let mut text = value.to_string();
    text.push('\n');
    text
}

/// A line from an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// The answer to the request of this number.
    Answer(u64, Result<Value, RpcError>),
    /// Something happened in the conversation of this id.
    Update(Box<str>, Update),
    /// A question for permission.
    Question(Value, Asked),
    /// Another request, which we do not know.
    Unknown(Value, Box<str>),
    /// Another notification, or no message at all.
    Noise,
}

/// The error of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// Its code.
    pub(crate) code: i64,
    /// Its text, cut.
    pub(crate) message: Box<str>,
}

/// What happened in a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// A part of what a person said, or we did.
    User(Box<str>),
    /// A part of what the agent says.
    Said(Box<str>),
    /// The agent thinks or plans.
    Thought,
    /// A tool is called, or goes on: id, title, kind and status, as far as they are given, and what else is said of it.
    Tool(Box<str>, [Option<Box<str>>; 3], Details),
    /// What the conversation costs so far: amount and currency.
    Cost(Box<str>, Box<str>),
    /// Something that belongs to no turn: commands, modes, titles.
    Other,
}

/// A question for permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The agent's id of the call.
    pub(crate) call: Box<str>,
    /// What the tool shows to people.
    pub(crate) title: Box<str>,
    /// The kind of tool.
    pub(crate) kind: Box<str>,
    /// What the tool is to do.
    pub(crate) details: Details,
    /// The options: id and kind.
    pub(crate) options: Vec<(Box<str>, Box<str>)>,
}

impl Asked {
    /// Returns the id of the option of this kind, if there is one.
    pub(super) fn option(&self, kind: &str) -> Option<&str> {
        self.options.iter().find(|(_, it)| **it == *kind).map(|(id, _)| &**id)
    }
}

/// Reads a line.
pub fn read(line: &[u8]) -> Incoming {
    // The reader bounds the depth itself.
    let Ok(Value::Object(mut map)) = serde_json::from_slice(line) else { return Incoming::Noise };
    // A null id is none: JSON-RPC has it only in answers to requests that could not be read.
    let (id, method) = (map.remove("id").filter(|id| !id.is_null()), map.remove("method"));
    let params = map.remove("params").unwrap_or(Value::Null);
    match (id, method) {
        (Some(id), Some(Value::String(method))) if method == "session/request_permission" => {
            Incoming::Question(id, asked(&params))
        }
        (Some(id), Some(Value::String(method))) => Incoming::Unknown(id, cut(&method, 256).into()),
        (None, Some(Value::String(method))) if method == "session/update" => {
            Incoming::Update(text(&params, "sessionId").into(), update(&params["update"]))
        }
        (Some(id), None) => {
            let Some(id) = id.as_u64() else { return Incoming::Noise };
            let answer = match map.remove("error") {
                Some(error) if !error.is_null() => {
                    let code = error["code"].as_i64().unwrap_or_default();
                    // Some agents say what is wrong in the details alone.
                    let said = [text(&error, "message"), text(&error["data"], "details")];
                    let said = said.map(str::trim).into_iter().filter(|said| !said.is_empty());
                    let message = said.collect::<Vec<_>>().join(": ");
                    Err(RpcError { code, message: cut(&message, ERROR_BYTES).into() })
                }
                Some(_) | None => Ok(map.remove("result").unwrap_or(Value::Null)),
            };
            Incoming::Answer(id, answer)
        }
        (_, _) => Incoming::Noise,
    }
}

fn update(update: &Value) -> Update {
    let said = || text(&update["content"], "text").into();
    match text(update, "sessionUpdate") {
        "user_message_chunk" => Update::User(said()),
        "agent_message_chunk" => Update::Said(said()),
        "agent_thought_chunk" | "plan" => Update::Thought,
        "tool_call" | "tool_call_update" => {
            let part = |key| update[key].as_str().map(|text| cut(text, WORD_BYTES).into());
            let parts = [part("title"), part("kind"), part("status")];
            Update::Tool(cut(text(update, "toolCallId"), WORD_BYTES).into(), parts, Details::of(update))
        }
        "usage_update" => match (&update["cost"]["amount"], &update["cost"]["currency"]) {
            (Value::Number(amount), Value::String(currency)) => {
                Update::Cost(amount.to_string().into(), cut(currency, 16).into())
            }
            (_, _) => Update::Other,
        },
        _ => Update::Other,
    }
}

fn asked(params: &Value) -> Asked {
    let (tool, word) = (&params["toolCall"], |value: &Value, key| cut(text(value, key), WORD_BYTES).into());
    let options = params["options"].as_array().into_iter().flatten().take(OPTIONS);
    Asked {
        call: word(tool, "toolCallId"),
        title: word(tool, "title"),
        kind: word(tool, "kind"),
        details: Details::of(tool),
        // An id is not cut: it has to be sent back as it is.
        options: options.map(|option| (text(option, "optionId").into(), word(option, "kind"))).collect(),
    }
}

/// What an agent can do, from its answer to `initialize`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Abilities {
    /// It can go on with a conversation without a replay.
    pub(super) resumes: bool,
    /// It can go on with a conversation and replay it.
    pub(super) loads: bool,
    /// Its name and version.
    pub(super) version: Option<Box<str>>,
}

impl Abilities {
    /// Reads the answer to `initialize`; `None` if the agent speaks another version.
    pub(super) fn of(answer: &Value) -> Option<Abilities> {
        if answer["protocolVersion"].as_u64() != Some(1) {
            return None;
        }
        let (can, info) = (&answer["agentCapabilities"], &answer["agentInfo"]);
        let version = [text(info, "name"), text(info, "version")].join(" ");
        let version = Some(cut(version.trim(), WORD_BYTES)).filter(|text| !text.is_empty());
        Some(Abilities {
            resumes: can["sessionCapabilities"]["resume"].is_object(),
            loads: can["loadSession"] == Value::Bool(true),
            version: version.map(Into::into),
        })
    }
}

/// Returns the id of the conversation in the answer to `session/new`.
pub(super) fn conversation(answer: &Value) -> &str {
    text(answer, "sessionId")
}

/// Returns whether an agent has this mode, by its answer to an opening; `None` if it names no modes.
pub(super) fn has_mode(answer: &Value, mode: &str) -> Option<bool> {
    let modes = answer["modes"]["availableModes"].as_array()?;
    Some(modes.iter().any(|it| text(it, "id") == mode))
}

/// Why a turn ended, from the answer to a prompt.
pub(super) fn stop_reason(answer: &Value) -> &str {
    cut(text(answer, "stopReason"), WORD_BYTES)
}

/// The tokens that a turn used: read, written, and in all.
pub(super) fn tokens(answer: &Value) -> [Option<u64>; 3] {
    let usage = &answer["usage"];
    ["inputTokens", "outputTokens", "totalTokens"].map(|key| usage[key].as_u64())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Returns the beginning of a text, of at most this many bytes.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The code of an error that means that a login is missing.
pub(super) const NOT_AUTHENTICATED: i64 = -32_000;

/// The options of one question that are read.
const OPTIONS: usize = 32;

#[expect(clippy::cast_possible_truncation, reason = "1,024 fits anywhere")]
const ERROR_BYTES: usize = limits::ERROR_BYTES.value as usize;

/// The variable by which `reveille mcp` knows whose calls it carries.
const SESSION_VARIABLE: &str = "REVEILLE_SESSION";

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place<'_> = Place { conversation: "c1", directory: "/work", servers: &Value::Null };

    #[test]
    fn a_conversation_gets_our_tools_for_its_session_or_none() {
        let session = SessionId::new("s \"1").expect("an id");
        assert_eq!(tool_servers(None, &session), json!([]));
        let command = ["/bin/reveille".to_owned(), "mcp".to_owned()];
        let servers = tool_servers(Some(&command), &session);
        let place = Place { servers: &servers, ..PLACE };
        for request in [Request::New, Request::Load, Request::Resume] {
            let sent: Value = serde_json::from_str(&request.print(1, &place)).expect("JSON");
            let [server] = &sent["params"]["mcpServers"].as_array().expect("a list")[..] else {
                panic!("{sent}")
            };
            assert_eq!((&server["command"], &server["args"]), (&json!("/bin/reveille"), &json!(["mcp"])));
            assert_eq!(server["env"], json!([{ "name": "REVEILLE_SESSION", "value": session.as_str() }]));
        }
    }

    #[test]
    fn a_request_is_one_line() {
        let text = Request::Prompt("a\n\"b\"".into()).print(7, &PLACE);
        assert_eq!(text.matches('\n').count(), 1);
        let read: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read["params"]["prompt"][0]["text"], "a\n\"b\"");
        assert_eq!((&read["id"], &read["params"]["sessionId"]), (&json!(7), &json!("c1")));
        let load: Value = serde_json::from_str(&Request::Load.print(8, &PLACE)).expect("JSON");
        assert_eq!(
            (load["method"].as_str(), load["params"]["cwd"].as_str()),
            (Some("session/load"), Some("/work"))
        );
        let hello: Value = serde_json::from_str(&Request::Initialize.print(1, &PLACE)).expect("JSON");
        let can = &hello["params"]["clientCapabilities"];
        assert_eq!((&can["terminal"], &can["fs"]["writeTextFile"]), (&json!(false), &json!(false)));
    }

    #[test]
    fn what_an_agent_writes_is_read() {
        let said = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"c1","update":
            {"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}"#;
        assert_eq!(read(said), Incoming::Update("c1".into(), Update::Said("hi".into())));
        let Incoming::Answer(3, Ok(answer)) = read(br#"{"id":3,"result":{"stopReason":"end_turn"}}"#) else {
            panic!("an answer")
        };
        assert_eq!(stop_reason(&answer), "end_turn");
        let error = read(br#"{"id":3,"error":{"code":-32000,"message":"login"}}"#);
        assert_eq!(
            error,
            Incoming::Answer(3, Err(RpcError { code: NOT_AUTHENTICATED, message: "login".into() }))
        );
        let asked = read(
            br#"{"id":"x","method":"session/request_permission","params":{"sessionId":"c1",
            "toolCall":{"title":"rm","kind":"execute"},"options":[{"optionId":"o","kind":"reject_once"}]}}"#,
        );
        let Incoming::Question(id, asked) = asked else { panic!("a question") };
        assert_eq!((id, &*asked.kind, asked.options.len()), (json!("x"), "execute", 1));
    }

    /// Whatever it is, it is read as something.
    #[test]
    fn what_no_agent_should_write_is_noise() {
        let deep = "[".repeat(100_000);
        let lines: [&[u8]; 12] = [
            b"",
            b"null",
            b"[]",
            b"{}",
            b"\xff\xfe",
            b"{\"id\":null}",
            b"{\"id\":-1}",
            b"{\"id\":\"1\",\"result\":1}",
            b"{\"method\":7}",
            b"{\"method\":\"x\"}",
            b"npm warn deprecated",
            deep.as_bytes(),
        ];
        for line in lines {
            assert_eq!(read(line), Incoming::Noise, "{:?}", line.get(..20));
        }
        let strange: [&[u8]; 3] = [
            b"{\"id\":1,\"method\":\"session/request_permission\",\"params\":7}",
            b"{\"method\":\"session/update\",\"params\":{\"update\":[]}}",
            b"{\"id\":1,\"error\":\"no\"}",
        ];
        for line in strange {
            assert_ne!(read(line), Incoming::Noise);
        }
    }
}

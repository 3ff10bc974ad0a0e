//! Where a message comes from, as far as it says so itself: the client program, and marks of the conversation that calls.
//!
//! What lives elsewhere: which of the marks is believed (`app/mcp/origin.rs`).

use super::message::{McpMessage, McpRequest};
use super::method::Method;
use crate::dialect::{REQUEST_CAPS, json, names, native, primitives};
use crate::edn::{Map, Value};
use crate::limits;

/// What a message says of its origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The name of the client program, in the message that has it.
    pub(crate) client: Option<String>,
    /// Whether the message is about a session's own things, and has to be made for one.
    pub(crate) needs_session: bool,
    /// The thread that calls, in the metadata of the call.
    pub(crate) thread: Option<String>,
    /// The address that the plugin of an agent has put among the arguments of the call.
    pub(crate) address: Option<String>,
    /// The working directory, beside the address.
    pub(crate) directory: Option<String>,
    /// How many seconds a call waits for something to come into the inbox.
    pub(crate) wait_seconds: Option<u64>,
    /// Whether the answer may come later, when other calls have ended.
    pub(crate) may_take_long: bool,
}

impl Origin {
    /// Reads what a message says. An unreadable message says nothing.
    pub fn of(text: &[u8]) -> Origin {
        let Ok(McpMessage::Request(request)) = McpMessage::read(text) else { return Origin::default() };
        let meta = request.param("_meta").and_then(Value::as_map);
        let named =
            |map: Option<&Map>, name: &str| map?.text(name).and_then(Value::as_str).map(str::to_owned);
        let info = request.param("clientInfo").or_else(|| meta?.text(CLIENT)).and_then(Value::as_map);
        let method = Method::parse(&request.method);
        // Only a call has arguments for a tool; elsewhere an entry of that name means nothing.
        let args = arguments(&request).filter(|_| method == Some(Method::CallTool));
        Origin {
            client: named(info, "name"),
            needs_session: matches!(
                method,
                Some(Method::CallTool | Method::ListResources | Method::ReadResource)
            ),
            thread: named(meta, "threadId").or_else(|| named(meta, "sessionId")),
            address: named(args, ADDRESS),
            directory: named(args, DIRECTORY),
            wait_seconds: waits(&request, args),
            // Only the tools that call other tools can answer later.
            may_take_long: args.is_some()
                && request
                    .param("name")
                    .and_then(Value::as_str)
                    .is_some_and(|name| primitives::Tool::parse(names::canonical(name)).is_some()),
        }
    }

    /// The id of the request that a message cancels, if it is such a message.
    pub fn cancels(text: &[u8]) -> Option<Value> {
        let message = json::read(text, &REQUEST_CAPS).ok()?;
        let message = message.as_map()?;
        let is_such = message.text("method").and_then(Value::as_str) == Some("notifications/cancelled");
        message.text("params").filter(|_| is_such)?.as_map()?.text("requestId").cloned()
    }

    /// Whether an answer to a call of `inbox` has no message, and is no error.
    pub fn is_empty_inbox(answer: &[u8]) -> bool {
        let empty = || {
            let answer = json::read(answer, &REQUEST_CAPS).ok()?;
            let data = answer.as_map()?.text("result")?.as_map()?.text("structuredContent")?.clone();
            Some(data.as_map()?.text("messages")?.as_items()?.is_empty())
        };
        empty().unwrap_or(false)
    }

    /// The message without the marks among the arguments of its call, which no tool has.
    pub fn unmarked(text: &[u8]) -> Option<Vec<u8>> {
        without(text, &[ADDRESS, DIRECTORY])
    }

    /// The message of a call of `inbox` without its wait, for a daemon that is asked again until the wait is over.
    pub fn unwaiting(text: &[u8]) -> Option<Vec<u8>> {
        without(text, &[WAIT_SECONDS])
    }
}

/// Removes these arguments from the call in a message.
fn without(text: &[u8], names: &[&str]) -> Option<Vec<u8>> {
    let mut message = json::read(text, &REQUEST_CAPS).ok()?.as_map()?.clone();
    let mut params = message.text("params")?.as_map()?.clone();
    let args = params.text("arguments")?.as_map()?.clone();
    let is_meant = |key: &Value| key.as_str().is_some_and(|key| names.contains(&key));
    let args: Map = args.into_iter().filter(|(key, _)| !is_meant(key)).collect();
    params.insert("arguments".into(), args.into());
    message.insert("params".into(), params.into());
    let mut text = String::new();
    json::write(&message.into(), &mut text);
    Some(text.into_bytes())
}

/// The seconds that a call of `inbox` waits; `None` for anything but such a number, which the tool itself refuses. A client that
/// has given up may not say so, and what comes after that would be taken for nobody.
fn waits(request: &McpRequest, args: Option<&Map>) -> Option<u64> {
    let is_inbox = request.param("name").and_then(Value::as_str) == Some(native::Tool::Inbox.name());
    let seconds = args.filter(|_| is_inbox)?.text(WAIT_SECONDS)?.as_int()?;
    let asked = u64::try_from(seconds).ok();
    let asked = asked.filter(|seconds| (1..=limits::INBOX_WAIT_SECONDS.value).contains(seconds))?;
    Some(asked.min(limits::MCP_WAIT_MS.value / 1_000))
}

fn arguments(request: &McpRequest) -> Option<&Map> {
    request.param("arguments").and_then(Value::as_map)
}

const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const ADDRESS: &str = "address";
const DIRECTORY: &str = "directory";
const WAIT_SECONDS: &str = "wait_seconds";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_for_its_marks_and_freed_of_them() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list",
            "arguments":{"address":"opencode:s","directory":"/d","all":true},"_meta":{"threadId":"t"}}}"#;
        let origin = Origin::of(call.as_bytes());
        assert_eq!((origin.thread.as_deref(), origin.needs_session), (Some("t"), true));
        assert_eq!(
            (origin.address.as_deref(), origin.directory.as_deref()),
            (Some("opencode:s"), Some("/d"))
        );
        let bare = String::from_utf8(Origin::unmarked(call.as_bytes()).unwrap()).unwrap();
        assert!(bare.contains(r#""arguments":{"all":true}"#), "{bare}");
        let wait =
            r#"{"method":"tools/call","params":{"name":"inbox","arguments":{"first":2,"wait_seconds":9}}}"#;
        let bare = String::from_utf8(Origin::unwaiting(wait.as_bytes()).unwrap()).unwrap();
        assert!(bare.contains(r#""arguments":{"first":2}"#), "{bare}");
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"x"}}}"#;
        assert_eq!(Origin::of(hello.as_bytes()).client.as_deref(), Some("x"));
        assert_eq!(Origin::of(b"nothing"), Origin::default());
    }
}

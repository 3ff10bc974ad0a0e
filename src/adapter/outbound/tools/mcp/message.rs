//! Reads one message of a server.
//!
//! Invariants: what is no JSON is passed over; an answer that is refused fails its request at once, and not when its time is
//! up.

use rmcp::model::{ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::dialect::{REQUEST_CAPS, json};
use crate::edn::Caps;
use crate::limits;

/// What says to which request an answer belongs.
#[derive(Deserialize)]
struct Head {
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
}

/// The message in a line, a body or an event. What is no message is passed over; an answer that cannot be read is one that says
/// so.
pub(super) fn message(text: &[u8]) -> Option<ServerJsonRpcMessage> {
    let head: Head = serde_json::from_slice(text).ok()?;
    let refused = |why: String| {
        // Requests and notifications that cannot be read need no answer.
        let id = head.id.filter(|_| head.method.is_none());
        id.map(|id| JsonRpcMessage::error(ErrorData::internal_error(why, None), Some(id)))
    };
    // Read by our own reader as well, which refuses what is nested too deep and keys that are there twice.
    if let Err(error) = json::read(text, &CAPS) {
        return refused(format!("its answer is refused: {error}"));
    }
    match serde_json::from_slice(text) {
        Ok(message) => Some(message),
        Err(_) => refused("its answer is not a valid MCP message".to_owned()),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "far below 4 GB")]
const CAPS: Caps = Caps { bytes_max: limits::SERVER_MESSAGE_BYTES.value as u32, ..REQUEST_CAPS };

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let text = match message(line.as_bytes()) {
            None => "nothing".to_owned(),
            Some(JsonRpcMessage::Error(error)) => format!("error {}", error.error.message),
            Some(JsonRpcMessage::Response(_)) => "response".to_owned(),
            Some(JsonRpcMessage::Notification(_)) => "notification".to_owned(),
            Some(JsonRpcMessage::Request(_)) => "request".to_owned(),
        };
        assert!(text.starts_with(expected) && (!expected.is_empty()), "{line}: {text}");
    }

    #[test]
    fn what_is_no_message_is_passed_over_and_what_is_refused_fails_its_request() {
        check("server listening on stdio", "nothing");
        check("[1]", "nothing");
        check("{\"log\":1}", "nothing");
        check(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#, "response");
        check(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#, "notification");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request");
        check(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}"#, "error its answer is refused: duplicate");
        let deep = ["[".repeat(90), "]".repeat(90)].concat();
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"structuredContent\":{deep}}}}}");
        check(&line, "error its answer is refused: the input is nested deeper");
        check(r#"{"jsonrpc":"2.0","id":1,"result":7,"error":8}"#, "error its answer is not a valid");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"pong"}"#, "nothing");
    }
}

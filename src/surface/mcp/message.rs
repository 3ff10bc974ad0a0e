//! Parses and prints messages of JSON-RPC 2.0.
//!
//! Invariant: an answer has the id of its request, exactly as written, or none if the id could not be read. Source:
//! JSON-RPC 2.0; MCP, base protocol, "Messages".

use super::fault::McpFault;
use super::wire_version::WireVersion;
use crate::dialect::{REQUEST_CAPS, json};
use crate::edn::{Map, Value};

/// A message from a client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum McpMessage {
    /// A request, which gets an answer.
    Request(McpRequest),
    /// A notification, or a response that answers no request of ours. It gets no answer.
    Remark,
}

/// A request of JSON-RPC.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct McpRequest {
    /// A string or an integer.
    pub(super) id: Value,
    pub(crate) method: Box<str>,
    pub(super) params: Map,
}

/// An invalid message, with its id if it has one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Misread {
    pub(super) id: Option<Value>,
    pub(super) fault: McpFault,
}

impl McpMessage {
    /// Parses a message.
    ///
    /// # Errors
    /// [`Misread`] if it is not JSON, or not a valid message.
    pub(crate) fn read(text: &[u8]) -> Result<McpMessage, Misread> {
        let value = json::read(text, &REQUEST_CAPS).map_err(|error| Misread {
            id: None,
            fault: McpFault::Unreadable { error: error.to_string() },
        })?;
        let Some(map) = value.as_map() else {
            // Batches were part of older revisions, so their error explains itself.
            let why = if value.as_items().is_some() { BATCH } else { "a message is a JSON object" };
            return Err(Misread { id: None, fault: McpFault::NotAMessage { why } });
        };
        let given = map.text("id");
        let id = given.filter(|id| is_id(id)).cloned();
        // The id is read first, so that later errors can be matched to their request.
        let misread = |why| Misread { id: id.clone(), fault: McpFault::NotAMessage { why } };
        if map.text("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(misread("jsonrpc must be \"2.0\""));
        }
        let method = match map.text("method") {
            Some(method) => method.as_str().ok_or_else(|| misread("method must be a string"))?,
            None if map.text("result").is_some() || map.text("error").is_some() => {
                return Ok(McpMessage::Remark);
            }
            None => return Err(misread("a request has a method")),
        };
        // Without an id it is a notification.
        if given.is_none() {
            return Ok(McpMessage::Remark);
        }
        let Some(id) = id.clone() else {
            return Err(misread("id must be a string or a whole number"));
        };
        let params = match map.text("params") {
            None | Some(Value::Nil) => Map::new(),
            Some(params) => {
                let why = || McpFault::BadParams { why: "params must be an object".to_owned() };
                params.as_map().cloned().ok_or_else(|| Misread { id: Some(id.clone()), fault: why() })?
            }
        };
        Ok(McpMessage::Request(McpRequest { id, method: method.into(), params }))
    }
}

impl McpRequest {
    /// A parameter; null counts as absent.
    pub(crate) fn param(&self, name: &str) -> Option<&Value> {
        self.params.text(name).filter(|value| !value.is_nil())
    }

    /// A required string parameter.
    ///
    /// # Errors
    /// [`McpFault::BadParams`].
    pub(super) fn text(&self, name: &str) -> Result<&str, McpFault> {
        let text = self.param(name).and_then(Value::as_str);
        text.ok_or_else(|| McpFault::BadParams { why: format!("params.{name} must be a string") })
    }
}

/// Prints a result as one line.
pub(super) fn result(id: &Value, result: Map) -> String {
    line(head(Some(id)).with("result", result))
}

/// Prints an error as one line.
pub(super) fn error(id: Option<&Value>, fault: &McpFault, era: WireVersion) -> String {
    line(head(id).with("error", fault.print(era)))
}

fn head(id: Option<&Value>) -> Map {
    let head = Map::new().with("jsonrpc", "2.0");
    head.with_some("id", id.cloned())
}

fn line(message: Map) -> String {
    let mut text = String::new();
    json::write(&message.into(), &mut text);
    text
}

fn is_id(value: &Value) -> bool {
    matches!(value, Value::Str(_) | Value::Int(_) | Value::BigInt(_))
}

const BATCH: &str = "send one message at a time: batches are not supported";

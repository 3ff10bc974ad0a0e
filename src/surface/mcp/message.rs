//! Messages of JSON-RPC 2.0: what comes in as a type, what goes out as one line.
//!
//! Invariant: an answer has the id of its request, exactly as that was written, and none where none could be read.
//! Source: JSON-RPC 2.0; MCP, base protocol, "Messages".

use super::era::Era;
use super::fault::Fault;
use crate::dialect::{REQUEST_CAPS, json};
use crate::edn::{Map, Value};

/// A message from a client.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    /// It is to be answered.
    Request(Request),
    /// A notification, or a response to what nobody asked: nothing is to be said.
    Remark,
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    /// A string or a whole number.
    pub(super) id: Value,
    pub(super) method: Box<str>,
    pub(super) params: Map,
}

/// A message that makes no sense, and its id, if it has one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Misread {
    pub(super) id: Option<Value>,
    pub(super) fault: Fault,
}

impl Message {
    /// Reads a message.
    ///
    /// # Errors
    /// [`Misread`].
    pub(super) fn read(text: &[u8]) -> Result<Message, Misread> {
        let value = json::read(text, &REQUEST_CAPS)
            .map_err(|error| Misread { id: None, fault: Fault::Unreadable { error: error.to_string() } })?;
        let Some(map) = value.as_map() else {
            let why = if value.as_items().is_some() { BATCH } else { "a message is a JSON object" };
            return Err(Misread { id: None, fault: Fault::NotAMessage { why } });
        };
        let given = map.text("id");
        let id = given.filter(|id| is_id(id)).cloned();
        let misread = |why| Misread { id: id.clone(), fault: Fault::NotAMessage { why } };
        if map.text("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(misread("jsonrpc must be \"2.0\""));
        }
        let method = match map.text("method") {
            Some(method) => method.as_str().ok_or_else(|| misread("method must be a string"))?,
            None if map.text("result").is_some() || map.text("error").is_some() => {
                return Ok(Message::Remark);
            }
            None => return Err(misread("a request has a method")),
        };
        if given.is_none() {
            return Ok(Message::Remark);
        }
        let Some(id) = id.clone() else {
            return Err(misread("id must be a string or a whole number"));
        };
        let params = match map.text("params") {
            None | Some(Value::Nil) => Map::new(),
            Some(params) => {
                let why = || Fault::BadParams { why: "params must be an object".to_owned() };
                params.as_map().cloned().ok_or_else(|| Misread { id: Some(id.clone()), fault: why() })?
            }
        };
        Ok(Message::Request(Request { id, method: method.into(), params }))
    }
}

impl Request {
    /// A parameter; null is as good as none.
    pub(super) fn param(&self, name: &str) -> Option<&Value> {
        self.params.text(name).filter(|value| !value.is_nil())
    }

    /// A parameter that must be a string.
    ///
    /// # Errors
    /// [`Fault::BadParams`].
    pub(super) fn text(&self, name: &str) -> Result<&str, Fault> {
        let text = self.param(name).and_then(Value::as_str);
        text.ok_or_else(|| Fault::BadParams { why: format!("params.{name} must be a string") })
    }
}

/// A result as one line.
pub(super) fn result(id: &Value, result: Map) -> String {
    line(head(Some(id)).with("result", result))
}

/// An error as one line.
pub(super) fn error(id: Option<&Value>, fault: &Fault, era: Era) -> String {
    line(head(id).with("error", fault.print(era)))
}

fn head(id: Option<&Value>) -> Map {
    let head = Map::new().with("jsonrpc", "2.0");
    match id {
        Some(id) => head.with("id", id.clone()),
        None => head,
    }
}

fn line(message: Map) -> String {
    let mut text = String::new();
    json::write(&message.into(), &mut text);
    text
}

fn is_id(value: &Value) -> bool {
    matches!(value, Value::Str(_) | Value::Int(_) | Value::BigInt(_))
}

const BATCH: &str = "send one message at a time: batches are not taken";

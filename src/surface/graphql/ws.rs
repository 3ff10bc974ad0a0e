//! The protocol `graphql-transport-ws`, without a socket: frames in, frames out.
//!
//! Lives here: who may say what when. Does not live here: reading and writing frames, waiting, and what subscriptions
//! push. Source: the protocol's description by the package graphql-ws.
//!
//! Invariant: before the first message has said who calls, nothing is run; afterwards every message, in either
//! direction, asks first whether the caller still may.

use std::collections::BTreeSet;

use super::error::{Code, GraphqlError, list};
use super::request::GraphqlRequest;
use super::write::text;
use crate::dialect::REQUEST_CAPS;
use crate::domain::{BootTime, Span};
use crate::edn::{Map, Value};
use crate::limits::{CLIENT_SUBSCRIPTIONS, GRAPHQL_HEARTBEAT_MS, GRAPHQL_INIT_MS, GRAPHQL_MESSAGE_BYTES};
use crate::surface::json;

/// The name of the protocol, as the upgrade has to ask for it.
pub const PROTOCOL: &str = "graphql-transport-ws";

/// What is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A text frame.
    Text(String),
    /// The end of the connection: code and reason.
    Close(u16, &'static str),
}

/// What a connection's messages lead to.
pub trait Operations {
    /// Takes the payload of the first message; returns whether it says who calls.
    fn open(&mut self, payload: &Map) -> bool;

    /// Whether the caller still may, a token can be withdrawn at any time.
    fn may_go_on(&mut self) -> bool;

    /// Starts an operation.
    fn start(&mut self, id: &str, request: &GraphqlRequest) -> Started;

    /// Stops a subscription; what it has in hand may still come.
    fn stop(&mut self, id: &str);
}

/// What became of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Started {
    /// It was answered: the answer as JSON.
    Answered(String),
    /// It was refused.
    Refused(Vec<GraphqlError>),
    /// It goes on: answers are pushed.
    Follows,
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Socket {
    is_open: bool,
    is_closed: bool,
    running: BTreeSet<String>,
    /// When the first message must have come, and afterwards when it is time for a sign of life.
    deadline: BootTime,
}

impl Socket {
    /// A connection that was accepted just now.
    pub fn new(now: BootTime) -> Self {
        let deadline = now.after(Span::from_millis(GRAPHQL_INIT_MS.value));
        Self { is_open: false, is_closed: false, running: BTreeSet::new(), deadline }
    }

    /// When to call [`Socket::tick`].
    pub fn deadline(&self) -> BootTime {
        self.deadline
    }

    /// How many subscriptions run.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Does what is due; may be called sooner, so that a token that is withdrawn ends the connection soon.
    pub fn tick(&mut self, now: BootTime, operations: &mut dyn Operations) -> Vec<Frame> {
        if self.is_closed {
            return Vec::new();
        }
        if self.is_open && !operations.may_go_on() {
            return self.close(4403, "Forbidden");
        }
        if now < self.deadline {
            return Vec::new();
        }
        if !self.is_open {
            return self.close(4408, "Connection initialisation timeout");
        }
        self.deadline = now.after(Span::from_millis(GRAPHQL_HEARTBEAT_MS.value));
        vec![Frame::Text("{\"type\":\"ping\"}".into())]
    }

    /// Takes a frame that is no text.
    pub fn binary(&mut self) -> Vec<Frame> {
        self.close(4400, "Invalid message received")
    }

    /// Takes a text frame.
    pub fn text(&mut self, text: &str, now: BootTime, operations: &mut dyn Operations) -> Vec<Frame> {
        if self.is_closed {
            return Vec::new();
        }
        if u64::try_from(text.len()).is_ok_and(|length| length > GRAPHQL_MESSAGE_BYTES.value) {
            return self.close(1009, "Message too big");
        }
        let message = json::read(text.as_bytes(), &REQUEST_CAPS);
        let Some(message) = message.as_ref().ok().and_then(Value::as_map) else {
            return self.close(4400, "Invalid message received");
        };
        let kind = message.text("type").and_then(Value::as_str);
        if kind == Some("connection_init") {
            return self.init(message, now, operations);
        }
        if self.is_open && !operations.may_go_on() {
            return self.close(4403, "Forbidden");
        }
        let id = message.text("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        match (kind, id) {
            (Some("ping"), _) => vec![Frame::Text("{\"type\":\"pong\"}".into())],
            (Some("pong"), _) => Vec::new(),
            (Some("subscribe"), Some(_)) if !self.is_open => self.close(4401, "Unauthorized"),
            (Some("subscribe"), Some(id)) => self.subscribe(id, message, operations),
            (Some("complete"), Some(id)) => {
                if self.running.remove(id) {
                    operations.stop(id);
                }
                Vec::new()
            }
            _ => self.close(4400, "Invalid message received"),
        }
    }

    /// Passes on what a subscription pushes; nothing where it was stopped meanwhile.
    pub fn push(&mut self, id: &str, body: &str, operations: &mut dyn Operations) -> Vec<Frame> {
        if self.is_closed || !self.running.contains(id) {
            return Vec::new();
        }
        if !operations.may_go_on() {
            return self.close(4403, "Forbidden");
        }
        vec![next(id, body)]
    }

    /// Passes on that a subscription has ended.
    pub fn complete(&mut self, id: &str) -> Vec<Frame> {
        if self.is_closed || !self.running.remove(id) {
            return Vec::new();
        }
        vec![about("complete", id, None)]
    }

    fn init(&mut self, message: &Map, now: BootTime, operations: &mut dyn Operations) -> Vec<Frame> {
        if self.is_open {
            return self.close(4429, "Too many initialisation requests");
        }
        let payload = message.text("payload").and_then(Value::as_map).cloned().unwrap_or_default();
        if !operations.open(&payload) {
            return self.close(4403, "Forbidden");
        }
        self.is_open = true;
        self.deadline = now.after(Span::from_millis(GRAPHQL_HEARTBEAT_MS.value));
        vec![Frame::Text("{\"type\":\"connection_ack\"}".into())]
    }

    fn subscribe(&mut self, id: &str, message: &Map, operations: &mut dyn Operations) -> Vec<Frame> {
        if self.running.contains(id) {
            return self.close(4409, "Subscriber already exists");
        }
        if u64::try_from(self.running.len()).is_ok_and(|running| running >= CLIENT_SUBSCRIPTIONS.value) {
            return self.close(4429, "Too many subscriptions");
        }
        let Some(payload) = message.text("payload").filter(|payload| payload.as_map().is_some()) else {
            return self.close(4400, "Invalid message received");
        };
        let started = match GraphqlRequest::from_value(payload) {
            Ok(request) => operations.start(id, &request),
            Err(error) => Started::Refused(vec![error]),
        };
        match started {
            Started::Answered(body) => vec![next(id, &body), about("complete", id, None)],
            Started::Refused(errors) => vec![refused(id, &errors)],
            Started::Follows => {
                self.running.insert(id.to_owned());
                Vec::new()
            }
        }
    }

    fn close(&mut self, code: u16, reason: &'static str) -> Vec<Frame> {
        if std::mem::replace(&mut self.is_closed, true) {
            return Vec::new();
        }
        vec![Frame::Close(code, reason)]
    }
}

fn next(id: &str, body: &str) -> Frame {
    about("next", id, Some(body))
}

fn refused(id: &str, errors: &[GraphqlError]) -> Frame {
    let unknown = [GraphqlError::new(Code::Internal, "the operation was refused")];
    let mut payload = String::new();
    list(if errors.is_empty() { &unknown } else { errors }, &mut payload);
    about("error", id, Some(&payload))
}

fn about(kind: &str, id: &str, payload: Option<&str>) -> Frame {
    let mut out = String::from("{\"id\":");
    text(id, &mut out);
    out.push_str(&format!(",\"type\":\"{kind}\""));
    if let Some(payload) = payload {
        out.push_str(",\"payload\":");
        out.push_str(payload);
    }
    out.push('}');
    Frame::Text(out)
}

#[cfg(test)]
mod tests;

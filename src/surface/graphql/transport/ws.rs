//! The protocol `graphql-transport-ws` without a socket: frames in, frames out.
//!
//! Lives here: which message is allowed when. Does not live here: reading and writing frames, waiting, and the content
//! of subscriptions. Source: `PROTOCOL.md` of the package graphql-ws.
//!
//! Invariant: nothing runs before the first message has authenticated the caller. After that, the token is checked again
//! before a client's message is handled, and before an answer is pushed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::dialect::REQUEST_CAPS;
use crate::domain::{BootTime, Span};
use crate::edn::{Map, Value};
use crate::limits::{
    CLIENT_SUBSCRIPTIONS, GRAPHQL_HEARTBEAT_MS, GRAPHQL_INIT_MS, GRAPHQL_MESSAGE_BYTES, Limit,
};
use crate::surface::graphql::error::{Code, GraphqlError, list};
use crate::surface::graphql::execution::write::text;
use crate::surface::graphql::operation::request::GraphqlRequest;
use crate::surface::json;

/// The name of the protocol, which the client must request in the upgrade.
pub const PROTOCOL: &str = "graphql-transport-ws";

/// A frame to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A text frame.
    Text(String),
    /// Closes the connection, with a code and a reason.
    Close(u16, Cow<'static, str>),
}

/// The operations of one connection, provided by its transport.
pub trait Operations {
    /// Authenticates the caller by the payload of the first message.
    ///
    /// # Errors
    /// Why the connection must end.
    fn open(&mut self, payload: &Map) -> Result<(), Refused>;

    /// Returns whether the caller's token is still valid; it can be revoked at any time.
    fn may_go_on(&mut self) -> bool;

    /// Starts an operation under this number, which no other operation of the connection has.
    fn start(&mut self, number: u64, request: &GraphqlRequest) -> Started;

    /// Stops a subscription. Answers that are already on their way may still arrive.
    fn stop(&mut self, number: u64);
}

/// Why a connection is refused after its first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The token is missing or unknown.
    Unknown,
    /// A limit of connections is reached.
    UsedUp(Limit),
}

/// The result of starting an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Started {
    /// The operation is complete; the answer as JSON.
    Answered(String),
    /// The operation is refused.
    Refused(Vec<GraphqlError>),
    /// The operation is a subscription, whose answers are pushed.
    Follows,
}

/// The protocol state of one connection.
#[derive(Clone, Debug)]
pub struct Socket {
    is_open: bool,
    is_closed: bool,
    /// The running subscriptions: the client's id of each, and its number. Clients may use an id again after `complete`, while
    /// answers of the stopped subscription are still on their way, so these are told apart by their numbers.
    running: BTreeMap<String, u64>,
    /// The number of the next operation.
    next: u64,
    /// Before the first message: when it must have arrived. After it: when the next ping is due.
    deadline: BootTime,
}

impl Socket {
    /// Creates the state of a connection that is accepted at `now`.
    pub fn new(now: BootTime) -> Self {
        let deadline = now.after(Span::from_millis(GRAPHQL_INIT_MS.value));
        Self { is_open: false, is_closed: false, running: BTreeMap::new(), next: 0, deadline }
    }

    /// Returns when to call [`Socket::tick`].
    pub fn deadline(&self) -> BootTime {
        self.deadline
    }

    /// Does what is due at `now`. It may be called earlier, to end the connection soon after its token is revoked.
    pub fn tick(&mut self, now: BootTime, operations: &mut dyn Operations) -> Vec<Frame> {
        if self.is_closed {
            return Vec::new();
        }
        if self.is_open && !operations.may_go_on() {
            return self.close(4403, "Forbidden");
        }
        // After the token check, which each call must make, due or not.
        if now < self.deadline {
            return Vec::new();
        }
        if !self.is_open {
            return self.close(4408, "Connection initialisation timeout");
        }
        self.deadline = now.after(Span::from_millis(GRAPHQL_HEARTBEAT_MS.value));
        vec![Frame::Text("{\"type\":\"ping\"}".into())]
    }

    /// Handles a binary frame; the protocol allows text only.
    pub fn binary(&mut self) -> Vec<Frame> {
        self.close(4400, "Invalid message received")
    }

    /// Handles a text frame.
    pub fn text(&mut self, text: &str, now: BootTime, operations: &mut dyn Operations) -> Vec<Frame> {
        if self.is_closed {
            return Vec::new();
        }
        // Before parsing, to bound its cost.
        if u64::try_from(text.len()).is_ok_and(|length| length > GRAPHQL_MESSAGE_BYTES.value) {
            return self.close(1009, "Message too big");
        }
        let message = json::read(text.as_bytes(), &REQUEST_CAPS);
        let Some(message) = message.as_ref().ok().and_then(Value::as_map) else {
            return self.close(4400, "Invalid message received");
        };
        let kind = message.text("type").and_then(Value::as_str);
        // Before the token check: this message brings the token.
        if kind == Some("connection_init") {
            return self.init(message, now, operations);
        }
        if self.is_open && !operations.may_go_on() {
            return self.close(4403, "Forbidden");
        }
        // The protocol forbids an empty id, so that one counts as missing.
        let id = message.text("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        match (kind, id) {
            // Pings are allowed at any time, before authentication too.
            (Some("ping"), _) => vec![Frame::Text("{\"type\":\"pong\"}".into())],
            (Some("pong"), _) => Vec::new(),
            (Some("subscribe"), Some(_)) if !self.is_open => self.close(4401, "Unauthorized"),
            (Some("subscribe"), Some(id)) => self.subscribe(id, message, operations),
            // An unknown id is no fault: both sides may complete an operation at the same time.
            (Some("complete"), Some(id)) => {
                if let Some(number) = self.running.remove(id) {
                    operations.stop(number);
                }
                Vec::new()
            }
            _ => self.close(4400, "Invalid message received"),
        }
    }

    /// Sends an answer of a subscription, unless the client has stopped the subscription meanwhile.
    pub fn push(&mut self, number: u64, body: &str, operations: &mut dyn Operations) -> Vec<Frame> {
        let Some(id) = self.id(number).filter(|_| !self.is_closed) else { return Vec::new() };
        if !operations.may_go_on() {
            return self.close(4403, "Forbidden");
        }
        vec![next(&id, body)]
    }

    /// Tells the client that a subscription has ended.
    pub fn complete(&mut self, number: u64) -> Vec<Frame> {
        let Some(id) = self.id(number).filter(|_| !self.is_closed) else { return Vec::new() };
        self.running.remove(&id);
        vec![about("complete", &id, None)]
    }

    /// Returns the id under which the client runs the subscription of this number, unless it has stopped it.
    fn id(&self, number: u64) -> Option<String> {
        self.running.iter().find(|(_, running)| **running == number).map(|(id, _)| id.clone())
    }

    /// Handles the first message, which authenticates the caller.
    fn init(&mut self, message: &Map, now: BootTime, operations: &mut dyn Operations) -> Vec<Frame> {
        if self.is_open {
            return self.close(4429, "Too many initialisation requests");
        }
        let payload = message.text("payload").and_then(Value::as_map).cloned().unwrap_or_default();
        match operations.open(&payload) {
            Ok(()) => {}
            Err(Refused::Unknown) => return self.close(4403, "Forbidden"),
            // As with too many subscriptions, the protocol has no code of its own for this.
            Err(Refused::UsedUp(Limit { name, value, .. })) => {
                return self.close(4429, format!("Too many connections: {name} is {value}"));
            }
        }
        self.is_open = true;
        self.deadline = now.after(Span::from_millis(GRAPHQL_HEARTBEAT_MS.value));
        vec![Frame::Text("{\"type\":\"connection_ack\"}".into())]
    }

    /// Starts the operation of a `subscribe` message.
    fn subscribe(&mut self, id: &str, message: &Map, operations: &mut dyn Operations) -> Vec<Frame> {
        if self.running.contains_key(id) {
            return self.close(4409, "Subscriber already exists");
        }
        if u64::try_from(self.running.len()).is_ok_and(|running| running >= CLIENT_SUBSCRIPTIONS.value) {
            // The protocol has no code for this limit; 4429 is its code for too many initialisation requests.
            return self.close(4429, "Too many subscriptions");
        }
        let Some(payload) = message.text("payload").filter(|payload| payload.as_map().is_some()) else {
            return self.close(4400, "Invalid message received");
        };
        let number = self.next;
        self.next += 1;
        let started = match GraphqlRequest::from_value(payload) {
            Ok(request) => operations.start(number, &request),
            Err(error) => Started::Refused(vec![error]),
        };
        match started {
            Started::Answered(body) => vec![next(id, &body), about("complete", id, None)],
            // `error` ends the operation, so no `complete` follows.
            Started::Refused(errors) => vec![refused(id, &errors)],
            Started::Follows => {
                self.running.insert(id.to_owned(), number);
                Vec::new()
            }
        }
    }

    /// Closes the connection, once: no frame may follow a close frame.
    fn close(&mut self, code: u16, reason: impl Into<Cow<'static, str>>) -> Vec<Frame> {
        if std::mem::replace(&mut self.is_closed, true) {
            return Vec::new();
        }
        vec![Frame::Close(code, reason.into())]
    }
}

fn next(id: &str, body: &str) -> Frame {
    about("next", id, Some(body))
}

/// Creates the `error` message of an operation.
fn refused(id: &str, errors: &[GraphqlError]) -> Frame {
    // Clients reject an `error` message without errors as malformed.
    let unknown = [GraphqlError::new(Code::Internal, "the operation was refused")];
    let mut payload = String::new();
    list(if errors.is_empty() { &unknown } else { errors }, &mut payload);
    about("error", id, Some(&payload))
}

/// Creates a message about an operation. `payload` is JSON already, so the message is built as text.
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

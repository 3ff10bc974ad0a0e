//! What MCP refuses, and the one place where refusals and faults get its codes.
//!
//! What a tool refuses is no error of the protocol: it is a result with `isError`, which the model reads and can act on.
//! Source: JSON-RPC 2.0 §5.1; MCP 2026-07-28, base protocol, "Error Codes".

use super::era::Era;
use super::features::Unserved;
use super::revision::Revision;
use crate::dialect::Answer;
use crate::domain::Code;
use crate::edn::{Map, Value};
use crate::graph::eql;
use crate::graph::registry::ResolverError;
use crate::limits;
use crate::runtime::Denial;

/// Why a message has no result.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fault {
    /// It is no JSON, or too much of it.
    Unreadable { error: String },
    /// It is JSON, and no message of JSON-RPC.
    NotAMessage { why: &'static str },
    /// There is no method of this name in the wire shape that is spoken.
    NoMethod { method: Value },
    /// A parameter is not what it must be.
    BadParams { why: String },
    /// No tool of this name is offered.
    NoTool { name: Value, tools: Vec<String> },
    /// There is no such resource for this caller.
    NoResource { uri: Value },
    /// The request does not say of itself what each request has to say.
    LacksMeta { missing: Vec<&'static str> },
    /// The headers of HTTP say something other than the body.
    Mismatch { why: String },
    /// The revision is not spoken here.
    NoRevision { requested: Value },
    /// What was asked for exceeds a bound.
    Exceeded { message: String, data: Map },
    /// Whoever should have answered did not.
    Unanswered { why: String },
}

impl Fault {
    /// The number that stands for it.
    pub(super) fn code(&self, era: Era) -> i64 {
        match self {
            Fault::Unreadable { .. } => -32_700,
            Fault::NotAMessage { .. } => -32_600,
            Fault::NoMethod { .. } => -32_601,
            Fault::BadParams { .. } | Fault::NoTool { .. } | Fault::LacksMeta { .. } => -32_602,
            Fault::Exceeded { .. } => -32_602,
            Fault::Unanswered { .. } => -32_603,
            Fault::NoResource { .. } => match era {
                Era::Handshake => -32_002,
                Era::Stateless => -32_602,
            },
            Fault::Mismatch { .. } => -32_020,
            Fault::NoRevision { .. } => -32_022,
        }
    }

    /// The status of HTTP that it goes with.
    pub(super) fn status(&self, era: Era) -> u16 {
        match (self, era) {
            (
                Fault::Unreadable { .. }
                | Fault::NotAMessage { .. }
                | Fault::LacksMeta { .. }
                | Fault::Mismatch { .. }
                | Fault::NoRevision { .. },
                _,
            ) => 400,
            (Fault::NoMethod { .. }, Era::Stateless) => 404,
            (
                Fault::NoMethod { .. }
                | Fault::BadParams { .. }
                | Fault::NoTool { .. }
                | Fault::NoResource { .. }
                | Fault::Exceeded { .. }
                | Fault::Unanswered { .. },
                _,
            ) => 200,
        }
    }

    fn message(&self) -> String {
        match self {
            Fault::Unreadable { error } => format!("the message is no JSON: {error}"),
            Fault::NotAMessage { why } => (*why).to_owned(),
            Fault::NoMethod { method } => format!("there is no method {method} here"),
            Fault::BadParams { why } | Fault::Mismatch { why } | Fault::Unanswered { why } => why.clone(),
            Fault::NoTool { name, .. } => format!("there is no tool {name} here"),
            Fault::NoResource { .. } => "there is no such resource".to_owned(),
            Fault::LacksMeta { missing } => {
                format!("_meta lacks, or has in another type: {}", missing.join(", "))
            }
            Fault::NoRevision { .. } => "this revision of the protocol is not spoken here".to_owned(),
            Fault::Exceeded { message, .. } => message.clone(),
        }
    }

    fn data(&self) -> Option<Map> {
        match self {
            Fault::NoTool { tools, .. } => {
                let tools: Vec<Value> = tools.iter().map(|name| Value::from(name.as_str())).collect();
                Some(Map::new().with("tools", tools).with("hint", "tools/list says what each is for"))
            }
            Fault::NoResource { uri } => Some(Map::new().with("uri", uri.clone())),
            Fault::NoRevision { requested } => {
                let supported: Vec<Value> = Revision::NAMES.iter().map(|name| Value::from(*name)).collect();
                Some(Map::new().with("supported", supported).with("requested", requested.clone()))
            }
            Fault::LacksMeta { .. } => {
                let hint = "say in params._meta of each request which revision and capabilities you have";
                Some(Map::new().with("hint", hint))
            }
            Fault::Mismatch { .. } => {
                Some(Map::new().with("hint", "let the headers say what the body says, once each"))
            }
            Fault::Exceeded { data, .. } => Some(data.clone()),
            Fault::Unreadable { .. } | Fault::NotAMessage { .. } => {
                Some(Map::new().with("hint", "send one JSON-RPC 2.0 request or notification, each key once"))
            }
            Fault::NoMethod { .. } | Fault::BadParams { .. } | Fault::Unanswered { .. } => None,
        }
    }

    /// The error object of JSON-RPC.
    pub(super) fn print(&self, era: Era) -> Map {
        let error = Map::new().with("code", self.code(era)).with("message", self.message());
        match self.data() {
            Some(data) => error.with("data", data),
            None => error,
        }
    }
}

/// Why there is nothing to show, where absent is as said.
pub(super) fn of(unserved: Unserved, absent: impl FnOnce() -> Fault) -> Fault {
    match unserved {
        Unserved::Absent => absent(),
        Unserved::Wrong { why } => Fault::BadParams { why },
        Unserved::Exceeded { message, data } => Fault::Exceeded { message, data },
    }
}

impl From<&eql::Refusal> for Unserved {
    fn from(refusal: &eql::Refusal) -> Unserved {
        Unserved::Exceeded { message: refusal.to_string(), data: refusal.to_map() }
    }
}

impl From<&ResolverError> for Unserved {
    fn from(error: &ResolverError) -> Unserved {
        match error.code {
            // What is another session's does not exist.
            Some(Code::NotFound) | None => Unserved::Absent,
            Some(Code::Validation | Code::Conflict | Code::Limit | Code::Forbidden | Code::Unavailable) => {
                Unserved::Wrong { why: error.message.clone() }
            }
        }
    }
}

/// The answer to a call that the caller may not make: a tool's, because the model can act on it.
pub(super) fn denied(denial: Denial) -> Answer {
    let (code, hint) = match denial {
        Denial::ReadOnly => (Code::Forbidden, "use a token that may change things"),
        Denial::HostsOnly => (Code::Forbidden, "use an operator's token, or connect as a host"),
        Denial::NotGranted { .. } => (Code::Forbidden, "ask an operator to grant it again"),
        Denial::TooFast { .. } => (Code::Limit, "wait as long as wait_ms says"),
    };
    let mut error =
        Map::new().with("class", code.name()).with("message", denial.to_string()).with("hint", hint);
    if let Denial::TooFast { wait } = denial {
        let limit = limits::CREATES_PER_MINUTE;
        error = error
            .with("limit", limit.name)
            .with("max", i64::try_from(limit.value).unwrap_or(i64::MAX))
            .with("wait_ms", i64::try_from(wait.millis()).unwrap_or(i64::MAX));
    }
    Answer::refused(Map::new().with("status", Value::keyword("error")).with("error", error), code)
}

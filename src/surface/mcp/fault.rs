//! The errors of MCP, and their only mapping to codes.
//!
//! A refusal by a tool is not a protocol error: it is a result with `isError`, which the model reads and can act on.
//! Source: JSON-RPC 2.0 §5.1; MCP 2026-07-28, base protocol, "Error Codes".

use super::features::Unserved;
use super::revision::Revision;
use super::wire_version::WireVersion;
use crate::dialect::Answer;
use crate::domain::Code;
use crate::edn::{Map, Value};
use crate::graph::eql;
use crate::graph::registry::ResolverError;
use crate::service::Denial;

/// Why a message gets an error instead of a result.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum McpFault {
    /// The message is not JSON, or exceeds a cap.
    Unreadable { error: String },
    /// The message is JSON, but not a message of JSON-RPC.
    NotAMessage { why: &'static str },
    /// The method does not exist in the wire shape of the request.
    NoMethod { method: Value },
    /// A parameter is invalid.
    BadParams { why: String },
    /// No tool with this name is offered.
    NoTool { name: Value, tools: Vec<String> },
    /// The resource does not exist for this caller.
    NoResource { uri: Value },
    /// The request's `_meta` lacks required entries.
    LacksMeta { missing: Vec<&'static str> },
    /// The HTTP headers contradict the body.
    Mismatch { why: String },
    /// The revision is not supported.
    NoRevision { requested: Value },
    /// The request exceeds a bound.
    Exceeded { message: String, data: Map },
    /// The daemon did not answer.
    Unanswered { why: String },
}

impl McpFault {
    /// The error code of JSON-RPC.
    pub(super) fn code(&self, era: WireVersion) -> i64 {
        match self {
            // -32700 to -32603 are defined by JSON-RPC; -32002, -32020 and -32022 by MCP.
            McpFault::Unreadable { .. } => -32_700,
            McpFault::NotAMessage { .. } => -32_600,
            McpFault::NoMethod { .. } => -32_601,
            McpFault::BadParams { .. } | McpFault::NoTool { .. } | McpFault::LacksMeta { .. } => -32_602,
            McpFault::Exceeded { .. } => -32_602,
            McpFault::Unanswered { .. } => -32_603,
            // The code of this error changed between the two shapes.
            McpFault::NoResource { .. } => match era {
                WireVersion::Handshake => -32_002,
                WireVersion::Stateless => -32_602,
            },
            McpFault::Mismatch { .. } => -32_020,
            McpFault::NoRevision { .. } => -32_022,
        }
    }

    /// The HTTP status that goes with the error.
    pub(super) fn status(&self, era: WireVersion) -> u16 {
        match (self, era) {
            (
                McpFault::Unreadable { .. }
                | McpFault::NotAMessage { .. }
                | McpFault::LacksMeta { .. }
                | McpFault::Mismatch { .. }
                | McpFault::NoRevision { .. },
                _,
            ) => 400,
            // The handshake shape has no status for this: an unknown method is an ordinary answer there.
            (McpFault::NoMethod { .. }, WireVersion::Stateless) => 404,
            (
                McpFault::NoMethod { .. }
                | McpFault::BadParams { .. }
                | McpFault::NoTool { .. }
                | McpFault::NoResource { .. }
                | McpFault::Exceeded { .. }
                | McpFault::Unanswered { .. },
                _,
            ) => 200,
        }
    }

    fn message(&self) -> String {
        match self {
            McpFault::Unreadable { error } => format!("the message is no JSON: {error}"),
            McpFault::NotAMessage { why } => (*why).to_owned(),
            McpFault::NoMethod { method } => format!("there is no method {method} here"),
            McpFault::BadParams { why } | McpFault::Mismatch { why } | McpFault::Unanswered { why } => {
                why.clone()
            }
            McpFault::NoTool { name, .. } => format!("there is no tool {name} here"),
            McpFault::NoResource { .. } => "there is no such resource".to_owned(),
            McpFault::LacksMeta { missing } => {
                format!("_meta lacks, or has in another type: {}", missing.join(", "))
            }
            McpFault::NoRevision { .. } => "this revision of the protocol is not spoken here".to_owned(),
            McpFault::Exceeded { message, .. } => message.clone(),
        }
    }

    fn data(&self) -> Option<Map> {
        match self {
            McpFault::NoTool { tools, .. } => {
                let tools: Vec<Value> = tools.iter().map(|name| Value::from(name.as_str())).collect();
                Some(Map::new().with("tools", tools).with("hint", "tools/list says what each is for"))
            }
            McpFault::NoResource { uri } => Some(Map::new().with("uri", uri.clone())),
            McpFault::NoRevision { requested } => {
                let supported: Vec<Value> = Revision::NAMES.iter().map(|name| Value::from(*name)).collect();
                Some(Map::new().with("supported", supported).with("requested", requested.clone()))
            }
            McpFault::LacksMeta { .. } => {
                let hint = "say in params._meta of each request which revision and capabilities you have";
                Some(Map::new().with("hint", hint))
            }
            McpFault::Mismatch { .. } => {
                Some(Map::new().with("hint", "let the headers say what the body says, once each"))
            }
            McpFault::Exceeded { data, .. } => Some(data.clone()),
            McpFault::Unreadable { .. } | McpFault::NotAMessage { .. } => {
                Some(Map::new().with("hint", "send one JSON-RPC 2.0 request or notification, each key once"))
            }
            McpFault::NoMethod { .. } | McpFault::BadParams { .. } | McpFault::Unanswered { .. } => None,
        }
    }

    /// Prints the error object of JSON-RPC.
    pub(super) fn print(&self, era: WireVersion) -> Map {
        let error = Map::new().with("code", self.code(era)).with("message", self.message());
        error.with_some("data", self.data())
    }
}

/// Converts the failure of a feature; `absent` is the fault for what does not exist.
pub(super) fn of(unserved: Unserved, absent: impl FnOnce() -> McpFault) -> McpFault {
    match unserved {
        Unserved::Absent => absent(),
        Unserved::Wrong { why } => McpFault::BadParams { why },
        Unserved::Exceeded { message, data } => McpFault::Exceeded { message, data },
    }
}

impl From<&eql::QueryRefusal> for Unserved {
    fn from(refusal: &eql::QueryRefusal) -> Unserved {
        Unserved::Exceeded { message: refusal.to_string(), data: refusal.to_map() }
    }
}

impl From<&ResolverError> for Unserved {
    fn from(error: &ResolverError) -> Unserved {
        match error.code {
            // Resources of other sessions do not exist for the caller.
            Some(Code::NotFound) | None => Unserved::Absent,
            Some(Code::Validation | Code::Conflict | Code::Limit | Code::Forbidden | Code::Unavailable) => {
                Unserved::Wrong { why: error.message.clone() }
            }
        }
    }
}

/// The answer to a call that the caller may not make. It is a tool's result, because the model can act on it.
pub(super) fn denied(denial: &Denial) -> Answer {
    let code = denial.code();
    let error = Map::new().with("class", code.name()).with("message", denial.to_string());
    // JSON's keys are in snake case.
    let data = denial.data().into_iter().filter_map(|(key, value)| {
        Some((Value::string(key.as_keyword()?.as_str().replace('-', "_")), value))
    });
    let mut error = error.with("hint", denial.hint().into_owned());
    error.extend(data);
    Answer::refused(Map::new().with("status", Value::keyword("error")).with("error", error), code)
}

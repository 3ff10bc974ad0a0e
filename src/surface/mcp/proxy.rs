//! Prepares a message for a daemon: the headers it needs, and the answer if the daemon gives none.

use super::declaration;
use super::fault::McpFault;
use super::message::{self, McpMessage, Misread};
use super::mirrored_headers::{MirroredHeaders, as_header};
use super::wire_version::WireVersion;
use crate::dialect::{REQUEST_CAPS, json};
use crate::edn::Value;

/// The parts of a message that forwarding needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProxiedMessage {
    /// The id, if the message is a request.
    pub(crate) id: Option<Value>,
    /// The headers that repeat the body.
    pub headers: Vec<(&'static str, String)>,
    /// True if the message gets no answer in any case.
    pub is_remark: bool,
    /// The error for the message itself, if it is none.
    misread: Option<String>,
}

impl ProxiedMessage {
    /// Examines a message. An unreadable one is forwarded too; the daemon refuses it.
    pub fn of(text: &[u8]) -> ProxiedMessage {
        let request = match McpMessage::read(text) {
            Ok(McpMessage::Request(request)) => request,
            Ok(McpMessage::Remark) => return ProxiedMessage { is_remark: true, ..ProxiedMessage::default() },
            Err(Misread { id, fault }) => {
                let misread = Some(message::error(id.as_ref(), &fault, WireVersion::Stateless));
                return ProxiedMessage { id, misread, ..ProxiedMessage::default() };
            }
        };
        let meta = request.param("_meta").and_then(Value::as_map);
        let declared = meta.and_then(|meta| meta.text(declaration::REVISION)).and_then(Value::as_str);
        let mut headers = Vec::new();
        // Only a request that declares its revision in the body has to repeat parts of it in headers.
        if let Some(declared) = declared {
            headers.push((MirroredHeaders::REVISION, as_header(declared)));
            headers.push((MirroredHeaders::METHOD, as_header(&request.method)));
            headers.extend(declaration::named(&request).map(|name| (MirroredHeaders::NAME, as_header(name))));
        }
        ProxiedMessage { id: Some(request.id), headers, ..ProxiedMessage::default() }
    }

    /// The line to send to the client: the daemon's answer if it is a message, otherwise an error with `complaint`.
    pub fn answer(&self, said: &str, complaint: impl FnOnce() -> String) -> Option<String> {
        if self.is_remark {
            return None;
        }
        let value = json::read(said.as_bytes(), &ANSWER_CAPS).ok();
        let is_message =
            value.as_ref().and_then(Value::as_map).is_some_and(|map| map.text("jsonrpc").is_some());
        // A line break inside would split the message on the line-based stream.
        if is_message && !said.trim().contains('\n') {
            return Some(said.trim().to_owned());
        }
        // The daemon refuses a message beyond its bounds before it reads it as JSON-RPC. The fault of that message is known here.
        Some(self.misread.clone().unwrap_or_else(|| unanswered(self.id.as_ref(), complaint())))
    }
}

/// The error for a message that got no answer.
pub fn unanswered(id: Option<&Value>, why: String) -> String {
    message::error(id, &McpFault::Unanswered { why }, WireVersion::Stateless)
}

/// The caps on a daemon's answer, which may be longer than a request.
const ANSWER_CAPS: crate::edn::Caps =
    // As many bytes as `limits::ANSWERS_BYTES`, which no answer of a daemon exceeds.
    crate::edn::Caps { bytes_max: 1 << 28, forms_max: u32::MAX, ..REQUEST_CAPS };

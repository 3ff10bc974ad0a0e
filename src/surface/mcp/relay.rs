//! A message on its way to a daemon: the headers that it needs there, and what to say if no answer comes.

use super::era::{self, Era};
use super::fault::Fault;
use super::message::{self, Message};
use super::mirror::{Mirror, as_header};
use crate::dialect::{REQUEST_CAPS, json};
use crate::edn::Value;

/// What is known of a message without answering it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relayed {
    /// The id, if it is a request.
    pub id: Option<Value>,
    /// What HTTP wants said twice.
    pub headers: Vec<(&'static str, String)>,
    /// Whether nothing is to be answered, whatever becomes of it.
    pub is_remark: bool,
}

impl Relayed {
    /// Looks at a message. One that cannot be read is the daemon's to refuse.
    pub fn of(text: &[u8]) -> Relayed {
        let request = match Message::read(text) {
            Ok(Message::Request(request)) => request,
            Ok(Message::Remark) => return Relayed { is_remark: true, ..Relayed::default() },
            Err(misread) => return Relayed { id: misread.id, ..Relayed::default() },
        };
        let meta = request.param("_meta").and_then(Value::as_map);
        let declared = meta.and_then(|meta| meta.text(era::REVISION)).and_then(Value::as_str);
        let mut headers = Vec::new();
        if let Some(declared) = declared {
            headers.push((Mirror::REVISION, as_header(declared)));
            headers.push((Mirror::METHOD, as_header(&request.method)));
            headers.extend(era::named(&request).map(|name| (Mirror::NAME, as_header(name))));
        }
        Relayed { id: Some(request.id), headers, is_remark: false }
    }

    /// The line to send on: what the daemon said, if that is a message, and otherwise that it said something else.
    pub fn answer(&self, said: &str, complaint: impl FnOnce() -> String) -> Option<String> {
        if self.is_remark {
            return None;
        }
        let value = json::read(said.as_bytes(), &ANSWER_CAPS).ok();
        let is_message =
            value.as_ref().and_then(Value::as_map).is_some_and(|map| map.text("jsonrpc").is_some());
        if is_message && !said.trim().contains('\n') {
            return Some(said.trim().to_owned());
        }
        Some(unanswered(self.id.as_ref(), complaint()))
    }
}

/// The answer to a message that nobody has answered.
pub fn unanswered(id: Option<&Value>, why: String) -> String {
    message::error(id, &Fault::Unanswered { why }, Era::Stateless)
}

/// What a daemon of ours answers may be longer than what it takes.
const ANSWER_CAPS: crate::edn::Caps =
    crate::edn::Caps { bytes_max: 1 << 28, forms_max: u32::MAX, ..REQUEST_CAPS };

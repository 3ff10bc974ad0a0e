//! A message that a durable run put into a built-in session, as the store keeps it, and back.

use super::definition::own_text;
use super::parts::{
    instant, integer, map, maybe, number, of_instant, one, part, run_id, session_id, span, wrong,
};
use super::row::check_version;
use super::{FactError, VERSION};
use crate::domain::{Content, Message, MessageProvenance, Role, SessionId};
use crate::edn::{Map, Value};

/// Prints a message and the session it stands in.
pub fn print_message(session: &SessionId, message: &Message) -> Map {
    let content: Vec<Value> =
        message.content.iter().map(|Content::Text(text)| Value::string(text.to_string())).collect();
    Map::new()
        .with("v", VERSION)
        .with("session", session.as_str())
        .with("role", Value::keyword(message.role.name()))
        .with("content", content)
        .with("timestamp", message.timestamp.map(of_instant))
        .with("provenance", message.provenance.as_ref().map(of_provenance))
}

/// Reads a message and the session it stands in.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub fn parse_message(form: &Map) -> Result<(SessionId, Message), FactError> {
    check_version(form)?;
    let Value::Vector(content) = part(form, "content") else {
        return Err(wrong("content", "a vector of texts", part(form, "content")));
    };
    let piece = |value: &Value| {
        let text = value.as_str().map(|text| Content::Text(text.into()));
        text.ok_or_else(|| wrong("content", "a vector of texts", value))
    };
    let message = Message {
        role: one(form, "role", Role::parse)?,
        content: content.iter().map(piece).collect::<Result<_, _>>()?,
        timestamp: maybe(form, "timestamp", instant)?,
        provenance: maybe(form, "provenance", |form, key| provenance(map(form, key)?))?,
    };
    Ok((session_id(form, "session")?, message))
}

fn of_provenance(provenance: &MessageProvenance) -> Map {
    Map::new()
        .with("run", provenance.run.to_string())
        .with("label", provenance.label.as_deref())
        .with("late-ns", integer(provenance.late.nanos()))
        .with("folded", integer(provenance.folded))
}

fn provenance(form: &Map) -> Result<MessageProvenance, FactError> {
    Ok(MessageProvenance {
        run: run_id(form, "run")?,
        label: own_text(form, "label")?,
        late: span(form, "late-ns")?,
        folded: number(form, "folded")?,
    })
}

//! The codec of message rows: messages that durable runs put into built-in sessions.

use super::attachment::{file, of_file};
use super::form::Form;
use super::parts::{
    check_version, flag, instant, map, maybe, number, one, own_text, part, run_id, session_id, span, wrong,
};
use super::printed::{Instant, Part, Printed, Word};
use super::{FactError, VERSION};
use crate::domain::{Content, Message, MessageProvenance, Role, SessionId};

/// Prints a message with the id of its session.
pub(crate) fn print_message(session: &SessionId, message: &Message) -> Printed {
    let content: Vec<&Content> = message.content.iter().collect();
    Printed::new()
        .with("v", VERSION)
        .with("session", session.as_str())
        .with("role", Word(message.role.name()))
        .with("content", content)
        .with("timestamp", message.timestamp.map(Instant))
        .with("provenance", message.provenance.as_ref().map(of_provenance))
}

impl Part for &Content {
    fn print(self, out: &mut String) {
        match self {
            Content::Text(text) => (&**text).print(out),
            Content::File(file) => of_file(file).print(out),
        }
    }
}

/// Parses a message and the id of its session.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub(in crate::runtime) fn parse_message(form: &Form<'_>) -> Result<(SessionId, Message), FactError> {
    check_version(form)?;
    let content = part(form, "content");
    let content = content.as_items().ok_or_else(|| wrong("content", "a vector of texts", content))?;
    // A text is stored as a string and a file as a map, which tells them apart.
    let piece = |value: &Form<'_>| {
        if value.is_map() {
            return file(value).map(Content::File);
        }
        let text = value.as_str().map(|text| Content::Text(text.into()));
        text.ok_or_else(|| wrong("content", "a vector of texts and files", value))
    };
    let message = Message {
        role: one(form, "role", Role::parse)?,
        content: content.iter().map(piece).collect::<Result<_, _>>()?,
        timestamp: maybe(form, "timestamp", instant)?,
        provenance: maybe(form, "provenance", |form, key| provenance(map(form, key)?))?,
    };
    Ok((session_id(form, "session")?, message))
}

fn of_provenance(provenance: &MessageProvenance) -> Printed {
    Printed::new()
        .with("run", provenance.run.to_string())
        .with("label", provenance.label.as_deref())
        .with("late-ns", provenance.late.nanos())
        .with("folded", provenance.folded)
        .with("begins-turn?", (!provenance.begins_turn).then_some(false))
}

fn provenance(form: &Form<'_>) -> Result<MessageProvenance, FactError> {
    Ok(MessageProvenance {
        run: run_id(form, "run")?,
        label: own_text(form, "label")?,
        late: span(form, "late-ns")?,
        folded: number(form, "folded")?,
        // Written only if it is false.
        begins_turn: maybe(form, "begins-turn?", flag)?.unwrap_or(true),
    })
}

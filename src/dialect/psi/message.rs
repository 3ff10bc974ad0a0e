//! Prints a message for psi's transcripts and deliveries.
//!
//! Preloaded messages are read in `session_config/preloaded.rs`. Invariant: the three keys of provenance are all
//! present or all absent.

use crate::domain::{Content, Message};
use crate::edn::{Map, Value};
use crate::graph::psi_terms::instant;

/// Prints a message. If a schedule delivered it, the schedule is named.
pub fn print(message: &Message) -> Value {
    let content: Vec<Value> = message.content.iter().map(piece).collect();
    let printed = Map::new()
        .with("role", message.role.name())
        .with("content", content)
        .with("timestamp", message.timestamp.map(instant));
    match &message.provenance {
        None => printed.into(),
        Some(provenance) => {
            let printed = printed
                .with("source", Value::keyword("scheduled"))
                .with("schedule-id", provenance.run.schedule.to_string())
                .with("label", provenance.label.as_deref());
            // psi only knows prompts, so a message that is not a prompt is marked.
            if provenance.begins_turn { printed.into() } else { printed.with("turn?", false).into() }
        }
    }
}

fn piece(piece: &Content) -> Value {
    let kind = |kind: &str| Map::new().with("type", Value::keyword(kind));
    match piece {
        Content::Text(text) => kind("text").with("text", &**text).into(),
        Content::File(file) => {
            kind("file").with("path", &*file.path).with("name", file.name.as_deref()).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{MessageProvenance, Moment, RunId, ScheduleId, Span};

    #[test]
    fn provenance_comes_whole() {
        let moment = Moment::parse("2026-04-22T12:00:00Z").unwrap();
        let mut message = Message::user("hello", moment);
        let plain = "{:role \"user\" :content [{:type :text :text \"hello\"}] \
                     :timestamp #inst \"2026-04-22T12:00:00.000-00:00\"";
        assert_eq!(print(&message).to_string(), format!("{plain}}}"));
        let schedule = ScheduleId::new("sch-1").unwrap();
        let run = RunId { schedule, incarnation: 1, slot: moment };
        message.provenance =
            Some(MessageProvenance { run, label: None, late: Span::ZERO, folded: 0, begins_turn: true });
        let tail = r#" :source :scheduled :schedule-id "sch-1" :label nil}"#;
        assert_eq!(print(&message).to_string(), format!("{plain}{tail}"));
    }

    #[test]
    fn every_instant_is_printed() {
        let far = Moment::parse("+12026-04-22T12:00:00Z").unwrap();
        let text = print(&Message::user("", far)).to_string();
        assert!(text.contains(r#":timestamp "+12026-04-22T12:00:00Z""#), "{text}");
        let open = Message { timestamp: None, ..Message::user("", far) };
        assert!(print(&open).to_string().contains(":timestamp nil"));
    }
}

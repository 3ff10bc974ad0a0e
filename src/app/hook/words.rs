//! The words in which an agent gets what is due: ours first, then the prompt.
//!
//! The model must not take the prompt for a person's message, nor for an approval. Invariant: every prompt that a hook hands
//! over has our mark, and no prompt without it is taken for ours.

use crate::edn::{Map, Value};

/// What is due, in the words for the agent.
pub(super) fn due(prompts: &[Prompt]) -> String {
    let parts: Vec<String> = prompts.iter().map(Prompt::words).collect();
    format!("{HEAD}\n\n{}", parts.join("\n\n"))
}

/// Returns whether a prompt that the agent got is one of ours, so that nobody was at the keyboard.
pub(super) fn is_ours(prompt: &str) -> bool {
    prompt.lines().any(|line| MARKS.iter().any(|mark| line.starts_with(mark)))
}

/// The ids of the runs whose prompts of ours are in a text.
pub(super) fn runs(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.lines().filter_map(|line| line.strip_prefix(MARK)).map(str::trim_end)
}

/// One prompt that is due.
pub(super) struct Prompt {
    /// The id of its run.
    run: String,
    label: Option<String>,
    due_at: Option<String>,
    text: String,
}

impl Prompt {
    /// Reads a message that was taken out of an inbox.
    pub(super) fn of_taken(message: &Map) -> Option<Prompt> {
        let field = |name: &str| message.keyword(name).and_then(Value::as_str).map(str::to_owned);
        Some(Prompt {
            run: field("run_id")?,
            label: field("label"),
            due_at: field("due_at"),
            text: field("text")?,
        })
    }

    /// Reads the push of a delivery.
    pub(super) fn of_pushed(push: &Map) -> Option<Prompt> {
        let message = push.keyword("message").and_then(Value::as_map)?;
        let pieces = message.keyword("content").and_then(Value::as_items).unwrap_or_default();
        let text = |piece: &Value| {
            let piece = piece.as_map()?;
            // A notice may show a file, of which the agent needs the path.
            let text = piece.keyword("text").or_else(|| piece.keyword("path"));
            text.and_then(Value::as_str).map(str::to_owned)
        };
        Some(Prompt {
            run: push.keyword("delivery-id").and_then(Value::as_str)?.to_owned(),
            label: message.keyword("label").and_then(Value::as_str).map(str::to_owned),
            due_at: None,
            text: pieces.iter().filter_map(text).collect::<Vec<String>>().join("\n"),
        })
    }

    fn words(&self) -> String {
        // A label is one line, so that it cannot look like a prompt.
        let plain =
            |label: &String| label.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
        let label: Option<String> = self.label.as_ref().map(plain);
        let label = label.map(|label| format!("label: {label}\n")).unwrap_or_default();
        let due_at = self.due_at.as_ref().map(|at| format!("due at: {at}\n")).unwrap_or_default();
        // The id is all that is on its line: it may have any letters.
        format!("{MARK}{}\n{label}{due_at}\n{}", self.run, self.text)
    }
}

const HEAD: &str = "A schedule that was set earlier is due. This is not a message from the user, who may be away, and it \
                    approves nothing. Carry out what follows.";
/// Before the id of a run.
pub(super) const MARK: &str = "[Reveille] run ";
/// How prompts of ours begin a line: by a hook, or in an envelope of the engine.
const MARKS: &[&str] = &[MARK, "[Scheduled Task Event]", "[DELAYED ACTION]"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_bears_our_mark_and_a_label_adds_no_line() {
        let taken = Map::new()
            .with("run_id", "sch-1~1~x")
            .with("label", "a\nb")
            .with("text", "Look.")
            .with("due_at", "2026-06-01T00:00:00Z");
        let words = due(&[Prompt::of_taken(&taken).unwrap()]);
        let end = "\n\n[Reveille] run sch-1~1~x\nlabel: a b\ndue at: 2026-06-01T00:00:00Z\n\nLook.";
        assert!(words.ends_with(end), "{words}");
        assert_eq!(runs(&words).collect::<Vec<_>>(), ["sch-1~1~x"]);
        assert!(is_ours(&words) && !is_ours("what is [Reveille] run?"));
    }
}

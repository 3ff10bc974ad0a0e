//! What an agent says of a tool that it calls, beside title and kind: its input, its content, its places.
//!
//! Invariants: `limits::QUESTION_BYTES` bounds it, and what is longer is not cut, for nobody can decide by a part of it.

use serde_json::{Map, Value};

use crate::limits;

/// What a tool is to do, as far as the agent says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// The fields of the call that are shown nowhere else; `None` if they are too long.
    parts: Option<Map<String, Value>>,
    /// Only the beginning of the title is shown.
    is_title_cut: bool,
}

/// The details are longer than anybody is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Details {
    /// Reads what the agent says of a call.
    pub(super) fn of(call: &Value) -> Details {
        let shown = ["toolCallId", "title", "kind", "status", "_meta", "sessionUpdate"];
        let is_part = |(key, value): &(&String, &Value)| !shown.contains(&key.as_str()) && !value.is_null();
        let parts = call.as_object().into_iter().flatten().filter(is_part);
        let parts = parts.map(|(key, value)| (key.clone(), value.clone())).collect();
        let is_title_cut = call["title"].as_str().is_some_and(|title| title.len() > WORD_BYTES);
        Details { parts: bounded(parts), is_title_cut }
    }

    /// Adds what the agent says of the call later: a field that it says again is replaced.
    pub(super) fn amend(&mut self, later: Details) {
        // If one of the two is too long, so is the whole.
        let both = self.parts.take().zip(later.parts);
        // Of two parts of one name the later one stays.
        self.parts = both.and_then(|(earlier, later)| bounded(earlier.into_iter().chain(later).collect()));
        self.is_title_cut |= later.is_title_cut;
    }

    /// Returns the details as JSON, if there are any.
    pub(super) fn text(&self) -> Result<Option<Box<str>>, TooLong> {
        match &self.parts {
            // Some agents say in the title alone what the tool is to do.
            Some(parts) if parts.is_empty() && !self.is_title_cut => Ok(None),
            Some(parts) if !parts.is_empty() => Ok(Some(print(parts).into())),
            Some(_) | None => Err(TooLong),
        }
    }
}

/// The bound on a title, a kind or a status.
pub(super) const WORD_BYTES: usize = 512;

fn bounded(parts: Map<String, Value>) -> Option<Map<String, Value>> {
    (print(&parts).len() as u64 <= limits::QUESTION_BYTES.value).then_some(parts)
}

fn print(parts: &Map<String, Value>) -> String {
    serde_json::to_string(parts).expect("keys are strings")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(calls: &[&Value]) -> Result<Option<Box<str>>, TooLong> {
        let mut said = calls.iter().map(|call| Details::of(call));
        let first = said.next().expect("at least one");
        said.fold(first, |mut all, later| {
            all.amend(later);
            all
        })
        .text()
    }

    /// An operator is shown all of what the tool is to do, or is not asked.
    #[test]
    fn they_are_whole_or_too_long() {
        let nothing = json!({ "title": "rm", "kind": "execute", "status": "pending", "content": null });
        let input = json!({ "title": "rm", "rawInput": { "command": "rm -rf /" } });
        let (long, long_title) =
            (json!({ "rawInput": "x".repeat(20_000) }), json!({ "title": "x".repeat(2_000) }));
        let whole = r#"{"rawInput":{"command":"rm -rf /"}}"#;
        assert_eq!(text(&[&nothing]), Ok(None));
        assert_eq!(text(&[&input]), Ok(Some(whole.into())));
        assert_eq!(text(&[&long]), Err(TooLong));
        assert_eq!(text(&[&long_title]), Err(TooLong));
        // What came earlier counts, and what came last stands.
        assert_eq!(text(&[&input, &nothing]), Ok(Some(whole.into())));
        assert_eq!(text(&[&json!({ "rawInput": {} }), &long_title, &input]), Ok(Some(whole.into())));
        assert_eq!(text(&[&long, &nothing]), Err(TooLong));
        let [first, second] = ["a", "b"].map(|key| json!({ key: "x".repeat(10_000) }));
        assert_eq!(text(&[&first, &second]), Err(TooLong));
    }
}

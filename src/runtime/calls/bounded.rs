//! Cuts outcomes to their bounds, and marks what was cut.

use std::sync::Arc;

use crate::dialect::json;
use crate::domain::Outcome;
use crate::edn::Value;
use crate::limits::{self, Limit};

/// An outcome with its size. A value that is too long becomes the beginning of its JSON, as a text.
pub(super) fn bounded(outcome: Outcome) -> Outcome {
    let error = outcome.error.map(|error| match beginning(&error, limits::OUTCOME_ERROR_BYTES) {
        Some(cut) => format!("{cut}…").into(),
        None => error,
    });
    let Some(value) = outcome.value else { return Outcome { error, cut: false, ..outcome } };
    // The limit counts JSON, in whichever notation the value came.
    let mut text = String::new();
    json::write(&value, &mut text);
    // The executor may have cut it already, and knows how long it was.
    let bytes = outcome.bytes.max(text.len() as u64);
    let (value, cut) = match beginning(&text, limits::OUTCOME_KEPT_BYTES) {
        Some(cut) => (Arc::new(Value::from(cut)), true),
        None => (value, outcome.cut),
    };
    Outcome { error, value: Some(value), bytes, cut, ..outcome }
}

/// The beginning of a text that is longer than the limit, whole characters of it.
fn beginning(text: &str, limit: Limit) -> Option<&str> {
    let max = usize::try_from(limit.value).unwrap_or(usize::MAX);
    (text.len() > max).then(|| &text[..text.floor_char_boundary(max)])
}

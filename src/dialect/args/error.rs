//! An error in one argument: its kind, the path to the value, and an echo of the value.
//!
//! The texts are in `words.rs` and in a table per dialect; `repair.rs` corrects the call.
//! Invariant: an error is data; its texts are generated from that data.

use super::error_kind::ArgErrorKind;
use super::wording::Wording;
use super::words::{ArgWords, fill};
use crate::dialect::{Answer, echo, tool_error};
use crate::domain::Code;
use crate::edn::{Map, Value};

/// An error in one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArgError {
    /// The path to the value, such as `patch.schedule.at`; empty if the error concerns all arguments.
    path: String,
    kind: Box<ArgErrorKind>,
    /// An echo of the offending value, if there is one.
    value: Option<Value>,
    /// What the caller can do about this very value; `None` for the words of the rule.
    hint: Option<Box<str>>,
}

impl ArgError {
    pub(crate) fn new(path: &str, kind: ArgErrorKind) -> ArgError {
        ArgError { path: path.to_owned(), kind: Box::new(kind), value: None, hint: None }
    }

    /// Creates an error for a dialect's own rule. `detail` fills the placeholder of that name in the texts, if they
    /// have one.
    pub(crate) fn own(path: &str, words: Wording, detail: impl Into<String>) -> ArgError {
        ArgError::new(path, ArgErrorKind::Own { words, detail: detail.into() })
    }

    /// Attaches an echo of the offending value.
    pub(crate) fn with(self, value: &Value) -> ArgError {
        ArgError { value: Some(echo(value)), ..self }
    }

    /// Replaces the hint of the rule by one about this very value.
    pub(crate) fn advised(self, hint: impl Into<Box<str>>) -> ArgError {
        ArgError { hint: Some(hint.into()), ..self }
    }

    /// Prepends the name of the enclosing field to the path.
    pub(crate) fn under(self, name: &str) -> ArgError {
        // An index follows its list directly, as in `list[0]`; a field is separated by a dot.
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        ArgError { path: format!("{name}{dot}{}", self.path), ..self }
    }

    /// Prepends the index in the enclosing list to the path.
    pub(crate) fn at(self, index: usize) -> ArgError {
        self.under(&format!("[{index}]"))
    }

    /// The path to the value; empty if the error concerns all arguments.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn kind(&self) -> &ArgErrorKind {
        &self.kind
    }

    /// The echo of the offending value, if there is one.
    pub(crate) fn value(&self) -> Option<&Value> {
        self.value.as_ref()
    }

    /// The path to the map that has an unknown key; for other kinds of error, the path to the value.
    pub(crate) fn place(&self) -> &str {
        let ArgErrorKind::UnknownKeys { keys, .. } = &*self.kind else { return &self.path };
        // The path ends in the first unknown key, which is not part of the map's own path.
        let key = keys.first().map(key_text).unwrap_or_default();
        let place = self.path.strip_suffix(&key).unwrap_or_default();
        place.strip_suffix('.').unwrap_or(place)
    }

    /// The known name nearest to the unknown one, if any is near.
    pub(crate) fn nearest(&self) -> Option<&'static str> {
        if let ArgErrorKind::UnknownKeys { nearest, .. } = &*self.kind { *nearest } else { None }
    }

    /// The dialect's name for this kind of error.
    pub(crate) fn name(&self, words: &ArgWords) -> &'static str {
        words.of(&self.kind).name
    }

    pub(crate) fn code(&self, words: &ArgWords) -> Code {
        words.of(&self.kind).code
    }

    /// Formats one sentence: the fault and the path.
    pub(crate) fn message(&self, words: &ArgWords) -> String {
        fill(words.of(&self.kind).message, |part| self.part(part, words))
    }

    /// Builds the complete answer of a tool. `example` is the call with this fault put right, if that is certain.
    pub(crate) fn answer(&self, words: &ArgWords, example: Option<Value>) -> Answer {
        let rule = || fill(words.of(&self.kind).hint, |part| self.part(part, words));
        let hint = self.hint.as_deref().map_or_else(rule, str::to_owned);
        let code = self.code(words);
        let mut error = tool_error::error(self.name(words), code, &self.message(words));
        if !self.path.is_empty() {
            error = error.with("field", &*self.path);
        }
        if let Some(value) = &self.value {
            error = error.with("value", value.clone());
        }
        if let Some(name) = self.nearest() {
            error = error.with("did_you_mean", name);
        }
        tool_error::finish(error.with("hint", hint), code).with_example(example)
    }

    /// The text for one placeholder; `None` if the error has no such part.
    fn part(&self, name: &str, words: &ArgWords) -> Option<String> {
        let whole = |path: &str| if path.is_empty() { words.whole } else { path }.to_owned();
        Some(match (name, &*self.kind) {
            ("field", _) => whole(&self.path),
            ("place", _) => whole(self.place()),
            ("value", _) => self.value.as_ref().unwrap_or(&Value::Nil).to_string(),
            ("found", ArgErrorKind::NotAMap { found } | ArgErrorKind::NotText { found }) => {
                (*found).to_owned()
            }
            ("found", ArgErrorKind::NotA { found, .. }) => (*found).to_owned(),
            ("expected", ArgErrorKind::NotA { expected, .. }) => (*expected).to_owned(),
            ("set", ArgErrorKind::NotAList { or_set }) => if *or_set { "a set or " } else { "" }.to_owned(),
            ("known", ArgErrorKind::UnknownKeys { known, .. } | ArgErrorKind::NotOneOf { known }) => {
                words.list(known)
            }
            ("keys", ArgErrorKind::UnknownKeys { keys, .. }) => shown(&sorted(keys)),
            ("suggestion", _) => self.suggestion().map_or_else(String::new, |name| {
                let name = words.list(&[name]);
                format!("; did you mean {name}?")
            }),
            ("min", ArgErrorKind::OutOfRange { min, .. }) => min.to_string(),
            ("max", ArgErrorKind::OutOfRange { max, .. }) => max.to_string(),
            ("limit", ArgErrorKind::TooLong { limit }) => limit.name.to_owned(),
            ("max", ArgErrorKind::TooLong { limit }) => limit.value.to_string(),
            ("unit", ArgErrorKind::TooLong { limit }) => limit.unit.to_owned(),
            ("detail", ArgErrorKind::Own { detail, .. }) => detail.clone(),
            // No fault: hints contain calls in JSON, whose braces are literal.
            _ => return None,
        })
    }

    /// Adds the unknown keys, sorted by text, and the suggestion if there is one. This is the shape of EDN errors.
    pub(crate) fn with_unknown_keys(&self, data: Map) -> Map {
        let ArgErrorKind::UnknownKeys { keys, .. } = &*self.kind else { return data };
        let data = data.with("unsupported-keys", sorted(keys));
        data.with_some("did-you-mean", self.suggestion().map(Value::keyword))
    }

    /// The suggested name if there is exactly one unknown key. With several keys, the reader could not tell which one
    /// it replaces.
    fn suggestion(&self) -> Option<&'static str> {
        let ArgErrorKind::UnknownKeys { keys, .. } = &*self.kind else { return None };
        self.nearest().filter(|_| keys.len() == 1)
    }
}

/// A key as it appears in paths: without quotes or colon.
pub(super) fn key_text(key: &Value) -> String {
    let text = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
    text.trim_start_matches(':').to_owned()
}

/// Sorts keys by their text. Keys of different types have no natural order.
fn sorted(keys: &[Value]) -> Vec<Value> {
    let mut keys = keys.to_vec();
    // psi's own sort throws an exception for a string beside a keyword.
    keys.sort_by_cached_key(ToString::to_string);
    keys
}

/// Lists the first few values, and the count of the others.
fn shown(values: &[Value]) -> String {
    let first: Vec<String> = values.iter().take(VALUES_SHOWN).map(ToString::to_string).collect();
    match values.len() - first.len() {
        0 => first.join(" "),
        more => format!("{} and {more} more", first.join(" ")),
    }
}

/// Messages list at most this many values; the error's data lists all.
const VALUES_SHOWN: usize = 8;

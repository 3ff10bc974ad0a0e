//! What is wrong with one argument: the kind of error, the path to the value, and an echo of the value.
//!
//! What lives elsewhere: the texts (`words.rs`, and a table of each dialect), calls that would have been right (each
//! dialect's `example.rs`). Invariant: an error is data; its texts are made of it.

use super::words::{ArgWords, Wording, fill};
use crate::dialect::{Answer, echo, tool_error};
use crate::domain::Code;
use crate::edn::{Map, Value};
use crate::limits::Limit;

/// What is wrong with one argument, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArgError {
    /// Empty for the arguments as a whole.
    path: String,
    kind: Box<ArgErrorKind>,
    value: Option<Value>,
}

/// What can be wrong with an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArgErrorKind {
    /// A map belongs there.
    NotAMap { found: &'static str },
    /// There are no such fields. The path ends in the first of these keys.
    UnknownKeys { keys: Vec<Value>, known: &'static [&'static str], nearest: Option<&'static str> },
    /// One field, in two spellings.
    GivenTwice,
    /// A field that must be there is not.
    Missing,
    /// A text that must say something does not.
    Blank,
    /// A string belongs there.
    NotText { found: &'static str },
    /// True or false belongs there.
    NotABoolean,
    /// A whole number belongs there.
    NotWhole,
    /// A vector belongs there; a set will do where `or_set`.
    NotAList { or_set: bool },
    /// Something else belongs there, which only one dialect has.
    NotA { expected: &'static str, found: &'static str },
    /// A number out of bounds, which are both included.
    OutOfRange { min: u64, max: u64 },
    /// A text or a list is too long.
    TooLong { limit: Limit },
    /// It is none of a closed list of names.
    NotOneOf { known: &'static [&'static str] },
    /// An instant without its offset from UTC.
    NoOffset,
    /// It is no instant.
    NotAnInstant,
    /// It cannot be an id.
    NotAnId,
    /// A rule of one dialect is broken; the detail is for its texts.
    Own { words: Wording, detail: String },
}

impl ArgError {
    pub(crate) fn new(path: &str, kind: ArgErrorKind) -> ArgError {
        ArgError { path: path.to_owned(), kind: Box::new(kind), value: None }
    }

    /// A rule of the dialect's own is broken; the detail is for its texts, where those have one.
    pub(crate) fn own(path: &str, words: Wording, detail: impl Into<String>) -> ArgError {
        ArgError::new(path, ArgErrorKind::Own { words, detail: detail.into() })
    }

    /// The error with the value that has it.
    pub(crate) fn with(self, value: &Value) -> ArgError {
        ArgError { value: Some(echo(value)), ..self }
    }

    /// The error as the map around it sees it, which has the value under this name.
    pub(crate) fn under(self, name: &str) -> ArgError {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        ArgError { path: format!("{name}{dot}{}", self.path), ..self }
    }

    /// The error as the list around it sees it.
    pub(crate) fn at(self, index: usize) -> ArgError {
        self.under(&format!("[{index}]"))
    }

    /// The path to the value; empty for the arguments as a whole.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn kind(&self) -> &ArgErrorKind {
        &self.kind
    }

    /// An echo of the value, if something was given.
    pub(crate) fn value(&self) -> Option<&Value> {
        self.value.as_ref()
    }

    /// The path to the map that has an unknown key; else that to the value.
    pub(crate) fn place(&self) -> &str {
        let ArgErrorKind::UnknownKeys { keys, .. } = &*self.kind else { return &self.path };
        let key = keys.first().map(key_text).unwrap_or_default();
        let place = self.path.strip_suffix(&key).unwrap_or_default();
        place.strip_suffix('.').unwrap_or(place)
    }

    /// The known name that an unknown one is nearest to.
    pub(crate) fn nearest(&self) -> Option<&'static str> {
        if let ArgErrorKind::UnknownKeys { nearest, .. } = &*self.kind { *nearest } else { None }
    }

    /// The dialect's name for the kind of error.
    pub(crate) fn name(&self, words: &ArgWords) -> &'static str {
        words.of(&self.kind).name
    }

    pub(crate) fn code(&self, words: &ArgWords) -> Code {
        words.of(&self.kind).code
    }

    /// One sentence that says what is wrong, and where.
    pub(crate) fn message(&self, words: &ArgWords) -> String {
        fill(words.of(&self.kind).message, |part| self.part(part, words))
    }

    /// The finished answer of a tool, with a call that would have been right.
    pub(crate) fn answer(&self, words: &ArgWords, example: Map) -> Answer {
        let hint = fill(words.of(&self.kind).hint, |part| self.part(part, words));
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
        tool_error::finish(error.with("hint", hint).with("example", example), code)
    }

    /// What stands in a text under this name.
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
            _ => return None,
        })
    }

    /// The unknown keys sorted by their text, and the name that was meant, where that is not in doubt: as EDN shows them.
    pub(crate) fn with_unknown_keys(&self, data: Map) -> Map {
        let ArgErrorKind::UnknownKeys { keys, .. } = &*self.kind else { return data };
        let data = data.with("unsupported-keys", sorted(keys));
        match self.suggestion() {
            Some(name) => data.with("did-you-mean", Value::keyword(name)),
            None => data,
        }
    }

    /// The name that was meant by the one unknown key; of several, nobody knows which one it would be for.
    fn suggestion(&self) -> Option<&'static str> {
        let ArgErrorKind::UnknownKeys { keys, .. } = &*self.kind else { return None };
        self.nearest().filter(|_| keys.len() == 1)
    }
}

/// A key as a path has it.
pub(super) fn key_text(key: &Value) -> String {
    let text = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
    text.trim_start_matches(':').to_owned()
}

/// By text: keys of different types have no other order that a reader would expect.
fn sorted(keys: &[Value]) -> Vec<Value> {
    let mut keys = keys.to_vec();
    keys.sort_by_cached_key(ToString::to_string);
    keys
}

/// Values, the first few of them.
fn shown(values: &[Value]) -> String {
    let first: Vec<String> = values.iter().take(VALUES_SHOWN).map(ToString::to_string).collect();
    match values.len() - first.len() {
        0 => first.join(" "),
        more => format!("{} and {more} more", first.join(" ")),
    }
}

/// The data of an error has them all.
const VALUES_SHOWN: usize = 8;

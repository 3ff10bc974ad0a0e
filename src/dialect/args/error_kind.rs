//! The kinds of errors in arguments, with what each is about.

use super::wording::Wording;
use crate::edn::Value;
use crate::limits::Limit;

/// The kinds of errors in arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArgErrorKind {
    /// Not a map.
    NotAMap { found: &'static str },
    /// Unknown fields. The path of the error ends in the first of `keys`; `nearest` is the known name most like it.
    UnknownKeys { keys: Vec<Value>, known: &'static [&'static str], nearest: Option<&'static str> },
    /// One field is given twice, in two spellings.
    GivenTwice,
    /// A required field is missing.
    Missing,
    /// A required text is blank.
    Blank,
    /// Not a string.
    NotText { found: &'static str },
    /// Not a boolean.
    NotABoolean,
    /// Not an integer.
    NotWhole,
    /// Not a list; `or_set` if a set would do as well.
    NotAList { or_set: bool },
    /// Not of a type that only one dialect knows; `expected` describes it.
    NotA { expected: &'static str, found: &'static str },
    /// A number is outside the bounds, both of which are inclusive.
    OutOfRange { min: u64, max: u64 },
    /// A text or a list is longer than the limit.
    TooLong { limit: Limit },
    /// Not a name of a closed list.
    NotOneOf { known: &'static [&'static str] },
    /// A timestamp lacks its offset from UTC.
    NoOffset,
    /// Not a timestamp.
    NotAnInstant,
    /// Not a valid id.
    NotAnId,
    /// A rule of one dialect is violated. `detail` fills the placeholder of that name in the texts.
    Own { words: Wording, detail: String },
}

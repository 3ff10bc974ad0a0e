//! Parses the arguments of calls, for every tool and for the EDN stream.
//!
//! [`Arg`] is one value, [`Args`] the fields of a map. A parser takes an `Arg` and returns a checked value or an
//! [`ArgError`]. Parsers do not pass paths down: as an error is returned, each enclosing field and list item prepends
//! its own name, so the error ends up with the whole path, such as `patch.schedule.at`.
//!
//! [`Style`] says how names are spelled. The kinds of error are one closed list, [`ArgErrorKind`]. Their texts are
//! one table per dialect, [`ArgWords`], because other systems' texts are part of their tools.
//!
//! Invariants: a field given twice in two spellings is refused. An unknown field is refused at every depth, with its
//! name and the nearest known name.

mod error;
mod error_kind;
mod reader;
mod repair;
mod synonyms;
#[cfg(test)]
mod tests;
mod wording;
mod words;

pub(crate) use error::ArgError;
pub(crate) use error_kind::ArgErrorKind;
pub(crate) use reader::{Arg, Args, Choices, Keys, Style};
pub(crate) use repair::Repair;
pub(crate) use wording::Wording;
pub(crate) use words::{ArgWords, NO_SESSION, TOOL_WORDS, arg_words, fill, wordings};

//! Reads the arguments of a call: the one reader of every tool and of the EDN stream.
//!
//! [`Arg`] is one value, [`Args`] the fields of a map. What reads an argument takes an `Arg` and returns a checked value or an
//! [`ArgError`]. Nobody passes paths along: each field and each item that an error passes on its way out puts its own name in
//! front, so that the error arrives with the whole path, such as `patch.schedule.at`.
//!
//! How names are spelled is a [`Style`]. The kinds of error are one closed list, [`ArgErrorKind`]; what a caller reads is a
//! table of each dialect, [`ArgWords`], because other systems' texts are part of their tools.
//!
//! Invariant: no field is given twice in two spellings, and an unknown one is refused at every depth, by name and with the
//! known name that is nearest to it.

mod error;
mod reader;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use error::{ArgError, ArgErrorKind};
pub(crate) use reader::{Arg, Args, Choices, Keys, Style};
pub(crate) use words::{ArgWords, NO_SESSION, TOOL_WORDS, Wording, arg_words, fill, wordings};

//! Time phrases: parses words such as `tomorrow 9am` or `every 5 minutes`, and echoes what was
//! understood.
//!
//! Lives here: the grammar, its errors, the echo. Does not live here: whether an instant is allowed
//! (`engine`, `dialect`). Invariants: a phrase is understood whole or refused, and an error names
//! the word at fault; an instant that has passed is never accepted; no text panics.

mod context;
mod date;
mod duration;
mod echo;
mod error;
mod instant;
mod monthly;
mod numbers;
mod once;
mod recurring;
mod repair;
mod stepped;
mod time;
mod understand;
mod words;

pub use context::PhraseContext;
pub use error::{Part, PhraseError};
pub(crate) use repair::{delay_in_words, repair_offset, repair_phrase, repair_zone};
pub use understand::{Understood, understand};

pub use duration::print as print_duration;

//! Phrases that say when: what is understood, and what it came to, in words.
//!
//! Lives here: the grammar, its errors, the echo. Does not live here: whether an instant is allowed (`engine`,
//! `dialect`). Invariants: a phrase is understood whole or not at all, and an error names the word at fault; nothing
//! that has passed is accepted; no text panics.

mod context;
mod duration;
mod echo;
mod error;
mod instant;
mod once;
mod recurring;
mod time;
mod understand;
mod words;

pub use context::Asked;
pub use error::{Part, PhraseError};
pub use understand::{Understood, understand};

pub use duration::print as print_duration;
pub(super) use echo::weekdays as print_weekdays;

//! The configuration of a session in psi's words: read, printed, and summed up.
//!
//! psi checks the set of keys only; here every value is checked, down to the last nested one, and a refusal names the
//! place. Source: SEED-002 (the keys), psi's session schema (the types). Invariant: what [`print`](fn@print) prints,
//! [`parse`] reads back equal.

mod error;
mod model;
mod parse;
mod preloaded;
mod print;
mod selection;
mod skill;

pub use error::ConfigError;
pub(super) use error::{PSI_WORDS, error_data};
pub use parse::{parse, parse_given};
pub use print::print;

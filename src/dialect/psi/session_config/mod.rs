//! The configuration of a session in psi's words: parsing and printing.
//!
//! psi only checks the set of keys; here every nested value is checked, and an error names its path. Source: SEED-002
//! (the keys), psi's session schema (the types). Invariant: [`parse`](fn@parse) reads back what [`print`](fn@print) prints.

mod error;
mod model;
mod parse;
mod preloaded;
mod print;
mod selection;
mod skill;
mod text;

pub use error::ConfigError;
pub(super) use error::{PSI_WORDS, error_data};
pub use parse::parse;
pub(crate) use parse::parse_given;
pub use print::print;

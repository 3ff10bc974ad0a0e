//! Cron expressions of five fields: the grammar, and what it refuses.
//!
//! The dialect is Vixie's, with `L` and `#`, and with ranges that wrap around the end of their field. What is refused
//! is refused with the field, the value and a hint, because an expression that is taken for something else fires at
//! the wrong time for months. Does not live here: the slots, see `pattern`.

mod error;
mod field;
mod parse;

pub use error::{CronError, Field};
pub use parse::parse_cron;

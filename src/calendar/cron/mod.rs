//! Cron expressions of five fields: grammar and errors.
//!
//! The dialect is Vixie's, with `L` and `#`, and with ranges that wrap around the end of their
//! field. Everything else is refused with the field, the value and a hint, because an expression
//! that is misunderstood fires at the wrong time for months. What lives elsewhere: the slots
//! (`calendar::slots`).

mod error;
mod field;
mod parse;

pub use error::{CronError, Field};
pub use parse::parse_cron;

//! The crate's own seven tools, designed for models that schedule work for themselves.
//!
//! This module parses arguments into [`Call`]s, prints answers, and has the declarations of the tools
//! ([`Tool::input_schema`]). Phrases are parsed in `calendar`; rules are in `engine`, the graph in `graph`.
//!
//! Invariants:
//! 1. The interpretation of a time is always shown: in words, with the zone, with the next slots.
//! 2. A repeated creation with one key is a normal answer that says so.
//! 3. An error says what is accepted. Its example is the caller's own call with the fault put right, or there is none.

mod answer;
mod call;
mod error;
mod field;
mod parse;
mod repair;
mod tool;

pub use answer::{cancelled, created, explained, listed, taken, updated};
pub use call::{Call, ListParams, ScheduleRef};
pub use error::{errors, refused};
pub use parse::parse;
pub use tool::Tool;

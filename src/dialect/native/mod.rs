//! The crate's own six tools, designed for models that schedule work for themselves.
//!
//! This module parses arguments into [`Call`]s, prints answers, and has the declarations of the tools
//! ([`Tool::input_schema`]). Phrases are parsed in `calendar`; rules are in `engine`, the graph in `graph`.
//!
//! Invariants:
//! 1. The interpretation of a time is always shown: in words, with the zone, with the next slots.
//! 2. A repeated creation with one key is a normal answer that says so.
//! 3. An error contains the whole call in corrected form.

mod answer;
mod call;
mod error;
mod example;
mod field;
mod parse;
mod suggest_call;
mod tool;

pub use answer::{cancelled, created, explained, listed, updated};
pub use call::{Call, ListParams, ScheduleRef};
pub use error::{errors, refused};
pub use parse::parse;
pub use tool::Tool;

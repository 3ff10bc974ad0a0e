//! The memory of SEED-001: four tools by which a session remembers facts, sets its goal, and notes down tasks.
//!
//! This module parses arguments into [`Call`]s and prints answers. What is remembered is in the engine, and a model gets it back
//! below each delivery. Invariant: no text in a [`Call`] is blank; its length is what the engine accepts.

mod answer;
mod call;
mod error;
mod tool;

pub use answer::{goal, remembered, todos};
pub use call::{Call, parse};
pub use error::{errors, no_session, refused};
pub use tool::Tool;

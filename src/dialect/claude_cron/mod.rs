//! The scheduling tools that Claude Code has built in, by their own names and arguments, over this engine.
//!
//! This module parses arguments into [`Call`]s and converts them to commands; it converts records to [`Job`]s and prints
//! answers. It has the declarations of the tools ([`Tool::declaration`]). Slots, queues and recovery are in `engine`.
//! Source: the tools that Claude Code 2.1.330 declares to its model, and the answers that it gives. `Monitor` is not here: it
//! watches a program beside the model, and the engine starts none.
//!
//! Invariants:
//! 1. A call that Claude Code takes is taken, and means at least what it means there.
//! 2. An answer never says that a job is on disk when it is in memory only.
//! 3. A session has at most one wake-up of a loop: the newest.

mod answer;
mod call;
mod command;
mod error;
mod tool;
mod view;

pub use answer::{created, deleted, listed, stopped, woken};
pub use call::{Call, JobDraft, WakeupDraft, parse};
pub use error::{errors, no_session, not_found, refused};
pub use tool::Tool;
pub use view::{Job, jobs};

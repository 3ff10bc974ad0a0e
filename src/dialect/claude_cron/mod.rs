//! The scheduling tools that Claude Code has built in, by their own names and arguments, over this engine.
//!
//! This module parses arguments into [`Call`]s and converts them to commands; it converts records to [`Job`]s and prints
//! answers. It has the declarations of the tools ([`Tool::declaration`]). Slots, queues and recovery are in `engine`.
//! Source: the tools that Claude Code 2.1.330 declares to its model, and the answers that it gives.
//!
//! Claude Code's `Monitor` reads the lines of a shell command or the frames of a WebSocket. Ours is a watch (`dialect::watch`):
//! it calls a tool again and again. The schedule that it makes is of the dialect `watch`, so the switch and the grants of watches
//! apply to it.
//!
//! Invariants:
//! 1. A call that Claude Code takes is taken, and means at least what it means there. The one exception is a `Monitor` of a
//!    command or of a WebSocket: it is refused, with a call of a tool in its place if there is one.
//! 2. An answer never says that a job is on disk when it is in memory only.
//! 3. A session has at most one wake-up of a loop: the newest.

mod answer;
mod call;
mod command;
mod error;
mod instead;
mod monitor;
mod tool;
mod view;

pub use answer::{created, deleted, listed, monitored, stopped, woken};
pub use call::{Call, JobDraft, WakeupDraft, parse};
pub use error::{errors, full, matches_too_late, no_program, no_session, not_found, refused, unwatchable};
pub use instead::{ProgramCall, instead};
pub use monitor::MonitorDraft;
pub use tool::Tool;
pub use view::{Job, jobs};

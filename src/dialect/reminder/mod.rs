//! The reminders of SEED-003: three tools over durable prompts that belong to one session.
//!
//! This module parses arguments into [`Call`]s and converts them to commands; it converts records to [`Reminder`]s
//! and prints answers. It has the declarations of the tools ([`Tool::declaration`]). Slots, timers, queues and
//! recovery after a restart are in `engine`.
//!
//! Invariants:
//! 1. A prompt reaches its session verbatim; its origin is reported beside it.
//! 2. A reminder ends in one of three ways: its session is closed, it is cancelled, or it was a one-time reminder and
//!    has run.
//! 3. Every answer says in one line what happened, and has as data what the line does not say.

mod answer;
mod call;
mod command;
mod error;
mod tool;
mod view;
mod words;

pub use answer::{added, listed, removed};
pub use call::{Call, ReminderDraft, ReminderKind, parse};
pub use error::{errors, full, no_session, not_found, refused};
pub use tool::Tool;
pub use view::{Match, Reminder, Standing, active, matching};

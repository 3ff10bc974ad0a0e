//! The reminders of SEED-003: three tools over durable prompts that belong to one session.
//!
//! Lives here: arguments → [`Call`] → the engine's commands, its records → [`Reminder`] → answers, the declarations of the
//! tools ([`Tool::declaration`]). Does not live here: slots, timers, queues, what a restart leaves (`engine`).
//!
//! Invariants:
//! 1. A prompt reaches its session word for word; where it comes from stands beside it.
//! 2. Only three things end a reminder: its session is closed, somebody cancels it, or it was a single one and has run.
//! 3. Every answer says in one line what happened, and has the same as data.

mod answer;
mod call;
mod command;
mod error;
mod example;
mod tool;
mod view;

pub use answer::{added, listed, removed};
pub use call::{Call, Draft, ReminderKind, parse};
pub use error::{errors, full, no_session, not_found, refused};
pub use tool::Tool;
pub use view::{Reminder, Standing, active, matching};

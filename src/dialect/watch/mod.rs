//! The watches of SEED-001: seven tools over schedules that call a tool again and again and tell a session what it asked for.
//! Beside them stands `ping.age`, a tool to watch: it says how old a ping is.
//!
//! This module parses arguments into [`Call`]s and converts them to commands; it converts records to summaries and prints
//! answers. It has the declarations of the tools ([`Tool::declaration`]). Which checks are told is decided in
//! `engine/watching.rs`, and the words of what is told are in `engine/bulletin_text.rs`.
//!
//! Invariants:
//! 1. Without `notify_config` a strategy tells what SEED-001 says, and nothing else.
//! 2. A watch belongs to its session: no other session sees or changes it.

mod answer;
mod call;
mod command;
mod config;
mod error;
mod tool;
mod view;

pub use answer::{IN_MEMORY, history, listed, paused, ping_age, resumed, started, status, stopped, unheard};
pub use call::{Call, WatchDraft, parse};
pub(in crate::dialect) use call::{INTERVAL, interval};
pub use config::filter_of;
pub(in crate::dialect) use config::{condition, quieted};
pub(crate) use error::needs_approval;
pub(in crate::dialect) use error::{NO_EXPRESSION, NOT_A_CONDITION, NOT_SECONDS};
pub use error::{errors, full, no_session, not_found, refused, wrong_status};
pub use tool::Tool;
pub(in crate::dialect) use tool::{STRATEGIES, name_of};
pub use view::{Watcher, watcher, watchers};

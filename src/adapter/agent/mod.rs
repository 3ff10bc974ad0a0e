//! Adapter: the host of agents' own conversations, over the Agent Client Protocol, in processes of ours.
//!
//! `host.rs` is the port's host; `pool.rs` decides who may have a process, and `budget.rs` who may have a turn; `task.rs` runs a
//! process; `conversation.rs` is its state machine, over `wire.rs`. Invariants: one process is in a conversation at a time, and
//! none is started in one that somebody else holds; a prompt is sent at most once; no process gets a shell, our environment or
//! our file descriptors.

mod bounded_run;
mod budget;
mod conversation;
mod details;
mod exchange;
mod holders;
mod host;
mod plan;
mod pool;
mod process;
mod process_end;
mod questions;
mod redact;
mod replay;
mod task;
mod turn_log;
mod turns;
mod windows;
mod wire;
mod written;

#[cfg(feature = "cli")]
pub(crate) use bounded_run::bounded_run;
pub use conversation::Conversation;
pub use exchange::{Found, Input, NotSent, Output, Prompt, Told};
pub use holders::ListedHolders;
pub use host::{AgentHost, Reports};
pub use plan::{AgentPlan, Environment, Resume, Timing, ToolRule};
#[cfg(feature = "cli")]
pub(crate) use process::HOSTED;
pub use wire::{Incoming, Request, Update, read as read_line};

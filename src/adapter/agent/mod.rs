//! Adapter: the host of agents' own conversations, over the Agent Client Protocol, in processes of ours.
//!
//! `host.rs` is the port's host; `pool.rs` decides who may have a process; `task.rs` runs one; `conversation.rs` is its state
//! machine, over `wire.rs`. Invariants: one process is in a conversation at a time, and none is started in one that somebody else
//! holds; a prompt is sent at most once; no process gets a shell, our environment or our file descriptors.

mod conversation;
mod exchange;
mod holders;
mod host;
mod plan;
mod pool;
mod process;
mod redact;
mod replay;
mod task;
mod turn_log;
mod turns;
mod wire;

pub use conversation::Conversation;
pub use exchange::{Found, Input, NotSent, Output, Prompt, Told};
pub use holders::ListedHolders;
pub use host::{AgentHost, Reports};
pub use plan::{AgentPlan, Allow, Believes, Environment, HolderKnown, Profile, Resume, Timing};
#[cfg(feature = "cli")]
pub(crate) use process::HOSTED;
pub use wire::{Incoming, Request, Update, read as read_line};

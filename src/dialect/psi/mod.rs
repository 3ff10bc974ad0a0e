//! psi's tool, `psi-tool`, as psi meant it: the action `scheduler` with its operations create, list and cancel.
//!
//! A call is read by [`parse`] and carried to the engine by the runtime; [`created`], [`listed`], [`cancelled`] and
//! [`refused`] print what came of it. Source: SEED-002, and psi's behaviour where the seed is silent. What lives
//! elsewhere: the action `query` (the graph), bounds (`limits`). Invariant: every answer is EDN that our reader
//! and Clojure's read back.

mod args;
mod call;
mod create;
mod data;
mod delay;
pub mod message;
mod outcome;
mod problem;
pub mod session_config;
mod summary;
#[cfg(test)]
mod testing;
mod unreadable;

pub use call::{Call, Context, Op, parse};
pub use outcome::{cancelled, created, listed, refused};
pub use summary::{status, summary};
pub use unreadable::unreadable;

/// The tool's name.
pub const TOOL: &str = "psi-tool";

//! psi's tool, `psi-tool`, as psi meant it: the action `scheduler` with its operations create, list and cancel, and the
//! action `query`.
//!
//! A call is read by [`parse`] and carried to the engine by the runtime; [`created`], [`listed`], [`cancelled`],
//! [`queried`] and [`refused`] print what came of it. Source: SEED-002, and psi's behaviour where the seed is silent.
//! What lives elsewhere: the graph, bounds (`limits`). Invariant: every answer is EDN that our reader
//! and Clojure's read back.

mod call;
mod create;
mod delay;
mod error;
mod excerpt;
pub mod message;
mod outcome;
mod query;
pub mod session_config;
mod summary;
#[cfg(test)]
mod testing;
mod unreadable;

pub use call::{Call, Context, Op, parse};
pub use error::errors;
pub use outcome::{cancelled, created, listed, refused};
pub use query::{not_queried, queried};
pub use summary::{status, summary};
pub use unreadable::unreadable;

/// The tool's name.
pub const TOOL: &str = "psi-tool";

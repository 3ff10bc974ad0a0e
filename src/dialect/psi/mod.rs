//! psi's tool `psi-tool`, compatible with psi: the action `scheduler` with the operations create, list and cancel,
//! and the action `query`.
//!
//! [`parse`] reads a call, the service passes it to the engine, and [`created`], [`listed`], [`cancelled`],
//! [`queried`] and [`refused`] print the outcome. Source: SEED-002, and psi's behavior where the seed is silent. The
//! graph and the bounds (`limits`) live elsewhere. Invariant: every answer is EDN that both our reader and Clojure's
//! can read.

mod call;
mod context;
mod create;
mod delay;
mod error;
pub mod message;
mod op;
mod outcome;
mod query;
pub mod session_config;
mod summary;
#[cfg(test)]
mod testing;
mod unreadable;
mod value;

pub use call::{Call, parse};
pub use context::PsiContext;
pub use error::errors;
pub use op::Op;
pub use outcome::{cancelled, created, listed, refused};
pub use query::{not_queried, queried};
pub use summary::{status, summary};
pub use unreadable::unreadable;

/// The tool's name.
pub const TOOL: &str = "psi-tool";

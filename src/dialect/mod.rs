//! Other people's tools, word for word: arguments become commands, and what came of them becomes an answer.
//!
//! One folder per dialect. What lives elsewhere: rules (`engine`), carrying calls to the engine (`runtime`), bytes
//! (`surface`). Invariant: nothing here reads a clock, keeps a state or does I/O; raw input ends here, and the
//! engine sees typed values only.

mod answer;
pub(crate) mod args;
mod caps;
pub mod cron;
#[cfg(feature = "json")]
pub mod json;
pub mod native;
pub mod psi;
mod refusal;
pub mod reminder;
pub mod session_action;
mod tool_error;

pub use crate::graph::echo;
pub use answer::{Answer, Notation};
pub use caps::REQUEST_CAPS;
pub(crate) use refusal::refusal_data;

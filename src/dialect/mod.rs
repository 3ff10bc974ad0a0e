//! Tool families in the words of other systems: parses arguments into commands, and prints outcomes as answers.
//!
//! One folder per dialect. Rules are in `engine`, carrying a call to the engine in `service`, bytes in `surface`.
//! Invariant: nothing here reads a clock, holds state or does I/O. Raw input ends here; the engine sees only typed
//! values.

mod answer;
pub(crate) mod args;
pub(crate) mod brief;
pub(crate) mod called;
mod caps;
pub mod channels;
pub mod claude_cron;
pub mod cron;
mod excerpt;
#[cfg(feature = "embed")]
pub mod json;
pub mod memory;
pub mod names;
pub mod native;
mod page;
pub mod primitives;
pub mod psi;
mod refusal;
pub mod reminder;
pub mod scheduler;
pub mod session_action;
#[cfg(feature = "embed")]
pub(crate) mod tool_arguments;
mod tool_error;
mod unreachable;
pub mod watch;

pub use crate::graph::echo;
pub use answer::{Answer, Notation};
pub use caps::REQUEST_CAPS;
pub use excerpt::within_bound;
pub use page::PageRequest;
pub(crate) use refusal::refusal_data;
pub use unreachable::unreachable;

//! The loop around the engine: read the clock, decide, append, apply, perform, report, sleep.
//!
//! [`Handle`] is what surfaces and embedders hold; [`Runtime`] adds the thread that waits for deadlines. The engine is
//! behind one lock with short critical sections, which readers share; hosts are called outside it, in the order of the facts.
//!
//! What lives elsewhere: rules (`engine`), clocks and hosts (`adapter`). Invariants: nothing is published before it is
//! applied; no host is called under the lock; nobody sleeps past a deadline longer than one slice.

mod admission;
mod approvals;
mod bell;
mod boot;
mod core;
mod cron;
mod driver;
pub mod facts;
mod feed;
mod figures;
mod handle;
mod hands;
mod hands_on;
mod hands_on_all;
mod hosts;
mod keep;
mod log;
mod native;
mod pace;
mod past;
mod perform;
mod prepared;
mod query;
#[cfg(test)]
mod races;
mod reminder;
pub(crate) mod rows;
mod session_action;
mod shutdown;
mod subscription;
mod sync;
mod token;
mod tool;
mod toolbox;
mod transcripts;

pub use admission::Denial;
pub use boot::{Answers, BootFault};
pub use driver::Runtime;
pub use figures::{Figures, LATENESS_NS, Lateness};
pub use handle::{Handle, Parts};
pub use keep::Keeps;
pub use prepared::{Prepared, Unprepared};
pub use query::{QUERY_LIMITS, QueryAccess, failed, registry, reply};
pub use subscription::{Batch, Stopper, Subscription};
pub use token::Token;
pub use toolbox::{TOOLBOX, ToolInfo};

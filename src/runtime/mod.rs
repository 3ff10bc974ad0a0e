//! The loop around the engine: read the clock, decide, append, apply, perform, report, sleep.
//!
//! [`Handle`] is what surfaces and embedders hold; [`Runtime`] adds the thread that waits for deadlines. The engine is
//! behind one lock with short critical sections, which readers share; hosts are called outside it, in the order of the facts.
//!
//! What lives elsewhere: rules (`engine`), clocks and hosts (`adapter`), queries, mutations and tools (`service`).
//! Invariants: nothing is published before it is applied; no host is called under the lock; the driver never sleeps
//! for longer than one slice.

mod alarms;
mod calls;
mod core;
mod counters;
mod driver;
mod durable;
mod event_count;
mod feed;
mod handle;
mod host_table;
mod hosts;
mod kit;
mod listeners;
mod outside;
mod parts;
mod perform;
mod performer;
#[cfg(test)]
mod races;
mod reading;
mod rehearsal;
mod sessions;
mod shared;
mod shutdown;
mod subscription;
mod sync;
mod token;
mod tools;
mod waiter_table;
mod waiters;

pub(crate) use alarms::AlarmId;
pub use calls::{Calling, Calls, CallsInUse};
pub use counters::{Counters, LATENESS_NS, Lateness};
pub use driver::Runtime;
#[cfg(feature = "testkit")]
pub(crate) use durable::for_each_row;
#[cfg(feature = "cli")]
pub(crate) use durable::row_fault;
pub use durable::{AttachOptions, RecoveryError, StoreReplies, WithoutStore, codec, load_rows};
pub(crate) use durable::{Row, for_each_row_of, try_for_each_row};
pub use handle::Handle;
pub(crate) use handle::WeakHandle;
pub use hosts::Hosts;
pub use kit::{KnownTool, NameClash, Resolved, SessionKit};
pub use outside::Outside;
pub use parts::Parts;
pub(crate) use reading::Reading;
pub(crate) use rehearsal::Rehearsal;
pub use sessions::Sessions;
pub use subscription::{Batch, Stopper, Subscription};
#[cfg(feature = "http")]
pub(crate) use token::Digest;
pub use token::{Token, Tokens};
pub use tools::Tools;
pub use waiter_table::WaiterId;
pub use waiters::Waiters;

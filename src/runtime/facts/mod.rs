//! Facts as text: what a log on a disk holds, one EDN map for each.
//!
//! [`print`](fn@print) and [`parse`](fn@parse) are each other's inverse for every fact that the engine can decide. The form is
//! versioned by [`VERSION`]; `schema/facts/v1.edn` has one of each. What lives elsewhere: the log (`adapter`), the fold
//! (`engine`).
//!
//! Invariant: a form that is not understood is an error, never a fact that means something else.

mod parse;
mod print;
#[cfg(test)]
mod tests;

pub use parse::{FactError, parse};
pub use print::print;

/// The version of the form.
pub const VERSION: u32 = 1;

/// The names of facts, as they stand under `:fact`.
mod names {
    pub(super) const OPENED: &str = "session/opened";
    pub(super) const CLOSED: &str = "session/closed";
    pub(super) const HOSTED: &str = "session/hosted";
    pub(super) const UNHOSTED: &str = "session/unhosted";
    pub(super) const BUSY: &str = "session/busy";
    pub(super) const IDLE: &str = "session/idle";
    pub(super) const USER_SPOKE: &str = "session/user-spoke";
    pub(super) const TURN_UNREPORTED: &str = "session/turn-unreported";
    pub(super) const CREATED: &str = "schedule/created";
    pub(super) const CLAIMED: &str = "run/claimed";
    pub(super) const QUEUED: &str = "run/queued";
    pub(super) const DISPATCHED: &str = "run/dispatched";
    pub(super) const DELIVERED: &str = "run/delivered";
    pub(super) const FAILED: &str = "run/failed";
    pub(super) const CANCELLED: &str = "run/cancelled";
    pub(super) const ATTACHED: &str = "host/attached";
    pub(super) const LOST: &str = "host/lost";
    pub(super) const STOPPING: &str = "engine/stopping";
}

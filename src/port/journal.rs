//! The log of facts.

use crate::domain::{Fact, Now};

/// Keeps the facts of each decision, before they are applied.
///
/// Contract: the facts of one call are kept together or not at all, in the order of the calls. The runtime calls it under
/// the engine's lock, so it must not wait for anything; volatile schedules promise never to wait for a disk.
pub trait Journal: Send {
    /// Keeps the facts decided at `now`.
    fn append(&mut self, now: Now, facts: &[Fact]);
}

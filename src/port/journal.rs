//! Port: a journal that receives every fact in the order of decision.

use crate::domain::{Fact, Now};
use crate::engine::LocalFact;

/// Records the facts of each decision, before they are applied.
///
/// Contract: the facts of one call are recorded together or not at all, in the order of the calls.
/// The runtime calls it under the engine's lock, so it must not wait for anything: volatile
/// schedules promise never to wait for a disk.
pub trait Journal: Send {
    /// Records the facts decided at `now`.
    fn append(&mut self, now: Now, facts: &[Fact]);

    /// Receives the local facts decided at `now`, before they are applied, for an observer that
    /// folds the state beside the engine. They must not be persisted, because they mean nothing to
    /// another process.
    fn local(&mut self, now: Now, facts: &[LocalFact]) {
        let _ = (now, facts);
    }
}

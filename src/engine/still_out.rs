//! What is with hosts, couriers and executors while a process that goes on after a failure of its store loads its durable work
//! again: they have it still, so it is not handed over a second time.
//!
//! It is noted when the durable part of the state is dropped, and forgotten when the engine has restarted on the rows. What
//! lives elsewhere: the noting (`apply/store.rs`), and what becomes of all other runs that were with a host
//! (`step/whole/restart.rs`).

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Phase, RunId};
use crate::engine::slab::Key;

/// The durable runs that were with a host, or had been delivered, when the durable part of the state was dropped.
#[derive(Clone, Debug, Default)]
pub(super) struct StillOut {
    /// With a host, each with what it had there.
    pub(super) runs: BTreeMap<RunId, StillAt>,
    /// Delivered: the store may have them as in their turns still, because no report that could be repeated ends a turn.
    pub(super) delivered: BTreeSet<RunId>,
}

/// Where a run was that is out still.
#[derive(Clone, Copy, Debug)]
pub(super) struct StillAt {
    pub(super) phase: Option<Phase>,
    pub(super) lane: Option<Key>,
    /// Whether its delivery occupied the lane: without a receipt, no other may go there.
    pub(super) occupies: bool,
}

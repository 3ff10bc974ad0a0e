//! The disk of a world: its store, and what the engine has learnt from it.
//!
//! What lives elsewhere: what happens to it (`actions/crash.rs`, `actions/failing_disk.rs`).

use std::sync::Arc;

use crate::domain::{Cursor, Downtime, Fact};
use crate::port::{HistoryCaps, Store};
use crate::runtime::{AttachOptions, Handle, StoreReplies};
use crate::testkit::StoreMemory;

/// The store of a world, and what the engine has learnt from it.
pub(in crate::testkit) struct Disk {
    pub(in crate::testkit) store: Arc<StoreMemory>,
    pub(in crate::testkit) answers: StoreReplies,
    /// Writes are held back, so no answers arrive.
    pub(in crate::testkit) is_slow: bool,
    /// The disk fails, or did until the last recovery.
    pub(in crate::testkit) is_ill: bool,
    /// The number of failures that the engine knows of.
    pub(in crate::testkit) failures: u64,
    /// The number of refused batches (full queue) that the engine knows of.
    pub(in crate::testkit) refusals: u64,
    /// When no process was there, as a daemon notes it beside its store.
    pub(in crate::testkit) downs: Vec<Downtime>,
    /// The engine knows of a refused batch and has not reloaded from the store yet.
    pub(in crate::testkit) is_refused: bool,
}

/// A fact that the feed has not shown yet.
pub(in crate::testkit) struct UnpublishedFact {
    pub(in crate::testkit) cursor: Cursor,
    pub(in crate::testkit) fact: Fact,
    /// Whether the feed may show it only after its commit.
    pub(in crate::testkit) is_lasting: bool,
}

impl Disk {
    /// Attaches an unbounded store to this engine.
    pub(in crate::testkit) fn taken_up_by(handle: &Handle) -> Result<Disk, String> {
        let caps = HistoryCaps { schedule_rows: u64::MAX, bytes: u64::MAX, days: u64::MAX };
        let store = Arc::new(StoreMemory::new(caps));
        let answers = StoreReplies::attach(handle, store.clone(), AttachOptions::default())
            .map_err(|fault| fault.to_string())?;
        Ok(Disk::of(store, answers))
    }

    pub(in crate::testkit) fn of(store: Arc<StoreMemory>, answers: StoreReplies) -> Disk {
        let (failures, refusals) = (store.health().failures, store.refusals());
        let downs = Vec::new();
        Disk { store, answers, is_slow: false, is_ill: false, failures, refusals, downs, is_refused: false }
    }
}

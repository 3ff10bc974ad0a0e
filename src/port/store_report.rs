//! The report of a check of a whole store.

use super::StoreFault;
use crate::domain::Cursor;

/// The result of examining a store: its identity, size and defects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreReport {
    /// The storage engine, with its version.
    pub engine: String,
    /// Where the store is: a path, or the name of a place in memory.
    pub place: String,
    /// The version of the store's schema; 0 if it has no tables.
    pub schema: u32,
    /// Which process holds the store, and since when; `None` if no process can hold it.
    pub holder: Option<String>,
    /// The defects that were found; an empty list means that the store is sound.
    pub defects: Vec<String>,
    /// How much the store holds.
    pub counts: StoreCounts,
    /// How many facts and tombstones the store has pruned.
    pub pruned: Pruned,
    /// How much history the store retains.
    pub caps: HistoryCaps,
    /// The newest failures since the store was opened, oldest first.
    pub last_faults: Vec<StoreFault>,
}

/// How much a store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreCounts {
    /// Facts in the log.
    pub facts: u64,
    /// The bytes of these facts, as [`FactRecord::bytes`](super::FactRecord::bytes) counts them.
    pub fact_bytes: u64,
    /// The cursor of the oldest retained fact.
    pub first: Cursor,
    /// The cursor of the newest fact.
    pub head: Cursor,
    /// Facts that the store's hash chain covers; 0 if it has none.
    pub linked: u64,
    /// Places in the chain where facts were pruned, the beginning included.
    pub gaps: u64,
    /// Current rows.
    pub rows: u64,
    /// Tombstones among the current rows.
    pub tombstones: u64,
    /// Size on disk, in bytes.
    pub disk_bytes: u64,
    /// Bytes of the write-ahead log, which are still to be moved into the main file; part of
    /// `disk_bytes`.
    pub wal_bytes: u64,
}

/// How many facts were pruned, by the cap that required it, and how many tombstones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Facts pruned because their schedule had too many.
    pub by_rows: u64,
    /// Facts pruned because the log was too large.
    pub by_bytes: u64,
    /// Facts pruned because they were too old.
    pub by_age: u64,
    /// Tombstones pruned.
    pub tombstones: u64,
}

/// How much history a store retains; whichever cap is reached first applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryCaps {
    /// Maximum facts of one schedule; facts about no schedule are bound by the other two caps.
    pub schedule_rows: u64,
    /// Maximum bytes of all facts.
    pub bytes: u64,
    /// Maximum age of a fact in days, counted from the newest fact.
    pub days: u64,
}

impl StoreReport {
    /// Returns whether no defect was found.
    pub fn is_sound(&self) -> bool {
        self.defects.is_empty()
    }
}

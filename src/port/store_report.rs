//! What a check of a whole store says.

use super::StoreFault;
use crate::domain::Cursor;

/// A store, examined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreReport {
    /// What keeps it, with its version.
    pub engine: String,
    /// Where it is, in its own words.
    pub place: String,
    /// The version of its tables; 0 where there are none.
    pub schema: u32,
    /// Who has it, and since when; `None` where nobody can.
    pub holder: Option<String>,
    /// What is wrong with it; nothing is well.
    pub defects: Vec<String>,
    /// What it holds.
    pub counts: StoreCounts,
    /// What of its history it has let go.
    pub pruned: Pruned,
    /// How much history it keeps.
    pub caps: HistoryCaps,
    /// The newest failures since it was opened, oldest first.
    pub last_faults: Vec<StoreFault>,
}

/// What a store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreCounts {
    /// Facts in the log.
    pub facts: u64,
    /// The bytes of these facts, as [`FactRecord::bytes`](super::FactRecord::bytes) counts them.
    pub fact_bytes: u64,
    /// The oldest fact that is kept.
    pub first: Cursor,
    /// The newest.
    pub head: Cursor,
    /// Current rows.
    pub rows: u64,
    /// Tombstones among them.
    pub tombstones: u64,
    /// What it takes up on the disk, in bytes.
    pub disk_bytes: u64,
    /// Of these, what waits to be moved into place (a write-ahead log).
    pub wal_bytes: u64,
}

/// How many facts were pruned, by the cap that asked for it; of tombstones, all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Because their schedule had more.
    pub by_rows: u64,
    /// Because the log was too large.
    pub by_bytes: u64,
    /// Because they were too old.
    pub by_age: u64,
    /// Tombstones.
    pub tombstones: u64,
}

/// How much history a store keeps, whichever is reached first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryCaps {
    /// Facts of one schedule; those that are about none are bound by the other two.
    pub schedule_rows: u64,
    /// Bytes of all facts.
    pub bytes: u64,
    /// Age of a fact in days, counted from the newest.
    pub days: u64,
}

impl StoreReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.defects.is_empty()
    }
}

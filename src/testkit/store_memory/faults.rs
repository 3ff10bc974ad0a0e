//! Simulated disk faults of the store in memory.
//!
//! Each fault is one that a store in a file can meet, and reports the same error. A failed append
//! ends the term, whatever the cause; the faults differ in what is on the disk afterwards, and in
//! whether the file can be opened again.

use crate::limits;
use crate::port::{Batch, FactRecord, RowRecord, StoreFault};

/// How the disk fails, until the fault ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFault {
    /// No append succeeds, and the file cannot be opened again: a device that is gone.
    Broken,
    /// No append succeeds, but the file can be opened and read: a full disk.
    Full,
    /// This many attempts to append or to open the file again fail, and then the fault ends: a file
    /// that another process has locked.
    Busy(u32),
    /// One append is written, but reported as failed: a flush that failed.
    Unflushed,
    /// At most this many batches may wait, and a further batch is refused at once; accepted batches
    /// are committed. A disk that is far too slow.
    Narrow(u32),
}

/// What a loss of power leaves of the batch that was being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// How many of its records are on the disk, facts before rows, each in order.
    pub records: usize,
    /// Whether the commit mark with the checksum is on the disk. It may be there without all
    /// records, because a disk need not write in order.
    pub is_marked: bool,
}

/// The current fault, if there is one, with the error that it reports.
#[derive(Clone, Debug, Default)]
pub(super) struct FaultState(Option<(DiskFault, StoreFault)>);

/// The result of an append.
pub(super) enum Append {
    /// The batch is committed, and acknowledged.
    Kept,
    /// Nothing of the batch is on the disk.
    Lost(StoreFault),
    /// The batch is on the disk, but the store does not know it.
    Unknown(StoreFault),
}

impl FaultState {
    pub(super) fn begin(&mut self, fault: DiskFault, said: StoreFault) {
        self.0 = Some((fault, said));
    }

    pub(super) fn end(&mut self) {
        self.0 = None;
    }

    /// Attempts an append.
    pub(super) fn append(&mut self) -> Append {
        match self.attempt() {
            None | Some((DiskFault::Narrow(_), _)) => Append::Kept,
            Some((DiskFault::Unflushed, said)) => {
                self.end();
                Append::Unknown(said)
            }
            Some((DiskFault::Broken | DiskFault::Full | DiskFault::Busy(_), said)) => Append::Lost(said),
        }
    }

    /// Attempts to open the file again.
    pub(super) fn open(&mut self) -> Result<(), StoreFault> {
        match self.attempt() {
            None | Some((DiskFault::Full | DiskFault::Unflushed | DiskFault::Narrow(_), _)) => Ok(()),
            Some((DiskFault::Broken | DiskFault::Busy(_), said)) => Err(said),
        }
    }

    /// Returns how many batches may wait.
    pub(super) fn room(&self) -> u64 {
        match &self.0 {
            Some((DiskFault::Narrow(room), _)) => u64::from(*room),
            None
            | Some((DiskFault::Broken | DiskFault::Full | DiskFault::Busy(_) | DiskFault::Unflushed, _)) => {
                limits::STORE_QUEUE_BATCHES.value
            }
        }
    }

    fn attempt(&mut self) -> Option<(DiskFault, StoreFault)> {
        let met = self.0.clone();
        if let Some((DiskFault::Busy(left), _)) = &mut self.0 {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.end();
            }
        }
        met
    }
}

impl DiskFault {
    /// Returns the error that a real store reports for this fault.
    pub(super) fn says(self) -> StoreFault {
        let detail = match self {
            DiskFault::Broken => "disk I/O error",
            DiskFault::Full => "database or disk is full",
            DiskFault::Busy(_) => "database is locked",
            DiskFault::Unflushed => "the flush failed",
            DiskFault::Narrow(room) => return overloaded(u64::from(room)),
        };
        StoreFault::Unwritable { detail: detail.into() }
    }
}

/// Makes the error for a full queue.
pub(super) fn overloaded(max: u64) -> StoreFault {
    StoreFault::Overloaded { max, unit: limits::STORE_QUEUE_BATCHES.unit }
}

/// The incomplete batch that a loss of power left behind the last complete one.
pub(super) struct Tail {
    batch: Batch,
    mark: Option<u64>,
}

impl Tail {
    /// Keeps the part of a batch that was written.
    pub(super) fn of(batch: Batch, torn: Torn) -> Tail {
        let mark = torn.is_marked.then(|| sum(&batch));
        let Batch { mut facts, mut rows } = batch;
        rows.truncate(torn.records.saturating_sub(facts.len()));
        facts.truncate(torn.records);
        Tail { batch: Batch { facts, rows }, mark }
    }

    /// Returns the batch if all of it was written: a torn commit is no commit.
    pub(super) fn whole(self) -> Option<Batch> {
        (self.mark == Some(sum(&self.batch))).then_some(self.batch)
    }
}

/// Computes the checksum of a batch (FNV-1a).
fn sum(batch: &Batch) -> u64 {
    let Batch { facts, rows } = batch;
    let facts = facts.iter().map(|FactRecord { cursor, payload, .. }| (cursor.number(), payload.to_vec()));
    let rows = rows.iter().map(|RowRecord { key, revision, payload }| {
        let payload = payload.as_deref().unwrap_or_default();
        (*revision, key.bytes().chain(payload.iter().copied()).collect())
    });
    let bytes = facts
        .chain(rows)
        .flat_map(|(number, bytes): (u64, Vec<u8>)| number.to_le_bytes().into_iter().chain(bytes));
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

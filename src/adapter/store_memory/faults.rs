//! What can be wrong with the disk that a store in memory would have.
//!
//! Each fault is one that a store in a file meets, and says what that one says: an append that fails ends the term, whatever
//! the reason; they differ in what is on the disk afterwards, and in whether the file can be opened again.

use crate::limits;
use crate::port::{Batch, FactRecord, RowRecord, StoreFault};

/// A way in which the disk fails, until it is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFault {
    /// No append gets through and the file cannot be opened again: a device that is gone.
    Broken,
    /// No append gets through, but what is there can be opened and read: no room is left.
    Full,
    /// So many attempts are turned away, to append or to open the file again, and then all is well: somebody else has it
    /// locked.
    Busy(u32),
    /// One append gets through, but not the word that it has: a flush that failed.
    Unflushed,
    /// No more than so many batches may wait, and what is more is refused at once; all that is let in is kept. A disk that is
    /// far too slow.
    Narrow(u32),
}

/// What a loss of power leaves of the batch that was being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// How many of its records are on the disk, of facts and rows in their order.
    pub records: usize,
    /// Whether the mark that ends it is there, with the sum over all of it. A disk need not write in order.
    pub is_marked: bool,
}

/// What is wrong at this moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Trouble(Option<(DiskFault, StoreFault)>);

/// What an append comes to.
pub(super) enum Append {
    /// It is kept, and that can be said.
    Kept,
    /// Nothing of it is there.
    Lost(StoreFault),
    /// It is there, and that is not known.
    Unknown(StoreFault),
}

impl Trouble {
    pub(super) fn begin(&mut self, fault: DiskFault, said: StoreFault) {
        self.0 = Some((fault, said));
    }

    pub(super) fn end(&mut self) {
        self.0 = None;
    }

    /// An append is tried.
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

    /// The file is opened again.
    pub(super) fn open(&mut self) -> Result<(), StoreFault> {
        match self.attempt() {
            None | Some((DiskFault::Full | DiskFault::Unflushed | DiskFault::Narrow(_), _)) => Ok(()),
            Some((DiskFault::Broken | DiskFault::Busy(_), said)) => Err(said),
        }
    }

    /// How many batches may wait.
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
    /// What the world says of it.
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

/// More batches wait than may.
pub(super) fn overloaded(max: u64) -> StoreFault {
    StoreFault::Overloaded { max, unit: limits::STORE_QUEUE_BATCHES.unit }
}

/// What the loss of power left behind the last batch that is whole.
pub(super) struct Tail {
    batch: Batch,
    mark: Option<u64>,
}

impl Tail {
    /// What is there of a batch that was torn.
    pub(super) fn of(batch: Batch, torn: Torn) -> Tail {
        let mark = torn.is_marked.then(|| sum(&batch));
        let Batch { mut facts, mut rows } = batch;
        rows.truncate(torn.records.saturating_sub(facts.len()));
        facts.truncate(torn.records);
        Tail { batch: Batch { facts, rows }, mark }
    }

    /// The batch, if all of it is there: a torn commit is no commit.
    pub(super) fn whole(self) -> Option<Batch> {
        (self.mark == Some(sum(&self.batch))).then_some(self.batch)
    }
}

/// FNV-1a over a batch.
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

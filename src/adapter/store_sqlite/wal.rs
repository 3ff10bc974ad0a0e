//! How much is in the write-ahead log, as each commit tells it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use rusqlite::{Connection, Result};

/// The pages in the write-ahead log of a connection. Shared with SQLite, which calls back after each commit.
#[derive(Clone, Default)]
pub(super) struct WalPages(Arc<AtomicI32>);

/// When to checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checkpoint {
    /// There is little in the log.
    No,
    /// As soon as no batch waits.
    Soon,
    /// Before the next batch: the log must not grow without bound under a load that never pauses.
    Now,
}

impl WalPages {
    /// Counts the pages of this connection's log from now on.
    pub(super) fn count(&self, connection: &mut Connection) -> Result<()> {
        let pages = Arc::clone(&self.0);
        connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, count| {
            pages.store(count, Ordering::Relaxed);
            Ok(())
        }))
    }

    /// Notes that a checkpoint was tried. The next commit tells how much of the log it has left.
    pub(super) fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        match self.0.load(Ordering::Relaxed) {
            ..SOON_PAGES => Checkpoint::No,
            SOON_PAGES..NOW_PAGES => Checkpoint::Soon,
            NOW_PAGES.. => Checkpoint::Now,
        }
    }
}

/// 2 MiB: a checkpoint takes some milliseconds, for which a batch may have to wait that comes meanwhile.
const SOON_PAGES: i32 = 512;
/// 16 MiB.
const NOW_PAGES: i32 = 4_096;

//! The daemon's store: opened before anybody is served, and how many schedules in memory only the last life ended with.
//!
//! The count is written once a second where it changed, and not flushed: it is told, never relied on.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fault::Fault;
use crate::adapter::{StoreOptions, StoreSqlite};
use crate::domain::GuardPolicy;
use crate::runtime::Handle;

/// How many schedules in memory only there are, on disk for whoever starts next.
pub(super) struct VolatileCount {
    path: PathBuf,
    written: u64,
}

/// Opens the store of a data directory and takes up what is in it.
pub(super) fn take_up(
    handle: &Handle,
    data_dir: &Path,
    guard: Option<Arc<GuardPolicy>>,
) -> Result<VolatileCount, Fault> {
    let now = handle.now().wall;
    let mut options = StoreOptions::new(data_dir.join(STORE), now);
    options.alarm = Some(Box::new(|fault| {
        tracing::error!(target: "reveille", %fault, "the store failed; durable work stands still until it can be written");
    }));
    let store = StoreSqlite::open(options).map_err(|fault| Fault::Taken(fault.to_string()))?;
    let path = data_dir.join(COUNT);
    let lost = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    handle.take_up_guarded(Arc::new(store), lost, guard).map_err(|fault| Fault::Taken(fault.to_string()))?;
    if lost > 0 {
        tracing::warn!(target: "reveille", lost, "schedules in memory only ended with the last life of this daemon");
    }
    let mut count = VolatileCount { path, written: lost };
    count.note(handle);
    Ok(count)
}

impl VolatileCount {
    /// Writes the count where it changed.
    pub(super) fn note(&mut self, handle: &Handle) {
        let count = handle.figures().1.volatile;
        if count != self.written && fs::write(&self.path, format!("{count}\n")).is_ok() {
            self.written = count;
        }
    }

    /// An orderly stop has called them off, and nothing is lost.
    pub(super) fn clear(self) {
        // A file that stays behind is told of at the next start: wrong by a word, not by a schedule.
        let _ = fs::remove_file(&self.path);
    }
}

/// The store's directory in the data directory.
pub(super) const STORE: &str = "store";
const COUNT: &str = "volatile.count";

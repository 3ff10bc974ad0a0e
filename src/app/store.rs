//! Opens the daemon's store before the daemon serves clients, and counts volatile schedules across restarts.
//!
//! The count is written once a second if it changed, and never flushed: it is for information only.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::data_dir::write_private;
use super::fault::AppFault;
use super::life::LifeNote;
use crate::adapter::{StoreOptions, StoreSqlite};
use crate::domain::GuardPolicy;
use crate::runtime::{AttachOptions, Handle};

/// The number of live volatile schedules, on disk for the next start to report as lost.
pub(super) struct VolatileCount {
    path: PathBuf,
    written: u64,
}

/// Opens the store of a data directory, and loads its contents into the engine.
pub(super) fn attach_store(
    handle: &Handle,
    data_dir: &Path,
    guard: Option<Arc<GuardPolicy>>,
) -> Result<(VolatileCount, LifeNote), AppFault> {
    let now = handle.now().wall;
    let mut options = StoreOptions::new(data_dir.join(STORE), now);
    options.alarm = Some(Box::new(|fault| {
        tracing::error!(target: "reveille", %fault, "the store failed; durable work is suspended until it can be written");
    }));
    let store = StoreSqlite::open(options).map_err(|fault| AppFault::Taken(fault.to_string()))?;
    let path = data_dir.join(COUNT);
    // The file remains only after a crash: an orderly stop removes it.
    let lost = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    let life = LifeNote::open(data_dir, now);
    let (policy, downs) = (Some(guard), life.downs());
    let options = AttachOptions { lost, downs, policy, ..AttachOptions::default() };
    handle.attach_store(Arc::new(store), options).map_err(|fault| AppFault::Taken(fault.to_string()))?;
    if lost > 0 {
        tracing::warn!(target: "reveille", lost, "volatile schedules were lost when the previous process ended");
    }
    let mut count = VolatileCount { path, written: lost };
    // Replaces the count of the previous process at once.
    count.note(handle);
    Ok((count, life))
}

impl VolatileCount {
    /// Writes the count if it changed.
    pub(super) fn note(&mut self, handle: &Handle) {
        let count = handle.counters().1.volatile;
        if count != self.written && write_private(&self.path, &format!("{count}\n")).is_ok() {
            self.written = count;
        }
    }

    /// Removes the count: an orderly stop has cancelled all volatile schedules, so none is lost.
    pub(super) fn clear(self) {
        // If the removal fails, the next start reports losses that never happened. No schedule is
        // affected.
        let _ = fs::remove_file(&self.path);
    }
}

/// The name of the store's directory in the data directory.
pub(super) const STORE: &str = "store";
const COUNT: &str = "volatile.count";

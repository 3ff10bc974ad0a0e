//! Opens the daemon's store before the daemon serves clients.

use std::path::Path;
use std::sync::Arc;

use super::life::LifeNote;
use super::lost_note::LostNote;
use crate::adapter::{StoreOptions, StoreSqlite};
use crate::app::fault::AppFault;
use crate::domain::{Cursor, GuardPolicy, Moment};
use crate::port::Store;
use crate::runtime::{AttachOptions, Handle};

/// Opens the store of a data directory, and loads its contents into the engine.
pub(in crate::app) fn attach_store(
    handle: &Handle,
    data_dir: &Path,
    guard: Option<Arc<GuardPolicy>>,
) -> Result<(LostNote, LifeNote), AppFault> {
    let now = handle.now().wall;
    let mut options = StoreOptions::new(data_dir.join(STORE), now);
    options.alarm = Some(Box::new(|fault| {
        tracing::error!(target: "reveille", %fault, "the store failed; durable work is suspended until it can be written");
    }));
    let store = StoreSqlite::open(options).map_err(|fault| AppFault::Taken(fault.to_string()))?;
    let (mut note, lost) = LostNote::open(data_dir);
    let life = LifeNote::open(data_dir, now, newest_fact(&store)?);
    let (policy, downs) = (Some(guard), life.downs());
    let (lost, named) = (lost.count, lost.named);
    let options = AttachOptions { lost, named, downs, policy, asleep: false };
    handle.attach_store(Arc::new(store), options).map_err(|fault| AppFault::Taken(fault.to_string()))?;
    if lost > 0 {
        tracing::warn!(target: "reveille", lost, "volatile schedules were lost when the previous process ended");
    }
    // Replaces the note of the previous process at once.
    note.note(handle);
    Ok((note, life))
}

/// Returns the time of the newest fact of a store; `None` if there is none.
fn newest_fact(store: &dyn Store) -> Result<Option<Moment>, AppFault> {
    let before = Cursor::new(store.health().head.number().saturating_sub(1));
    let facts = store.facts_after(before).map_err(|fault| AppFault::Taken(fault.to_string()))?;
    Ok(facts.last().map(|fact| fact.at))
}

/// The name of the store's directory in the data directory.
pub(in crate::app) const STORE: &str = "store";

//! Stores that are attached manually: without a thread, or for reading only.

use std::sync::Arc;

use super::recovery::{AttachOptions, load_and_recover, load_rows_into, restore_sessions};
use super::recovery_error::RecoveryError;
use super::store_replies::{StoreReplies, replies};
use super::stored_rows;
use crate::domain::Cursor;
use crate::port::{RowRecord, Store};
use crate::runtime::handle::Handle;

impl StoreReplies {
    /// Attaches a store without a thread: nothing that waits for the store goes on until the caller publishes its replies. A
    /// simulation needs that, in which nothing may happen by itself.
    ///
    /// # Errors
    /// [`RecoveryError`]; the engine is unchanged then.
    pub fn attach(
        handle: &Handle,
        store: Arc<dyn Store>,
        options: AttachOptions,
    ) -> Result<StoreReplies, RecoveryError> {
        let (events, replies) = replies(&handle.shared);
        load_and_recover(&handle.shared, store, events, options)?;
        Ok(replies)
    }
}

/// Loads rows for reading only: nothing is persisted, and nothing is recovered.
///
/// # Errors
/// [`RecoveryError::Row`]
pub fn load_rows(handle: &Handle, rows: &[RowRecord]) -> Result<(), RecoveryError> {
    let shared = &handle.shared;
    let mut core = shared.core_mut();
    let found =
        load_rows_into(shared, &mut core, Cursor::START, |take| stored_rows::for_each_of(rows, take))?;
    restore_sessions(shared, &mut core, found);
    Ok(())
}

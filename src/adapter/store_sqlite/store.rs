//! The SQLite store as its callers use it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

#[cfg(feature = "cli")]
use super::backup::{self, Restored};
#[cfg(feature = "cli")]
use super::doctor::RowCheck;
use super::fault::OpenFault;
use super::open::{self, StoreOptions};
use super::writer::Shared;
use super::{connection, doctor, files, read};
use crate::domain::Cursor;
use crate::port::{
    Batch, Done, FactRecord, HistoryBytes, HistoryCaps, HistoryQuery, LostHistory, RowRecord, Store,
    StoreFault, StoreHealth, StoreReport, Term,
};

/// A store in one SQLite file, whose directory this process has to itself.
pub struct StoreSqlite {
    shared: Arc<Shared>,
    path: PathBuf,
    caps: HistoryCaps,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl StoreSqlite {
    /// Opens the store of a directory, and creates one if there is none.
    ///
    /// # Errors
    /// [`OpenFault`] if another process has it, or it is not certainly a complete store of ours. It
    /// was not changed then.
    pub fn open(options: StoreOptions) -> Result<StoreSqlite, OpenFault> {
        let writer = open::open(options)?;
        let (shared, path, caps) = (writer.shared.clone(), writer.path.clone(), writer.caps);
        let writer = thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| OpenFault::io(&path, &error))?;
        Ok(StoreSqlite { shared, path, caps, writer: Mutex::new(Some(writer)) })
    }

    /// Examines the store of a directory without owning it, even one that cannot be opened or that
    /// another process has.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`] if there is nothing to examine.
    pub fn inspect(dir: &Path, caps: HistoryCaps) -> Result<StoreReport, StoreFault> {
        doctor::examine(&dir.join(files::DB), caps, |_| None)
    }

    /// As [`StoreSqlite::inspect`], with a check of what each row says.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`] if there is nothing to examine.
    #[cfg(feature = "cli")]
    pub(crate) fn inspect_rows(
        dir: &Path,
        caps: HistoryCaps,
        rows: RowCheck,
    ) -> Result<StoreReport, StoreFault> {
        doctor::examine(&dir.join(files::DB), caps, rows)
    }

    /// Copies the store of a directory into a new file, and checks the copy; another process may be writing to the store.
    ///
    /// # Errors
    /// [`OpenFault`] if the store cannot be read, or the file exists or cannot be written. There is no file then.
    #[cfg(feature = "cli")]
    pub(crate) fn back_up(
        options: &StoreOptions,
        to: &Path,
        rows: RowCheck,
    ) -> Result<StoreReport, OpenFault> {
        backup::back_up(&options.dir, to, (options.caps, rows))
    }

    /// Puts a backup in the place of the store of a directory, and keeps the files that were there.
    ///
    /// # Errors
    /// [`OpenFault`] if a process has the store open, or the file is not a sound store that this program can read.
    #[cfg(feature = "cli")]
    pub(crate) fn restore(
        options: &StoreOptions,
        from: &Path,
        rows: RowCheck,
    ) -> Result<Restored, OpenFault> {
        backup::restore(from, options, rows)
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, StoreFault>) -> Result<T, StoreFault> {
        let reader = self.shared.reader.lock().unwrap_or_else(PoisonError::into_inner);
        match &*reader {
            Some(connection) => read(connection),
            None => Err(StoreFault::Unreadable { detail: "it is not open".into() }),
        }
    }
}

impl Store for StoreSqlite {
    fn submit(&self, term: Term, batch: Batch, done: Done) -> Result<(), StoreFault> {
        self.shared.queue.submit(term, batch, done)
    }

    fn renew(&self) -> Result<Term, StoreFault> {
        let (sender, receiver) = sync_channel(1);
        self.shared.queue.renew(sender)?;
        receiver.recv().unwrap_or(Err(StoreFault::Closed))
    }

    fn health(&self) -> StoreHealth {
        self.shared.queue.health()
    }

    fn facts_after(&self, after: Cursor) -> Result<Vec<FactRecord>, StoreFault> {
        self.read(|connection| read::facts_after(connection, after))
    }

    fn rows_after(&self, after: Option<&str>) -> Result<Vec<RowRecord>, StoreFault> {
        self.read(|connection| read::rows_after(connection, after))
    }

    fn history(&self, query: &HistoryQuery) -> Result<Vec<FactRecord>, StoreFault> {
        if query.limit == 0 {
            return Ok(Vec::new());
        }
        let index = self.shared.index.lock().unwrap_or_else(PoisonError::into_inner);
        let candidates = read::candidates(&index, query);
        // The index is not locked during the read, so that a slow disk does not delay the writer.
        drop(index);
        self.read(|connection| read::history(connection, query, candidates))
    }

    fn lost_history(&self) -> Result<LostHistory, StoreFault> {
        self.read(|connection| read::lost_history(connection).map_err(|error| connection::unreadable(&error)))
    }

    fn history_bytes(&self, session: Option<&str>) -> HistoryBytes {
        self.shared.index.lock().unwrap_or_else(PoisonError::into_inner).history_bytes(session)
    }

    fn doctor(&self) -> Result<StoreReport, StoreFault> {
        let mut report = doctor::examine(&self.path, self.caps, |_| None)?;
        report.last_faults = self.shared.queue.faults();
        Ok(report)
    }

    fn close(&self) {
        self.shared.queue.close();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The last owner may be dropped by a callback, on the writer's own thread, which cannot
        // join itself; it then ends by itself.
        if let Some(writer) = writer.filter(|writer| writer.thread().id() != thread::current().id()) {
            // The writer catches panics of callbacks; if it panicked all the same, waiting callers
            // get `Closed`.
            let _ = writer.join();
        }
    }
}

impl Drop for StoreSqlite {
    fn drop(&mut self) {
        self.close();
    }
}

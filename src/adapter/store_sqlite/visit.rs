//! Reads a store as of one moment without owning it: another process may have it open and write to it.

use std::path::Path;

use rusqlite::Connection;

use super::{connection, files, read};
use crate::domain::Cursor;
use crate::port::{FactRecord, LostHistory, RowRecord, StoreFault};

/// A store that is read within one transaction, so that rows and facts belong together.
pub struct Visit {
    connection: Connection,
}

impl Visit {
    /// Opens the store of a directory for reading.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`] or [`StoreFault::Damaged`].
    pub fn open(dir: &Path) -> Result<Visit, StoreFault> {
        // SQLite would create a missing file.
        let path =
            std::fs::canonicalize(dir.join(files::DB)).map_err(|error| StoreFault::unreadable(&error))?;
        let connection = connection::visitor(&path).map_err(|error| connection::unreadable(&error))?;
        connection.execute_batch("BEGIN").map_err(|error| connection::unreadable(&error))?;
        Ok(Visit { connection })
    }

    /// Reads all rows.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`] or [`StoreFault::Damaged`].
    pub fn rows(&self) -> Result<Vec<RowRecord>, StoreFault> {
        let mut rows: Vec<RowRecord> = Vec::new();
        loop {
            let chunk = read::rows_after(&self.connection, rows.last().map(|row| &*row.key))?;
            if chunk.is_empty() {
                return Ok(rows);
            }
            rows.extend(chunk);
        }
    }

    /// Reads a chunk of the log after a cursor, oldest first; an empty chunk is the end.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`] or [`StoreFault::Damaged`].
    pub fn facts_after(&self, after: Cursor) -> Result<Vec<FactRecord>, StoreFault> {
        read::facts_after(&self.connection, after)
    }

    /// Reads what was pruned of the log.
    ///
    /// # Errors
    /// [`StoreFault::Unreadable`].
    pub fn lost_history(&self) -> Result<LostHistory, StoreFault> {
        // A store that no newer version has opened yet has no such table, and has pruned for no session.
        let tables = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'lost')";
        let has_lost = self.connection.query_row(tables, [], |row| row.get(0));
        if !has_lost.map_err(|error| connection::unreadable(&error))? {
            return Ok(LostHistory::default());
        }
        read::lost_history(&self.connection).map_err(|error| connection::unreadable(&error))
    }
}

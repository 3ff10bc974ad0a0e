//! The files that a store consists of, by name. All are in one directory.

/// The database; SQLite adds `-wal` and `-shm` beside it.
pub(super) const DB: &str = "store.db";
/// The last acknowledged cursor.
pub(super) const MARK: &str = "store.mark";
/// The lock of the process that owns the store.
pub(super) const LOCK: &str = "store.lock";

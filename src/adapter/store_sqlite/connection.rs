//! SQLite connections to the store's file: opening, pragmas that are set and verified,
//! classification of errors.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Result};

use crate::limits;
use crate::port::StoreFault;

/// Opens an existing file for the one writer.
pub(super) fn writer(path: &Path) -> Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // A write-ahead log, so that readers and the writer do not block each other.
    set(&connection, "journal_mode = wal")?;
    // FULL: a commit is flushed before it returns.
    set(&connection, "synchronous = 2")?;
    set(&connection, "foreign_keys = 1")?;
    // The log is truncated to this size after a checkpoint; otherwise one burst would leave it
    // large for ever.
    set(&connection, &format!("journal_size_limit = {}", limits::STORE_WAL_BYTES.value))?;
    // By default, a commit that finds much in the log checkpoints before it returns, and its caller waits for that. The writer
    // does it when it has answered (`WalPages`).
    set(&connection, "wal_autocheckpoint = 0")?;
    // Negative numbers are KiB: 16 MiB for the writer.
    set(&connection, "cache_size = -16384")?;
    Ok(connection)
}

/// Opens an existing file for reading.
pub(super) fn reader(path: &Path) -> Result<Connection> {
    // Opened for writing because a reader of a write-ahead log writes its shared-memory file;
    // `query_only` keeps it from changing data.
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    set(&connection, "query_only = 1")?;
    set(&connection, "cache_size = -8192")?;
    Ok(connection)
}

/// Opens a file that another process may be using, for inspection only.
pub(super) fn visitor(path: &Path) -> Result<Connection> {
    open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn open(path: &Path, access: OpenFlags) -> Result<Connection> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    set(&connection, &format!("busy_timeout = {}", limits::STORE_BUSY_MS.value))?;
    // A checkpoint on close would move pages into the file, and a handle whose flush failed has a
    // wrong belief about which pages are flushed. An orderly close checkpoints explicitly.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Defence against a damaged or malicious file. Source: SQLite, "Defense Against The Dark Arts".
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    set(&connection, "trusted_schema = 0")?;
    set(&connection, "cell_size_check = 1")?;
    // With a memory map, an I/O error would be a signal that kills the process, instead of an error
    // code.
    set(&connection, "mmap_size = 0")?;
    Ok(connection)
}

/// Sets a pragma and verifies it, because SQLite silently ignores unknown pragmas and values.
fn set(connection: &Connection, setting: &str) -> Result<()> {
    connection.execute_batch(&format!("PRAGMA {setting}"))?;
    let (name, value) = setting.split_once(" = ").expect("a setting is `name = value`");
    let found = connection.pragma_query_value(None, name, |row| {
        let value = row.get_ref(0)?;
        Ok(value.as_i64().map(|number| number.to_string()).or_else(|_| value.as_str().map(str::to_owned))?)
    })?;
    if found == value {
        return Ok(());
    }
    let message = format!("PRAGMA {name} is {found}, and not {value}");
    Err(rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_MISUSE),
        Some(message),
    ))
}

/// Moves the write-ahead log into the file and truncates the log.
pub(super) fn checkpoint(connection: &Connection) -> Result<()> {
    let busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if busy == 0 {
        return Ok(());
    }
    let message = "another process keeps its write-ahead log in use".to_owned();
    Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), Some(message)))
}

/// Moves what is in the write-ahead log into the file, and leaves the log as long as it is: the next commits begin it anew, and a
/// file that does not change its length is flushed sooner.
pub(super) fn checkpoint_in_place(connection: &Connection) -> Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// Checkpoints like [`checkpoint`], but fails at once if a reader is in the way, because callers of
/// the store would wait too.
pub(super) fn checkpoint_at_once(connection: &Connection) -> Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    let moved = checkpoint(connection);
    connection.busy_timeout(Duration::from_millis(limits::STORE_BUSY_MS.value))?;
    moved
}

/// Returns whether an error means that the file is damaged, as opposed to a fault of the
/// environment.
pub(super) fn tells_damage(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(code) => matches!(
            code,
            ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::Unknown
                | ErrorCode::TypeMismatch
        ),
        // A column of another type, or text that is not UTF-8: the store never writes either.
        None => true,
    }
}

pub(super) fn unreadable(error: &rusqlite::Error) -> StoreFault {
    if tells_damage(error) {
        return StoreFault::Damaged { what: error.to_string().into() };
    }
    StoreFault::unreadable(error)
}

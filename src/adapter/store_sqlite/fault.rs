//! Errors of opening a store.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use super::files;

/// Why a store was not opened. Nothing in its files was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenFault {
    /// Another process uses the store.
    #[error("{} is in use by {holder}", dir.display())]
    InUse {
        /// The store's directory.
        dir: PathBuf,
        /// The process that uses it, and since when.
        holder: String,
    },
    /// Other users could have written the file or directory.
    #[error("{} cannot be trusted: {why}", path.display())]
    NotOurs {
        /// The file or directory.
        path: PathBuf,
        /// Why it cannot be trusted, and what to do.
        why: String,
    },
    /// The store is on a network file system, where locks and flushes are not reliable.
    #[error("{} is on a network file system ({kind}); a store needs a local disk", dir.display())]
    Network {
        /// The store's directory.
        dir: PathBuf,
        /// The kind of file system.
        kind: &'static str,
    },
    /// The version of SQLite has a known defect.
    #[error("SQLite {found} can damage a store; 3.51.3 or later is needed")]
    OldSqlite {
        /// The version that was found.
        found: &'static str,
    },
    /// A later version of this program wrote the store.
    #[error(
        "{} has version {found}, and this program knows {known}; use the program that wrote it, or restore the backup \
         that it made before the change",
        path.display()
    )]
    Newer {
        /// The store's file.
        path: PathBuf,
        /// The version of the store.
        found: u32,
        /// The latest version that this program knows.
        known: u32,
    },
    /// The file is not a store.
    #[error("{} is not a store of ours: {what}; it was left as it is", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What the file is instead.
        what: String,
    },
    /// The store is unreadable, or holds less than was acknowledged.
    #[error("{} is damaged: {what}; it was left as it is. {restore}", path.display())]
    Damaged {
        /// The store's file.
        path: PathBuf,
        /// What the damage is.
        what: String,
        /// How to restore a backup.
        restore: String,
    },
    /// The operating system refused an operation.
    #[error("{} cannot be used: {detail}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        detail: String,
    },
}

impl OpenFault {
    pub(super) fn io(path: &Path, error: &dyn Display) -> OpenFault {
        OpenFault::Io { path: path.to_owned(), detail: error.to_string() }
    }

    pub(super) fn damaged(path: &Path, what: impl Into<String>) -> OpenFault {
        OpenFault::Damaged { path: path.to_owned(), what: what.into(), restore: restore(path) }
    }
}

/// Explains how to continue from a backup.
fn restore(path: &Path) -> String {
    let path = path.display();
    let (db, mark) = (files::DB, files::MARK);
    format!(
        "To restore: stop the process that uses it, and run `reveille restore FILE`; or move {path}, {db}-wal, {db}-shm and \
         {mark} aside, copy a backup to {path}, chmod 600 it. What was written after the backup is lost"
    )
}

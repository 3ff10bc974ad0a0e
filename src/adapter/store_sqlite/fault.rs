//! Why a store is not opened.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use super::{mark, open};

/// Why a store is not opened. The file is as it was; nothing of it was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenFault {
    /// Somebody has it.
    #[error("{} is in use by {holder}", dir.display())]
    InUse {
        /// The store's directory.
        dir: PathBuf,
        /// Who.
        holder: String,
    },
    /// Others could have written it.
    #[error("{} cannot be trusted: {why}", path.display())]
    NotOurs {
        /// The file or directory.
        path: PathBuf,
        /// Why not, and what to do.
        why: String,
    },
    /// It lies on another machine, where locks and flushes are not what they seem.
    #[error("{} is on a network file system ({kind}); a store needs a local disk", dir.display())]
    Network {
        /// The store's directory.
        dir: PathBuf,
        /// Which one.
        kind: &'static str,
    },
    /// SQLite itself is one with a known defect.
    #[error("SQLite {found} can damage a store; 3.51.3 or later is needed")]
    OldSqlite {
        /// Its version.
        found: &'static str,
    },
    /// A later version of this program wrote it.
    #[error(
        "{} has version {found}, and this program knows {known}; use the program that wrote it, or restore the backup \
         that it made before the change",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The latest that is known here.
        known: u32,
    },
    /// It is something else.
    #[error("{} is not a store of ours: {what}; it was left as it is", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: String,
    },
    /// It is unreadable, or holds less than was acknowledged.
    #[error("{} is damaged: {what}; it was left as it is. {restore}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// How to restore a backup.
        restore: String,
    },
    /// The system will not.
    #[error("{} cannot be used: {detail}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
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

/// What a person does to go on from a backup.
fn restore(path: &Path) -> String {
    let path = path.display();
    let (db, mark) = (open::DB, mark::NAME);
    format!(
        "To restore: stop whoever uses it, move {path}, {db}-wal, {db}-shm and {mark} aside, copy a backup to {path}, \
         chmod 600 it, start again. What was kept after the backup is lost"
    )
}

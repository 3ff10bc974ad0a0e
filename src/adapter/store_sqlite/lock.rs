//! Owner lock of the store's directory: one process at a time.
//!
//! The system drops the lock with the process, however it ends, so there is no stale lock and no
//! guessing about process ids. The lock is released explicitly, because a child that another thread
//! is starting inherits the open file until it becomes its program. The text in the file is for
//! people only.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use rustix::fs::OFlags;

use super::fault::OpenFault;
use super::{files, fs_perms};
use crate::domain::Moment;

/// The lock, held as long as this value lives.
pub(super) struct OwnerLock {
    file: File,
}

impl OwnerLock {
    pub(super) fn take(dir: &Path, since: Moment) -> Result<OwnerLock, OpenFault> {
        let path = dir.join(files::LOCK);
        fs_perms::check_file(&path)?;
        let unusable = |error: std::io::Error| OpenFault::io(&path, &error);
        let mut file = fs_perms::open_file(&path, OFlags::CREATE | OFlags::RDWR).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
            Err(TryLockError::WouldBlock) => {
                let holder = read(&mut file).unwrap_or_else(|| "another process".to_owned());
                return Err(OpenFault::InUse { dir: dir.to_owned(), holder });
            }
        }
        // The signature is only for people: with a full disk the lock is held all the same.
        let _ = sign(&mut file, since);
        Ok(OwnerLock { file })
    }
}

impl Drop for OwnerLock {
    fn drop(&mut self) {
        // If this fails, closing the last handle of the file releases the lock.
        let _ = self.file.unlock();
    }
}

/// Returns which process holds the store of a directory, if one does.
pub(super) fn holder(dir: &Path) -> Option<String> {
    let mut file = fs_perms::open_file(&dir.join(files::LOCK), OFlags::RDONLY).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(read(&mut file).unwrap_or_else(|| "a process".to_owned())),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

fn sign(file: &mut File, since: Moment) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "process {} since {since}", std::process::id())
}

fn read(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.take(256).read_to_string(&mut text).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

//! One owner for life.
//!
//! The system drops the lock with the process, however that ends: no stale lock, no question whose process id it was. It is
//! let go in so many words, because a child that another thread is starting has the file open too until it becomes its
//! program. What the file says is for people.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use rustix::fs::OFlags;

use super::fault::OpenFault;
use super::private;
use crate::domain::Moment;

/// A lock that is ours as long as this lives.
pub(super) struct OwnerLock {
    file: File,
}

impl OwnerLock {
    pub(super) fn take(dir: &Path, since: Moment) -> Result<OwnerLock, OpenFault> {
        let path = dir.join(NAME);
        private::check_file(&path)?;
        let unusable = |error: std::io::Error| OpenFault::io(&path, &error);
        let mut file = private::open_file(&path, OFlags::CREATE | OFlags::RDWR).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
            Err(TryLockError::WouldBlock) => {
                let holder = read(&mut file).unwrap_or_else(|| "another process".to_owned());
                return Err(OpenFault::InUse { dir: dir.to_owned(), holder });
            }
        }
        // Who has a full disk has the lock all the same; it only cannot say so.
        let _ = sign(&mut file, since);
        Ok(OwnerLock { file })
    }
}

impl Drop for OwnerLock {
    fn drop(&mut self) {
        // If this fails, the lock goes with the last handle to the file.
        let _ = self.file.unlock();
    }
}

/// Who has the store of that directory, if anybody.
pub(super) fn holder(dir: &Path) -> Option<String> {
    let mut file = private::open_file(&dir.join(NAME), OFlags::RDONLY).ok()?;
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

pub(super) const NAME: &str = "store.lock";

//! High-water mark: the last acknowledged cursor, in a file beside the store.
//!
//! SQLite takes the first frame of a write-ahead log that fails its checksum for the end of the
//! log, and a missing log for an empty one. A torn tail is normal, but so a damaged log loses facts
//! silently. The mark tells the two apart: it is written after the flush, so a store whose last
//! fact is below the mark has lost an acknowledged fact. The mark itself is not flushed: after a
//! loss of power it may be old, and an old mark raises no false alarm.
//!
//! Shape: two halves of 16 bytes, each a cursor and its complement, written in turn; the greater
//! one counts. If a loss of power tears one write, the other half is intact. The file is created
//! under another name and renamed, so it is never seen incomplete. Earlier versions wrote a file of
//! one half.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::fault::OpenFault;
use super::{files, fs_perms};
use crate::domain::Cursor;

/// The mark while a backup takes the place of a store. No store is as far as this, so none opens.
pub(super) const REPLACING: Cursor = Cursor::new(u64::MAX);

/// The mark's file, open for writing.
pub(super) struct HighWaterMark {
    file: File,
    /// The half that is written next: the older one.
    next: u64,
}

impl HighWaterMark {
    /// Reads the mark beside a store; `None` if there is none.
    pub(super) fn read(dir: &Path) -> Result<Option<Cursor>, OpenFault> {
        let path = dir.join(files::MARK);
        if !fs_perms::check_file(&path)? {
            return Ok(None);
        }
        let file =
            fs_perms::open_file(&path, OFlags::RDONLY).map_err(|error| OpenFault::io(&path, &error))?;
        match halves(&file).into_iter().flatten().max() {
            Some(cursor) => Ok(Some(Cursor::new(cursor))),
            // Not a torn write: that damages one half, and the file was complete when it got its name.
            None => {
                let what = format!("its mark, {}, is unreadable", files::MARK);
                Err(OpenFault::damaged(&dir.join(files::DB), what))
            }
        }
    }

    /// Opens the mark's file, creates it if needed, and flushes it.
    pub(super) fn open(dir: &Path, head: Cursor) -> std::io::Result<HighWaterMark> {
        let path = dir.join(files::MARK);
        if !path.try_exists()? {
            make(dir, head)?;
        }
        let file = fs_perms::open_file(&path, OFlags::RDWR)?;
        let [first, second] = halves(&file);
        // An unreadable half is `None`, which is less than any cursor, so it is overwritten first.
        let mut mark = HighWaterMark { file, next: u64::from(second < first) };
        mark.write(head)?;
        mark.file.sync_all()?;
        Ok(mark)
    }

    pub(super) fn write(&mut self, head: Cursor) -> std::io::Result<()> {
        self.file.write_all_at(&half(head), self.next * HALF)?;
        self.next = 1 - self.next;
        Ok(())
    }
}

/// Creates the file under another name, and renames it when it is complete; replaces the one that is there.
pub(super) fn make(dir: &Path, head: Cursor) -> std::io::Result<()> {
    let draft = dir.join(DRAFT);
    // Left by a start that was interrupted. Nobody else uses it, because we hold the lock.
    let _ = fs::remove_file(&draft);
    let file = fs_perms::open_file(&draft, OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY)?;
    file.write_all_at(&[half(head), half(head)].concat(), 0)?;
    file.sync_all()?;
    fs::rename(&draft, dir.join(files::MARK))?;
    fs_perms::flush_directory(dir)
}

/// Reads the cursors of both halves; `None` for a half whose complement does not match.
fn halves(file: &File) -> [Option<u64>; 2] {
    [0, 1].map(|place| {
        let mut bytes = [0; 16];
        file.read_exact_at(&mut bytes, place * HALF).ok()?;
        let number = u64::from_le_bytes(std::array::from_fn(|at| bytes[at]));
        (bytes == half(Cursor::new(number))).then_some(number)
    })
}

fn half(head: Cursor) -> [u8; 16] {
    let number = head.number();
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes[8..].copy_from_slice(&(!number).to_le_bytes());
    bytes
}

const DRAFT: &str = "store.mark.new";
const HALF: u64 = 16;

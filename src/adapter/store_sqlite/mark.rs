//! The last cursor that was acknowledged, in 16 bytes beside the store.
//!
//! SQLite takes the first frame of a write-ahead log that fails its checksum for the end of it, and a log that is missing
//! for an empty one: a torn tail is ordinary, and so a damaged log loses facts without a word. The mark tells the two apart:
//! it is written after the flush, so a store whose last fact is below it has lost something that was acknowledged. It is
//! not flushed itself: after a loss of power it may be old, and an old mark is no false alarm.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::fault::OpenFault;
use super::private;
use crate::domain::Cursor;

/// The file of the mark, open for writing.
pub(super) struct Mark(File);

impl Mark {
    /// The mark beside a store; `None` where there is none.
    pub(super) fn read(dir: &Path) -> Result<Option<Cursor>, OpenFault> {
        let path = dir.join(NAME);
        if !private::check_file(&path)? {
            return Ok(None);
        }
        let file = private::open_file(&path, OFlags::RDONLY).map_err(|error| OpenFault::io(&path, &error))?;
        let mut bytes = [0; 16];
        let read = file.read_exact_at(&mut bytes, 0);
        let (cursor, check) = split(bytes);
        let whole = file.metadata().is_ok_and(|found| found.len() == 16);
        if read.is_err() || !whole || check != !cursor {
            return Err(OpenFault::damaged(
                &dir.join(super::open::DB),
                format!("its mark, {NAME}, is unreadable"),
            ));
        }
        Ok(Some(Cursor::new(cursor)))
    }

    /// Makes the file, or takes the one there is, and leaves it flushed.
    pub(super) fn open(dir: &Path, head: Cursor) -> std::io::Result<Mark> {
        let mark = Mark(private::open_file(&dir.join(NAME), OFlags::CREATE | OFlags::RDWR)?);
        mark.write(head)?;
        mark.0.sync_all()?;
        Ok(mark)
    }

    pub(super) fn write(&self, head: Cursor) -> std::io::Result<()> {
        let number = head.number();
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        bytes[8..].copy_from_slice(&(!number).to_le_bytes());
        self.0.write_all_at(&bytes, 0)
    }
}

fn split(bytes: [u8; 16]) -> (u64, u64) {
    let mut halves = [[0; 8]; 2];
    halves[0].copy_from_slice(&bytes[..8]);
    halves[1].copy_from_slice(&bytes[8..]);
    (u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1]))
}

pub(super) const NAME: &str = "store.mark";

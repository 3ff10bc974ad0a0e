//! Backups: copies a store into one file while a daemon may be writing to it, and puts such a file in a store's place.
//!
//! Invariants: a backup is complete and sound, or absent. From its first change to its last, a restore leaves a mark with
//! which no store opens; it can be cut off anywhere and done again. The files of the former store are always there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::OFlags;

use super::doctor::RowCheck;
use super::fault::OpenFault;
use super::high_water::{self, REPLACING};
use super::lock::OwnerLock;
use super::open::{StoreOptions, examine_header};
use super::schema::{MIGRATIONS, latest};
use super::writer::beside;
use super::{connection, doctor, files, fs_perms};
use crate::domain::Cursor;
use crate::port::{HistoryCaps, StoreReport};

/// A store that was put in the place of another one.
pub(crate) struct Restored {
    /// What the store holds now.
    pub(crate) report: StoreReport,
    /// The directory with the files of the store that was there; `None` if there was none.
    pub(crate) former: Option<PathBuf>,
}

/// Copies the store of a directory into a new file, and checks the copy.
pub(super) fn back_up(
    dir: &Path,
    to: &Path,
    (caps, rows): (HistoryCaps, RowCheck),
) -> Result<StoreReport, OpenFault> {
    let path = dir.join(files::DB);
    let unreadable = |error: io::Error| OpenFault::io(&path, &error);
    let from = connection::visitor(&fs::canonicalize(&path).map_err(unreadable)?)
        .map_err(|error| OpenFault::io(&path, &error))?;
    if fs::symlink_metadata(to).is_ok() {
        return Err(OpenFault::io(to, &"it exists, and a backup overwrites nothing"));
    }
    // Another process may be making a backup of this name too: whose link is first wins.
    let draft = Draft(beside(to, &format!(".draft-{}", std::process::id())));
    let unwritable = |error: io::Error| OpenFault::io(to, &error);
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
    let file = fs_perms::open_file(&draft.0, flags).map_err(unwritable)?;
    // `file` stays open for the flush. SQLite has closed its handles by then: closing ours earlier would drop its locks.
    copy(&from, &draft.0).map_err(|error| OpenFault::io(to, &error))?;
    let report = check(&draft.0, caps, rows)?;
    file.sync_all().map_err(unwritable)?;
    // Unlike a rename, a link replaces no file that was made meanwhile.
    fs::hard_link(&draft.0, to).map_err(unwritable)?;
    flush_parent(to).map_err(unwritable)?;
    Ok(report)
}

/// Puts a backup in the place of the store of a directory, which no process may have open.
pub(super) fn restore(from: &Path, options: &StoreOptions, rows: RowCheck) -> Result<Restored, OpenFault> {
    restore_with(from, options, rows, &mut |_| Ok(()))
}

/// As [`restore`]; `step` is called before each change, and its error ends the restore there.
fn restore_with(
    from: &Path,
    options: &StoreOptions,
    rows: RowCheck,
    step: &mut dyn FnMut(&str) -> io::Result<()>,
) -> Result<Restored, OpenFault> {
    examine_header(from, latest(MIGRATIONS)).map_err(|fault| {
        // The advice of a damaged store would be about this file.
        let OpenFault::Damaged { path, what, .. } = fault else { return fault };
        OpenFault::NotOurs { path, why: format!("it is no backup: {what}") }
    })?;
    fs_perms::take_directory(&options.dir)?;
    let dir = fs::canonicalize(&options.dir).map_err(|error| OpenFault::io(&options.dir, &error))?;
    let _lock = OwnerLock::take(&dir, options.since)?;
    let path = dir.join(files::DB);
    let unusable = |error: io::Error| OpenFault::io(&path, &error);
    let draft = Draft(dir.join(DRAFT));
    copy_bytes(from, &draft.0)?;
    let report = check(&draft.0, options.caps, rows)?;
    let place = StoreReport { place: path.display().to_string(), ..report };
    let former = replace(&dir, &draft.0, place.counts.head, step).map_err(unusable)?;
    Ok(Restored { report: place, former })
}

/// Moves the store's files into a directory of their own, and a copy with facts up to `head` into their place.
///
/// The mark is the first to change and the last: in between, the database may lack its log, or have that of another one.
fn replace(
    dir: &Path,
    copy: &Path,
    head: Cursor,
    step: &mut dyn FnMut(&str) -> io::Result<()>,
) -> io::Result<Option<PathBuf>> {
    let (path, mark) = (dir.join(files::DB), dir.join(files::MARK));
    let former = if path.try_exists()? || mark.try_exists()? { Some(make_former(dir)?) } else { None };
    let mut run = |what: &str, change: &dyn Fn() -> io::Result<()>| {
        step(what)?;
        change()?;
        fs_perms::flush_directory(dir)
    };
    // What is replaced at once is linked, what has to be gone is moved.
    let link = |name: &str| match &former {
        Some(former) => if_there(fs::hard_link(dir.join(name), former.join(name))),
        None => Ok(()),
    };
    let aside = |name: &str| match &former {
        Some(former) => if_there(fs::rename(dir.join(name), former.join(name))),
        None => if_there(fs::remove_file(dir.join(name))),
    };
    run("mark", &|| link(files::MARK).and_then(|()| high_water::make(dir, REPLACING)))?;
    run("link", &|| link(files::DB))?;
    // A log beside another database would be replayed into it.
    for tail in ["-wal", "-shm"] {
        run(tail, &|| aside(&format!("{}{tail}", files::DB)))?;
    }
    if let Some(former) = &former {
        fs_perms::flush_directory(former)?;
    }
    run("replace", &|| fs::rename(copy, &path))?;
    // From now on a file that is older than this one is refused.
    run("open", &|| high_water::make(dir, head))?;
    Ok(former)
}

/// Makes the directory for the files of a store that is replaced: the first free name.
fn make_former(dir: &Path) -> io::Result<PathBuf> {
    for number in 1.. {
        let former = dir.join(format!("before-restore-{number:04}"));
        if !former.try_exists()? {
            fs_perms::make_directory(&former)?;
            return Ok(former);
        }
    }
    Err(io::ErrorKind::StorageFull.into())
}

/// Copies all pages as of one moment. Writers are not held up, because the source has a write-ahead log.
fn copy(from: &Connection, to: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut into = Connection::open_with_flags(to, flags)?;
    // In one step: with more, each commit of another process would begin the copy anew.
    Backup::new(from, &mut into)?.run_to_completion(i32::MAX, BUSY_PAUSE, None)
}

/// Copies the bytes of a file that nobody uses. It may be where nothing can be written, so SQLite does not open it.
fn copy_bytes(from: &Path, to: &Path) -> Result<(), OpenFault> {
    let log = beside(from, "-wal");
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        let why = "it has a write-ahead log beside it, so it is not all of a store; make the copy with `reveille backup`";
        return Err(OpenFault::NotOurs { path: from.to_owned(), why: why.to_owned() });
    }
    // Left by a restore that was interrupted. Nobody else uses it, because we hold the lock.
    let _ = fs::remove_file(to);
    let mut source = File::open(from).map_err(|error| OpenFault::io(from, &error))?;
    let unwritable = |error: io::Error| OpenFault::io(to, &error);
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
    let mut file = fs_perms::open_file(to, flags).map_err(unwritable)?;
    io::copy(&mut source, &mut file).map_err(unwritable)?;
    file.sync_all().map_err(unwritable)
}

/// Examines a copy as the doctor does; a copy with a defect is refused.
fn check(copy: &Path, caps: HistoryCaps, rows: RowCheck) -> Result<StoreReport, OpenFault> {
    let report = doctor::examine_copy(copy, caps, rows).map_err(|error| OpenFault::io(copy, &error))?;
    match report.defects.first() {
        Some(defect) => Err(OpenFault::NotOurs { path: copy.to_owned(), why: defect.clone() }),
        None => Ok(report),
    }
}

fn if_there(done: io::Result<()>) -> io::Result<()> {
    done.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn flush_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => fs_perms::flush_directory(parent),
        _ => fs_perms::flush_directory(Path::new(".")),
    }
}

/// A file that is gone at the end, with those that SQLite makes beside it.
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        for tail in ["", "-wal", "-shm", "-journal"] {
            // It may have been renamed, or never made.
            let _ = fs::remove_file(beside(&self.0, tail));
        }
    }
}

const DRAFT: &str = "store.db.restored";
/// How long to wait for a lock that another process holds for an instant.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::domain::Moment;

    struct Dir(PathBuf);

    impl Dir {
        fn new(name: &str) -> Dir {
            let dir = std::env::temp_dir().join(format!("reveille-backup-{name}-{}", std::process::id()));
            fs_perms::make_directory(&dir).expect("it is made");
            Dir(dir)
        }

        fn options(&self) -> StoreOptions {
            StoreOptions::new(self.0.join("store"), Moment::EPOCH)
        }

        /// Makes the store say a number, which tells one state of it from another.
        fn write(&self, number: u32) {
            let open = super::super::open::open(self.options()).expect("it opens");
            let sql = format!("INSERT INTO pruned VALUES ('test {number}', {number})");
            open.connection.as_ref().expect("it is open").execute_batch(&sql).expect("it is written");
        }

        fn numbers(&self) -> Vec<u32> {
            let open = super::super::open::open(self.options()).expect("it opens");
            let connection = open.connection.as_ref().expect("it is open");
            let mut read =
                connection.prepare("SELECT records FROM pruned ORDER BY records").expect("it reads");
            let rows = read.query_map([], |row| row.get(0)).expect("it reads");
            rows.collect::<rusqlite::Result<_>>().expect("it reads")
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_backup_comes_back_and_the_former_store_stays() {
        let dir = Dir::new("back");
        dir.write(1);
        let (store, file) = (dir.options().dir, dir.0.join("backup.db"));
        let caps = dir.options().caps;
        back_up(&store, &file, (caps, |_| None)).expect("it is written");
        let mode = fs::metadata(&file).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = back_up(&store, &file, (caps, |_| None)).expect_err("it exists");
        assert!(again.to_string().contains("overwrites nothing"), "{again}");
        dir.write(2);
        assert_eq!(dir.numbers(), [1, 2]);
        let restored = restore(&file, &dir.options(), |_| None).expect("it is restored");
        assert_eq!(dir.numbers(), [1]);
        let former = restored.former.expect("there was a store");
        assert!(former.join(files::DB).is_file() && former.join(files::MARK).is_file());
        let left: Vec<_> =
            fs::read_dir(&dir.0).expect("it reads").flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left.len(), 2, "no draft is left: {left:?}");
    }

    #[test]
    fn what_is_no_backup_changes_nothing() {
        let dir = Dir::new("garbage");
        dir.write(1);
        let file = dir.0.join("backup.db");
        for bytes in [&b""[..], b"SQLite format 3\0", &[7; 5_000]] {
            fs::write(&file, bytes).expect("ours");
            restore(&file, &dir.options(), |_| None).map(drop).expect_err("it is refused");
            assert_eq!(dir.numbers(), [1]);
        }
    }

    #[test]
    fn a_restore_that_is_cut_off_changes_nothing_or_is_refused_and_can_be_done_again() {
        for cut in ["mark", "link", "-wal", "-shm", "replace", "open"] {
            let dir = Dir::new(cut.trim_start_matches('-'));
            dir.write(1);
            let file = dir.0.join("backup.db");
            back_up(&dir.options().dir, &file, (dir.options().caps, |_| None)).expect("it is written");
            dir.write(2);
            let stop =
                &mut |step: &str| if step == cut { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) };
            restore_with(&file, &dir.options(), |_| None, stop).map(drop).expect_err(cut);
            if cut == "mark" {
                assert_eq!(dir.numbers(), [1, 2]);
            } else {
                let refused = super::super::open::open(dir.options()).map(drop).expect_err(cut);
                assert!(refused.to_string().contains("reveille restore"), "{cut}: {refused}");
            }
            restore(&file, &dir.options(), |_| None).expect("it is restored");
            assert_eq!(dir.numbers(), [1], "{cut}");
        }
    }
}

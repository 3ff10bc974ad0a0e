//! Opens a store, or creates one, and verifies that it can be trusted.
//!
//! The order matters. First the directory is checked and the lock taken. Then the file's header is
//! read as bytes, before SQLite sees the file: SQLite takes an empty file for an empty database,
//! and one whose header does not say "WAL" for one without a log. A new store is built under
//! another name and renamed, so a store that exists was complete once. Invariant: a store that is
//! refused was not changed.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use rustix::fs::OFlags;

use super::connection::{self, checkpoint};
use super::fault::OpenFault;
use super::faults::{FaultLayer, Faults};
use super::high_water::{HighWaterMark, REPLACING};
use super::lock::OwnerLock;
use super::queue::Queue;
use super::schema::{APPLICATION, MIGRATIONS, Migration, latest, migrate, tables, tables_of};
use super::wal::WalPages;
use super::writer::{Shared, Writer, beside};
use super::{chain, files, fs_perms, read};
use crate::domain::{Cursor, Moment};
use crate::limits;
use crate::port::{Alarm, HistoryCaps};

/// Options of opening a store: its directory, its caps, and who is notified of failures.
pub struct StoreOptions {
    /// The store's directory; it is created with mode 0700 if it does not exist.
    pub dir: PathBuf,
    /// The moment of opening, which a second process is shown as the start of our ownership.
    pub since: Moment,
    /// How much history is retained.
    pub caps: HistoryCaps,
    /// Called with every failure that ends a term.
    pub alarm: Option<Alarm>,
    /// Fault injection, for tests.
    pub faults: Option<FaultLayer>,
}

impl StoreOptions {
    /// Makes options with the default caps and no alarm.
    pub fn new(dir: impl Into<PathBuf>, since: Moment) -> StoreOptions {
        let caps = HistoryCaps {
            schedule_rows: limits::HISTORY_ROWS.value,
            bytes: limits::HISTORY_BYTES.value,
            days: limits::HISTORY_DAYS.value,
        };
        StoreOptions { dir: dir.into(), since, caps, alarm: None, faults: None }
    }
}

/// Opens or creates a store, ready to write.
pub(super) fn open(options: StoreOptions) -> Result<Writer, OpenFault> {
    open_with(options, MIGRATIONS)
}

fn open_with(options: StoreOptions, migrations: &[Migration]) -> Result<Writer, OpenFault> {
    if rusqlite::version_number() < SQLITE_MIN {
        return Err(OpenFault::OldSqlite { found: rusqlite::version() });
    }
    fs_perms::take_directory(&options.dir)?;
    let dir = fs::canonicalize(&options.dir).map_err(|error| OpenFault::io(&options.dir, &error))?;
    let lock = OwnerLock::take(&dir, options.since)?;
    let path = dir.join(files::DB);
    // The mark is read before the file is touched: it says whether a missing file is a new store or
    // a lost one.
    let acknowledged = HighWaterMark::read(&dir)?;
    if acknowledged == Some(REPLACING) {
        return Err(OpenFault::damaged(&path, RESTORE_CUT_OFF));
    }
    if !fs_perms::check_file(&path)? {
        nothing_was_here(&path, acknowledged)?;
        create(&dir, migrations)?;
    }
    for tail in ["-wal", "-shm"] {
        fs_perms::check_file(&beside(&path, tail))?;
    }
    let in_header = examine_header(&path, latest(migrations))?;
    let (examined, index) = std::thread::scope(|scope| {
        // Both threads read most of the file. The index is used only if the file turns out to be
        // sound.
        let index = std::thread::Builder::new()
            .spawn_scoped(scope, || read::index(&connection::reader(&path)?, options.caps))
            .map_err(|error| OpenFault::io(&path, &error))?;
        let examined = examine(&path, in_header, migrations);
        Ok((examined, index.join()))
    })?;
    let (mut connection, version) = examined?;
    let head = read::head(&connection).map_err(|error| refusal(&path, &error))?;
    if let Some(acknowledged) = acknowledged.filter(|acknowledged| head < *acknowledged) {
        let what = format!("fact {acknowledged} was acknowledged, and the last one in it is {head}");
        return Err(OpenFault::damaged(&path, what));
    }
    let index = index.map_err(|_| OpenFault::damaged(&path, "its log cannot be indexed"))?;
    let index = index.map_err(|error| refusal(&path, &error))?;
    // Migrated only after all checks, so that a store that is refused was not changed.
    if version < latest(migrations) {
        connection = upgrade(connection, &path, version, migrations)?;
    }
    let link = chain::head(&connection).map_err(|error| refusal(&path, &error))?;
    let reader = connection::reader(&path).map_err(|error| refusal(&path, &error))?;
    // Flushed before the mark claims that everything up to `head` is durable.
    flush(&path, &dir).map_err(|error| OpenFault::io(&path, &error))?;
    let mark =
        HighWaterMark::open(&dir, head).map_err(|error| OpenFault::io(&dir.join(files::MARK), &error))?;
    let shared =
        Shared { queue: Queue::new(head), index: Mutex::new(index), reader: Mutex::new(Some(reader)) };
    let wal = WalPages::default();
    wal.count(&mut connection).map_err(|error| OpenFault::io(&path, &error))?;
    Ok(Writer {
        shared: Arc::new(shared),
        path,
        connection: Some(connection),
        wal,
        mark,
        acknowledged: head,
        link,
        caps: options.caps,
        faults: Faults(options.faults),
        alarm: options.alarm,
        lock,
    })
}

/// Flushes the log that was read. A killed process may have left commits there that it had not
/// flushed and not acknowledged; from here on they are visible to readers. The database file itself
/// is not opened: what is only there was flushed by a checkpoint, and closing another handle of it
/// would drop SQLite's locks (POSIX locks belong to the process).
fn flush(path: &Path, dir: &Path) -> std::io::Result<()> {
    match File::open(beside(path, "-wal")) {
        Ok(log) => log.sync_all()?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    fs_perms::flush_directory(dir)
}

/// Distinguishes a missing store, which is an error, from a directory that never had one.
fn nothing_was_here(path: &Path, acknowledged: Option<Cursor>) -> Result<(), OpenFault> {
    if let Some(acknowledged) = acknowledged.filter(|cursor| *cursor > Cursor::START) {
        let what = format!("the file is missing, and held facts up to {acknowledged}");
        return Err(OpenFault::damaged(path, what));
    }
    let log = fs::metadata(beside(path, "-wal")).map_or(0, |found| found.len());
    if log > 0 {
        return Err(OpenFault::damaged(path, "the file is missing, and its write-ahead log is not"));
    }
    Ok(())
}

/// Builds an empty store under another name, and renames it when it is complete.
fn create(dir: &Path, migrations: &[Migration]) -> Result<(), OpenFault> {
    let draft = dir.join(DRAFT);
    let unusable = |error: std::io::Error| OpenFault::io(&draft, &error);
    for tail in ["", "-wal", "-shm"] {
        // Left by a start that was interrupted. Nobody else uses it, because we hold the lock.
        let _ = fs::remove_file(beside(&draft, tail));
    }
    fs_perms::open_file(&draft, OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY).map_err(unusable)?;
    build(&draft, migrations).map_err(|error| OpenFault::io(&draft, &error))?;
    for tail in ["-wal", "-shm"] {
        let _ = fs::remove_file(beside(&draft, tail));
    }
    File::open(&draft).and_then(|file| file.sync_all()).map_err(unusable)?;
    fs::rename(&draft, dir.join(files::DB)).map_err(unusable)?;
    fs_perms::flush_directory(dir).map_err(unusable)
}

fn build(draft: &Path, migrations: &[Migration]) -> rusqlite::Result<()> {
    let mut connection = connection::writer(draft)?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    migrate(&mut connection, 0, migrations)?;
    checkpoint(&connection)
}

/// Checks the header as bytes: what kind of file it is, and of which version.
pub(super) fn examine_header(path: &Path, known: u32) -> Result<u32, OpenFault> {
    let mut header = [0; 100];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    let number = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if let Err(error) = read {
        let is_short = error.kind() == std::io::ErrorKind::UnexpectedEof;
        let short = || OpenFault::damaged(path, "it is too short to be a database");
        return Err(if is_short { short() } else { OpenFault::io(path, &error) });
    }
    // Offsets of the SQLite file format: 60 is `user_version`, 68 is `application_id`.
    let (application, version) = (number(68), number(60));
    if &header[..16] != b"SQLite format 3\0" {
        return Err(OpenFault::damaged(path, "it does not begin as a database does"));
    }
    if application != APPLICATION {
        let what = format!("a database of another program (application id {application:#010x})");
        return Err(OpenFault::Foreign { path: path.to_owned(), what });
    }
    if version > known {
        return Err(OpenFault::Newer { path: path.to_owned(), found: version, known });
    }
    // Bytes 18 and 19 are 2 for a database in WAL mode, which every store of ours is.
    if version == 0 || header[18..20] != [2, 2] {
        return Err(OpenFault::damaged(path, "its header is not the one that was written"));
    }
    Ok(version)
}

/// Checks that the file is sound and has the tables of its version, which is returned. Nothing is moved out of its log
/// meanwhile.
///
/// The header may have an earlier version: a start that was cut off has left its migration in the log, committed.
fn examine(path: &Path, in_header: u32, migrations: &[Migration]) -> Result<(Connection, u32), OpenFault> {
    let known = latest(migrations);
    let check = || -> rusqlite::Result<(Connection, String, u32, bool)> {
        let connection = connection::writer(path)?;
        let verdict = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let is_one = (in_header..=known).contains(&found);
        let is_known = is_one && tables(&connection)? == tables_of(found, migrations)?;
        Ok((connection, verdict, found, is_known))
    };
    let (connection, verdict, found, is_known) = check().map_err(|error| refusal(path, &error))?;
    if verdict != "ok" {
        return Err(OpenFault::damaged(path, verdict));
    }
    if found > known {
        return Err(OpenFault::Newer { path: path.to_owned(), found, known });
    }
    if !is_known {
        return Err(OpenFault::damaged(path, "its tables are not those that were made"));
    }
    Ok((connection, found))
}

/// Makes a backup, then migrates the tables.
fn upgrade(
    connection: Connection,
    path: &Path,
    version: u32,
    migrations: &[Migration],
) -> Result<Connection, OpenFault> {
    // With an empty log, the database file alone is a complete backup.
    checkpoint(&connection).map_err(|error| OpenFault::io(path, &error))?;
    // The backup is a copy of bytes, made while no handle is open: closing a second handle would
    // drop SQLite's locks.
    drop(connection);
    let next = migrations.iter().find(|migration| migration.version > version);
    let copy = beside(path, &format!(".before-{:04}", next.map_or(0, |migration| migration.version)));
    back_up(path, &copy).map_err(|error| OpenFault::io(&copy, &error))?;
    let change = || -> rusqlite::Result<Connection> {
        let mut connection = connection::writer(path)?;
        migrate(&mut connection, version, migrations)?;
        // If a reader is in the way, the migration stays in the log, from where every connection reads it.
        let _ = checkpoint(&connection);
        Ok(connection)
    };
    change().map_err(|error| OpenFault::io(path, &error))
}

fn back_up(path: &Path, copy: &Path) -> std::io::Result<()> {
    let draft = beside(copy, ".draft");
    fs::copy(path, &draft)?;
    File::open(&draft)?.sync_all()?;
    fs::rename(&draft, copy)?;
    path.parent().map_or(Ok(()), fs_perms::flush_directory)
}

fn refusal(path: &Path, error: &rusqlite::Error) -> OpenFault {
    if connection::tells_damage(error) {
        return OpenFault::damaged(path, error.to_string());
    }
    OpenFault::io(path, error)
}

const DRAFT: &str = "store.db.new";
pub(super) const RESTORE_CUT_OFF: &str = "a restore was cut off before its end";
/// Earlier versions can damage a file when the write-ahead log is reset. Source: SQLite's notes on
/// 3.51.3.
const SQLITE_MIN: i32 = 3_051_003;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(next: &'static str, is_good: bool) {
        let dir = std::env::temp_dir().join(format!("reveille-upgrade-{}-{is_good}", std::process::id()));
        let options = || StoreOptions::new(&dir, Moment::EPOCH);
        let old = open(options()).expect("it is made");
        let fact = "INSERT INTO pruned VALUES ('rows', 41)";
        old.connection.as_ref().expect("it is open").execute_batch(fact).expect("it is kept");
        drop(old);
        let present = latest(MIGRATIONS);
        let mut migrations = MIGRATIONS.to_vec();
        migrations.push(Migration { version: present + 1, sql: next });
        let upgraded = open_with(options(), &migrations);
        assert_eq!(upgraded.is_ok(), is_good);
        drop(upgraded);
        let before = format!("store.db.before-{:04}", present + 1);
        let copy = connection::visitor(&dir.canonicalize().expect("it is there").join(before));
        let copied: u32 = copy
            .and_then(|copy| copy.query_row("SELECT records FROM pruned", [], |row| row.get(0)))
            .expect("the copy is whole");
        assert_eq!(copied, 41);
        let reopened = if is_good { open_with(options(), &migrations) } else { open(options()) };
        let connection = reopened.expect("it is one version or the other").connection.expect("it is open");
        let version: u32 =
            connection.pragma_query_value(None, "user_version", |row| row.get(0)).expect("it has one");
        assert_eq!(version, if is_good { present + 1 } else { present });
        drop(connection);
        if is_good {
            let refused = open(options()).map(drop).expect_err("it is newer");
            let is_newer = matches!(refused, OpenFault::Newer { found, known, .. } if (found, known) == (present + 1, present));
            assert!(is_newer, "{refused}");
        }
        fs::remove_dir_all(&dir).expect("it is ours");
    }

    /// A start that is cut off after the migration was committed leaves it in the log: the header still has the earlier version.
    #[test]
    fn a_migration_that_is_only_in_the_log_is_no_damage() {
        let dir = std::env::temp_dir().join(format!("reveille-upgrade-cut-{}", std::process::id()));
        let options = || StoreOptions::new(&dir, Moment::EPOCH);
        drop(open(options()).expect("it is made"));
        let path = dir.canonicalize().expect("it is there").join(files::DB);
        let present = latest(MIGRATIONS);
        let mut migrations = MIGRATIONS.to_vec();
        let sql = "CREATE TABLE more (x INTEGER) STRICT";
        migrations.push(Migration { version: present + 1, sql });
        let mut cut = connection::writer(&path).expect("nobody has it");
        migrate(&mut cut, present, &migrations).expect("it is a good one");
        drop(cut);
        assert_eq!(examine_header(&path, present + 1), Ok(present), "the file itself is as it was");
        let refused = open(options()).map(drop).expect_err("it is newer");
        let is_newer = matches!(refused, OpenFault::Newer { found, known, .. } if (found, known) == (present + 1, present));
        assert!(is_newer, "{refused}");
        let reopened = open_with(options(), &migrations).expect("it is complete");
        let connection = reopened.connection.as_ref().expect("it is open");
        let version: u32 =
            connection.pragma_query_value(None, "user_version", |row| row.get(0)).expect("it has one");
        assert_eq!(version, present + 1);
        drop(reopened);
        fs::remove_dir_all(&dir).expect("it is ours");
    }

    #[test]
    fn an_older_store_is_copied_before_it_is_changed() {
        check("CREATE TABLE more (x INTEGER) STRICT", true);
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        check("CREATE TABLE more (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1)", false);
    }
}

//! The writer thread: commits batches, prunes history, and recovers after failures.
//!
//! All waiting batches are committed in one transaction with one flush, and answered in log order.
//! When an append fails, the connection is not used again: after a failed flush the system may
//! count pages as written that are not. So another handle writes the log's bytes once more and
//! flushes them, before anything is read back and trusted. Invariant: nothing is acknowledged on a
//! handle on which anything failed.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, params};
use rustix::fs::OFlags;

use super::chain::{self, Link, Stretch};
use super::connection::{self, checkpoint, checkpoint_at_once, checkpoint_in_place};
use super::faults::{FaultPoint, Faults};
use super::high_water::HighWaterMark;
use super::index::{Index, Note, PrunePlan, Rank, Removed};
use super::lock::OwnerLock;
use super::queue::{Idle, Queue, Waiting, Work};
use super::shares::Part;
use super::wal::{Checkpoint, WalPages};
use super::{digest, fs_perms, read};
use crate::domain::Cursor;
use crate::limits;
use crate::port::{Alarm, FactRecord, HistoryCaps, RowRecord, StoreFault};

/// What callers and the writer share.
pub(super) struct Shared {
    pub(super) queue: Queue,
    pub(super) index: Mutex<Index>,
    /// `None` while the file cannot be opened, and after the end.
    pub(super) reader: Mutex<Option<Connection>>,
}

/// The writer, with everything that only it uses.
pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    pub(super) path: PathBuf,
    pub(super) connection: Option<Connection>,
    pub(super) wal: WalPages,
    pub(super) mark: HighWaterMark,
    pub(super) acknowledged: Cursor,
    /// The hash of the last committed fact.
    pub(super) link: Link,
    pub(super) caps: HistoryCaps,
    pub(super) faults: Faults,
    pub(super) alarm: Option<Alarm>,
    /// Held until the last write is on the disk.
    pub(super) lock: OwnerLock,
}

/// Facts that a transaction deleted, for the index.
#[derive(Default)]
struct PrunedFacts(Vec<Removed>);

impl Writer {
    /// Runs until the store is closed.
    pub(super) fn run(mut self) {
        // An earlier process may have left a long log, or history beyond the caps.
        let mut idle = Idle::Tidy;
        loop {
            // Without a connection nothing can be pruned or moved: wait for a renewal.
            match self.shared.queue.next(if self.connection.is_some() { idle } else { Idle::Rest }) {
                Work::Group(group) => idle = self.commit(group),
                Work::Renew(renewal) => {
                    let answer = self.reopen().map(|()| self.shared.queue.begin(self.acknowledged));
                    // A caller that stopped waiting finds the new term in the health.
                    let _ = renewal.send(answer);
                }
                Work::Tidy => idle = self.tidy(),
                Work::Move => idle = self.move_log(),
                Work::Close => break,
            }
        }
        self.shared.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(connection) = self.connection.take() {
            // If the log cannot be moved, the next process that opens the store moves it.
            let _ = checkpoint_at_once(&connection);
        }
        // Released last: until here, another process must not touch the file.
        drop(self.lock);
    }

    /// Commits a group of batches, and answers their callers.
    fn commit(&mut self, group: Vec<Waiting>) -> Idle {
        // Prune twice as much as is appended, so that a log over its caps shrinks under any load.
        let records = group.iter().map(|waiting| waiting.batch.facts.len() as u64).sum::<u64>();
        let plan = self.plan(limits::HISTORY_PRUNED.value.max(2 * records));
        let kept = self.transact(&plan, |connection| write_group(connection, &group, self.link));
        let (link, dropped_facts) = match kept {
            Ok(kept) => kept,
            Err(fault) => {
                self.fail(&fault, group);
                return Idle::Rest;
            }
        };
        let mut index = self.shared.index.lock().unwrap_or_else(PoisonError::into_inner);
        for fact in group.iter().flat_map(|waiting| &waiting.batch.facts) {
            index.add(note(fact));
        }
        forget(&mut index, &plan, &dropped_facts);
        drop(index);
        // The order matters: first the mark, then the queue's head, then the answers. A caller that
        // was answered finds all of them up to date.
        let head = group.last().map_or(self.acknowledged, last_cursor);
        assert!(self.connection.is_some(), "{head} is to be acknowledged on a handle that failed");
        self.acknowledged = head;
        self.link = link;
        // A mark that cannot be written stays behind, which raises no false alarm.
        let _ = self.mark.write(head);
        self.shared.queue.committed(head, group.len());
        for waiting in group {
            let cursor = last_cursor(&waiting);
            answer(waiting, Ok(cursor));
        }
        if self.wal.checkpoint() == Checkpoint::Now {
            self.empty_log();
        }
        Idle::Tidy
    }

    /// Empties a long log, and prunes history beyond the caps, a little at a time.
    fn tidy(&mut self) -> Idle {
        if self.wal.checkpoint() != Checkpoint::No {
            self.empty_log();
        }
        let plan = self.plan(limits::HISTORY_PRUNED.value);
        // A few facts, and tombstones, are pruned with the next append. Only many facts are worth a
        // flush of their own.
        if plan.facts() >= limits::HISTORY_PRUNED.value {
            match self.transact(&plan, |_| Ok(())) {
                Ok(((), dropped_facts)) => {
                    let mut index = self.shared.index.lock().unwrap_or_else(PoisonError::into_inner);
                    forget(&mut index, &plan, &dropped_facts);
                    return Idle::Tidy;
                }
                Err(fault) => self.fail(&fault, Vec::new()),
            }
            return Idle::Rest;
        }
        let waiting = fs::metadata(beside(&self.path, "-wal")).map_or(0, |found| found.len());
        if waiting >= IDLE_CHECKPOINT_BYTES { Idle::Move } else { Idle::Rest }
    }

    /// Moves what is in the log into the file, so that the next commits begin the log anew.
    fn empty_log(&self) {
        if let Some(connection) = &self.connection {
            // If a reader is in the way or the disk is full, it stays in the log, and a later commit tries again.
            let _ = checkpoint_in_place(connection);
        }
        self.wal.forget();
    }

    /// Moves the log into the file now, so that no caller has to wait for it later.
    fn move_log(&self) -> Idle {
        if let Some(connection) = &self.connection {
            // If a reader is in the way or the disk is full, the log stays where it is, and the
            // next append reports the error.
            let _ = checkpoint_at_once(connection);
        }
        Idle::Rest
    }

    fn plan(&self, max: u64) -> PrunePlan {
        self.shared.index.lock().unwrap_or_else(PoisonError::into_inner).plan(max)
    }

    /// Runs one transaction, which also prunes what the plan names, and flushes it.
    fn transact<T>(
        &self,
        plan: &PrunePlan,
        write: impl FnOnce(&Connection) -> Result<T, StoreFault>,
    ) -> Result<(T, PrunedFacts), StoreFault> {
        let Some(connection) = &self.connection else {
            return Err(StoreFault::Unwritable { detail: "it is not open".into() });
        };
        self.faults.pass(FaultPoint::Begin)?;
        // IMMEDIATE takes the write lock at once, so that nothing fails half-way for want of it.
        run(connection, "BEGIN IMMEDIATE")?;
        let written = write(connection)?;
        let dropped_facts = if plan.is_empty() {
            PrunedFacts::default()
        } else {
            prune(connection, plan).map_err(unwritable)?
        };
        self.faults.pass(FaultPoint::Commit)?;
        run(connection, "COMMIT")?;
        self.faults.pass(FaultPoint::Flush)?;
        Ok((written, dropped_facts))
    }

    /// Ends the term: answers every waiting caller, drops the connection, and tries to open
    /// another.
    fn fail(&mut self, fault: &StoreFault, group: Vec<Waiting>) {
        // Closing the connection rolls back an open transaction, and moves nothing
        // (`NO_CKPT_ON_CLOSE`).
        self.connection = None;
        let behind = self.shared.queue.fail(fault);
        for waiting in group {
            answer(waiting, Err(fault.clone()));
        }
        // These were not tried at all: they were decided on top of batches that failed.
        for waiting in behind {
            answer(waiting, Err(StoreFault::TermOver));
        }
        if let Some(alarm) = &self.alarm {
            // A panic of the owner must not end the writer.
            let _ = catch_unwind(AssertUnwindSafe(|| alarm(fault)));
        }
        // If this succeeds, readers can go on at once; if not, the owner's `renew` tries again.
        let _ = self.reopen();
    }

    /// Opens the file again, and trusts nothing of it that the new handle has not flushed.
    fn reopen(&mut self) -> Result<(), StoreFault> {
        if self.connection.is_some() {
            return Ok(());
        }
        self.faults.pass(FaultPoint::Reopen)?;
        let mut reader = self.shared.reader.lock().unwrap_or_else(PoisonError::into_inner);
        // All handles are closed before the log is written as bytes: see `rewrite_log`.
        *reader = None;
        self.rewrite_log().map_err(|error| StoreFault::unwritable(&error))?;
        let mut connection = connection::writer(&self.path).map_err(unwritable)?;
        self.wal.count(&mut connection).map_err(unwritable)?;
        *reader = Some(connection::reader(&self.path).map_err(|error| connection::unreadable(&error))?);
        drop(reader);
        // The checkpoint flushes the log's content into the database file, on a handle without a
        // failure.
        checkpoint(&connection).map_err(unwritable)?;
        let head = read::head(&connection).map_err(|error| connection::unreadable(&error))?;
        if head < self.acknowledged {
            let what =
                format!("fact {} was acknowledged, and the last one kept is {head}", self.acknowledged);
            return Err(StoreFault::Damaged { what: what.into() });
        }
        let index = read::index(&connection, self.caps).map_err(|error| connection::unreadable(&error))?;
        self.link = chain::head(&connection).map_err(|error| connection::unreadable(&error))?;
        *self.shared.index.lock().unwrap_or_else(PoisonError::into_inner) = index;
        self.acknowledged = head;
        self.connection = Some(connection);
        Ok(())
    }

    /// Writes the write-ahead log over itself and flushes it, so that its pages are dirty again,
    /// whatever happened to an earlier flush. Linux marks pages as clean after a failed `fsync`.
    fn rewrite_log(&self) -> std::io::Result<()> {
        let path = beside(&self.path, "-wal");
        let Ok(bytes) = fs::read(&path) else { return Ok(()) };
        let mut file = fs_perms::open_file(&path, OFlags::WRONLY)?;
        std::io::Write::write_all(&mut file, &bytes)?;
        file.sync_all()
    }
}

/// Writes facts that follow from the one with the hash `link`. Returns the hash of the last one.
fn write_group(connection: &Connection, group: &[Waiting], mut link: Link) -> Result<Link, StoreFault> {
    let mut insert = connection.prepare_cached(INSERT).map_err(unwritable)?;
    let mut upsert = connection.prepare_cached(UPSERT).map_err(unwritable)?;
    for Waiting { batch, .. } in group {
        let mut newest = i64::MIN;
        for fact in &batch.facts {
            newest = newest.max(fact.at.seconds());
            link = chain::link(&link, fact);
            let values = params![
                fact.cursor.number().cast_signed(),
                fact.at.seconds(),
                fact.at.nanos(),
                &*fact.kind,
                fact.schedule.as_deref(),
                fact.session.as_deref(),
                fact.share.as_deref(),
                fact.run.as_deref(),
                &*fact.payload,
                digest::of_fact(fact),
                link,
            ];
            insert.execute(values).map_err(unwritable)?;
        }
        for row in &batch.rows {
            write_row(&mut upsert, row, newest)?;
        }
    }
    Ok(link)
}

fn write_row(upsert: &mut rusqlite::Statement<'_>, row: &RowRecord, at: i64) -> Result<(), StoreFault> {
    let revision = row.revision.cast_signed();
    let values = params![&*row.key, revision, at, row.payload.as_deref(), digest::of_row(row, at)];
    match upsert.execute(values).map_err(unwritable)? {
        0 => Err(StoreFault::StaleRow { key: row.key.clone(), revision: row.revision }),
        _ => Ok(()),
    }
}

/// Deletes what a plan names, and counts it by cause.
fn prune(connection: &Connection, plan: &PrunePlan) -> rusqlite::Result<PrunedFacts> {
    let mut dropped_facts = PrunedFacts::default();
    // The newest fact stays: the next one follows from it, and its cursor says where the log ends.
    let newest = "(SELECT max(cursor) FROM fact)";
    let returning = format!("RETURNING {}, hash", read::REMOVED);
    let sql = format!("DELETE FROM fact WHERE cursor = ?1 AND cursor < {newest} {returning}");
    let mut one = connection.prepare_cached(&sql)?;
    let mut lose = connection.prepare_cached(LOSE_OF_SCHEDULE)?;
    for cursor in &plan.crowded {
        // First, while the fact says whose it is.
        lose.execute([cursor.cast_signed()])?;
        dropped_facts.collect(connection, one.query(params![cursor.cast_signed()])?)?;
    }
    count(connection, "rows", dropped_facts.0.len())?;
    let before = dropped_facts.0.len();
    let mut lose = connection.prepare_cached(LOSE)?;
    for cursor in &plan.shares {
        lose.execute([cursor.cast_signed()])?;
        dropped_facts.collect(connection, one.query(params![cursor.cast_signed()])?)?;
    }
    count(connection, "share", dropped_facts.0.len() - before)?;
    let mut oldest = connection.prepare_cached(&format!(
        "DELETE FROM fact WHERE cursor IN
             (SELECT cursor FROM fact WHERE cursor <= ?1 ORDER BY cursor LIMIT ?2)
             AND cursor < {newest} {returning}"
    ))?;
    // The largest cursor that a column can hold stands for "no bound": `bytes` is bounded by its
    // count only.
    let kinds = [("bytes", Some((u64::MAX >> 1, plan.oldest))), ("age", plan.aged)];
    for (cause, (through, limit)) in kinds.into_iter().filter_map(|(cause, of)| Some((cause, of?))) {
        let before = dropped_facts.0.len();
        if limit > 0 {
            dropped_facts
                .collect(connection, oldest.query(params![through.cast_signed(), limit.cast_signed()])?)?;
        }
        count(connection, cause, dropped_facts.0.len() - before)?;
    }
    if let Some(before) = plan.tombstones {
        let sql = "DELETE FROM state WHERE payload IS NULL AND at < ?1";
        count(connection, "tombstones", connection.prepare_cached(sql)?.execute(params![before])?)?;
        // What lies before the log is missing for everybody, which a row for the cause says from now on.
        let of_sessions = "DELETE FROM lost WHERE through < (SELECT min(cursor) FROM fact)";
        let of_schedules = "DELETE FROM lost_schedule WHERE through < (SELECT min(cursor) FROM fact)";
        if connection.execute(of_sessions, [])? + connection.execute(of_schedules, [])? > 0 {
            connection.execute("INSERT OR IGNORE INTO pruned (cause, records) VALUES ('bytes', 0)", [])?;
        }
    }
    Ok(dropped_facts)
}

fn count(connection: &Connection, cause: &str, records: usize) -> rusqlite::Result<()> {
    if records == 0 {
        return Ok(());
    }
    let sql = "INSERT INTO pruned (cause, records) VALUES (?1, ?2)
               ON CONFLICT (cause) DO UPDATE SET records = records + excluded.records";
    let records = i64::try_from(records).unwrap_or(i64::MAX);
    connection.prepare_cached(sql)?.execute(params![cause, records])?;
    Ok(())
}

impl PrunedFacts {
    /// Deletes facts between which none is left, and notes the gap.
    fn collect(&mut self, connection: &Connection, mut rows: rusqlite::Rows<'_>) -> rusqlite::Result<()> {
        let mut stretch = None;
        while let Some(row) = rows.next()? {
            let removed = read::removed(row)?;
            stretch = Some(Stretch::add(stretch, removed.cursor.cast_signed(), row.get(5)?));
            self.0.push(removed);
        }
        // The statement has to end before its table is read again.
        drop(rows);
        stretch.map_or(Ok(()), |stretch| stretch.leave_gap(connection))
    }
}

fn forget(index: &mut Index, plan: &PrunePlan, dropped_facts: &PrunedFacts) {
    for removed in &dropped_facts.0 {
        index.remove(removed);
    }
    if let Some(before) = plan.tombstones {
        index.swept(before);
    }
}

fn note(fact: &FactRecord) -> Note {
    Note {
        cursor: fact.cursor.number(),
        schedule: fact.schedule.as_deref().map(digest::of_key),
        part: Part::of(fact.sharer().map(|sharer| digest::of_key(sharer)), &fact.kind),
        rank: Rank::of(&fact.kind),
        at: fact.at,
        bytes: fact.bytes() as u64,
    }
}

fn last_cursor(waiting: &Waiting) -> Cursor {
    waiting.batch.facts.last().map_or(Cursor::START, |fact| fact.cursor)
}

/// Answers a caller. A callback that panics must not stop the writer or the other answers.
fn answer(waiting: Waiting, answer: Result<Cursor, StoreFault>) {
    let _ = catch_unwind(AssertUnwindSafe(|| (waiting.done)(answer)));
}

fn run(connection: &Connection, sql: &str) -> Result<(), StoreFault> {
    let mut statement = connection.prepare_cached(sql).map_err(unwritable)?;
    statement.execute([]).map_err(unwritable)?;
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn unwritable(error: rusqlite::Error) -> StoreFault {
    StoreFault::unwritable(&error)
}

/// Returns the path of the file that SQLite keeps beside the store, or of one that we do.
pub(super) fn beside(path: &std::path::Path, tail: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(tail);
    name.into()
}

const INSERT: &str =
    "INSERT INTO fact (cursor, at, nanos, kind, schedule, session, share, run, payload, digest, hash)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
const LOSE: &str = "INSERT INTO lost (session, through)
     SELECT session, cursor FROM fact WHERE cursor = ?1 AND session IS NOT NULL
     ON CONFLICT (session) DO UPDATE SET through = max(through, excluded.through)";
const LOSE_OF_SCHEDULE: &str = "INSERT INTO lost_schedule (schedule, through)
     SELECT schedule, cursor FROM fact WHERE cursor = ?1 AND schedule IS NOT NULL
     ON CONFLICT (schedule) DO UPDATE SET through = max(through, excluded.through)";
const UPSERT: &str = "INSERT INTO state (key, revision, at, payload, digest) VALUES (?1, ?2, ?3, ?4, ?5)
     ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, at = excluded.at,
         payload = excluded.payload, digest = excluded.digest
     WHERE excluded.revision > revision";
/// Size of the log from which on a quiet moment is used to move it into the file.
const IDLE_CHECKPOINT_BYTES: u64 = 4_194_304;

#[cfg(test)]
mod tests;

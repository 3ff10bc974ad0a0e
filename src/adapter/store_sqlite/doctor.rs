//! Examines a whole store over a connection of its own, without changing anything.
//!
//! It reads every page, every fact and every row. Another process may be using the file meanwhile:
//! the facts and rows are those of one moment.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::chain::ChainCheck;
use super::high_water::{HighWaterMark, REPLACING};
use super::open::RESTORE_CUT_OFF;
use super::schema::{CHAINED, MIGRATIONS, latest, tables, tables_of};
use super::writer::beside;
use super::{connection, lock, read};
use crate::port::{HistoryCaps, Pruned, RowRecord, StoreCounts, StoreFault, StoreReport};

/// Examines the store at its place, and compares it with the mark beside it.
pub(super) fn examine(path: &Path, caps: HistoryCaps, rows: RowCheck) -> Result<StoreReport, StoreFault> {
    // The mark is read before the facts: a writer updates it after them, so the facts read here are
    // at least as new.
    let mark = path.parent().map_or(Ok(None), HighWaterMark::read);
    let mut report = examine_copy(path, caps, rows)?;
    match mark {
        Err(fault) => report.defects.push(fault.to_string()),
        Ok(Some(REPLACING)) => report.defects.push(RESTORE_CUT_OFF.to_owned()),
        Ok(Some(acknowledged)) if report.is_sound() && report.counts.head < acknowledged => {
            let last = report.counts.head;
            report
                .defects
                .push(format!("fact {acknowledged} was acknowledged, and the last one in it is {last}"));
        }
        Ok(_) => {}
    }
    Ok(report)
}

/// Examines a store by itself: a copy may be older than the mark beside it.
pub(super) fn examine_copy(
    path: &Path,
    caps: HistoryCaps,
    rows: RowCheck,
) -> Result<StoreReport, StoreFault> {
    let size = |tail| fs::metadata(beside(path, tail)).map_or(0, |found| found.len());
    // SQLite would create a missing file.
    fs::metadata(path).map_err(|error| StoreFault::unreadable(&error))?;
    let path = &fs::canonicalize(path).map_err(|error| StoreFault::unreadable(&error))?;
    let wal_bytes = size("-wal");
    let disk_bytes = size("") + wal_bytes + size("-shm");
    let mut report = StoreReport {
        engine: format!("SQLite {}", rusqlite::version()),
        place: path.display().to_string(),
        schema: 0,
        holder: path.parent().and_then(lock::holder),
        defects: Vec::new(),
        counts: StoreCounts { disk_bytes, wal_bytes, ..StoreCounts::default() },
        pruned: Pruned::default(),
        caps,
        last_faults: Vec::new(),
    };
    if let Err(error) = look(path, rows, &mut report) {
        report.defects.push(error.to_string());
    }
    Ok(report)
}

fn look(path: &Path, rows: RowCheck, report: &mut StoreReport) -> Result<(), StoreFault> {
    let unreadable = |error| connection::unreadable(&error);
    let connection = connection::visitor(path).map_err(unreadable)?;
    report.schema =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(unreadable)?;
    report.defects.extend(integrity(&connection).map_err(unreadable)?);
    if report.schema == 0 || report.schema > latest(MIGRATIONS) {
        report.defects.push(format!("version {} is not one that is known here", report.schema));
        return Ok(());
    }
    let expected = tables_of(report.schema, MIGRATIONS).map_err(unreadable)?;
    if tables(&connection).map_err(unreadable)? != expected {
        report.defects.push("the tables are not those that were made".to_owned());
    }
    report.pruned = pruned(&connection).map_err(unreadable)?;
    read_all(&connection, rows, report)
}

fn integrity(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut check = connection.prepare("PRAGMA integrity_check(100)")?;
    let lines: Vec<String> = check.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

fn pruned(connection: &Connection) -> rusqlite::Result<Pruned> {
    let of = |cause: &str| -> rusqlite::Result<u64> {
        let sql = "SELECT coalesce(sum(records), 0) FROM pruned WHERE cause = ?1";
        Ok(connection.query_row(sql, [cause], |row| row.get::<_, i64>(0))?.cast_unsigned())
    };
    Ok(Pruned {
        by_rows: of("rows")?,
        by_bytes: of("bytes")? + of("share")?,
        by_age: of("age")?,
        tombstones: of("tombstones")?,
    })
}

/// Says what is wrong with a row that the engine could not read: to the store, rows are bytes.
pub(crate) type RowCheck = fn(&RowRecord) -> Option<String>;

/// The most defects that a report names.
const DEFECTS_MAX: usize = 100;

/// Reads and counts every record; stops at the first damaged one.
fn read_all(connection: &Connection, rows: RowCheck, report: &mut StoreReport) -> Result<(), StoreFault> {
    // One transaction: a fact that is pruned between two reads would look like a break in the chain.
    connection.execute_batch("BEGIN").map_err(|error| connection::unreadable(&error))?;
    read_facts(connection, report)?;
    let mut after: Option<std::sync::Arc<str>> = None;
    loop {
        let chunk = read::rows_after(connection, after.as_deref())?;
        let Some(last) = chunk.last() else { return Ok(()) };
        after = Some(last.key.clone());
        report.counts.rows += chunk.len() as u64;
        report.counts.tombstones += chunk.iter().filter(|row| row.payload.is_none()).count() as u64;
        let room = DEFECTS_MAX.saturating_sub(report.defects.len());
        report.defects.extend(chunk.iter().filter_map(rows).take(room));
    }
}

fn read_facts(connection: &Connection, report: &mut StoreReport) -> Result<(), StoreFault> {
    let unreadable = |error| connection::unreadable(&error);
    // A store that was not upgraded yet has no chain.
    let is_chained = report.schema >= CHAINED;
    let mut check = if is_chained { Some(ChainCheck::begin(connection).map_err(unreadable)?) } else { None };
    let counts = &mut report.counts;
    read::each_fact(connection, report.schema, &mut |fact, hash| {
        if counts.facts == 0 {
            counts.first = fact.cursor;
        }
        counts.facts += 1;
        counts.fact_bytes += fact.bytes() as u64;
        counts.head = fact.cursor;
        check.as_mut().map_or(Ok(()), |check| check.follow(&fact, hash).map_err(unreadable))
    })?;
    let Some(ChainCheck { linked, gaps, broken, .. }) = check else { return Ok(()) };
    (counts.linked, counts.gaps) = (linked, gaps);
    report.defects.extend(broken.map(|cursor| {
        format!("another program changed the log: fact {cursor} does not follow from the one before it")
    }));
    Ok(())
}

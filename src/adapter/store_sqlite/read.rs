//! Reads facts and rows, and verifies each against its digest.

use std::borrow::Cow;
use std::sync::Arc;

use rusqlite::{Connection, Row, params};

use super::chain::Link;
use super::connection::unreadable;
use super::digest;
use super::index::{Index, Note, Rank, Removed};
use super::schema::{CHAINED, SHARED};
use super::shares::Part;
use crate::domain::{Cursor, Moment};
use crate::limits;
use crate::port::{FactRecord, HistoryCaps, HistoryQuery, LostHistory, RowRecord, StoreFault};

/// Reads the facts after a cursor, as many as fit into a chunk.
pub(super) fn facts_after(connection: &Connection, after: Cursor) -> Result<Vec<FactRecord>, StoreFault> {
    let sql = format!("SELECT {FACT} FROM fact WHERE cursor > ?1 ORDER BY cursor LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql).map_err(|error| unreadable(&error))?;
    let limit = number(limits::STORE_CHUNK_RECORDS.value);
    let mut rows =
        statement.query(params![number(after.number()), limit]).map_err(|error| unreadable(&error))?;
    let (mut chunk, mut bytes) = (Vec::new(), 0);
    // The bound is checked before a record is read, so that a single larger record still makes a
    // chunk.
    while bytes < limits::STORE_CHUNK_BYTES.value
        && let Some(row) = rows.next().map_err(|error| unreadable(&error))?
    {
        let fact = fact(row)?;
        bytes += fact.bytes() as u64;
        chunk.push(fact);
    }
    Ok(chunk)
}

/// Passes every fact of a store of this version to `take`, oldest first, with its hash if the table has hashes.
pub(super) fn each_fact(
    connection: &Connection,
    version: u32,
    take: &mut dyn FnMut(FactRecord, Option<Link>) -> Result<(), StoreFault>,
) -> Result<(), StoreFault> {
    let hash = if version >= CHAINED { "hash" } else { "NULL" };
    let sql = format!("SELECT {}, {hash} FROM fact ORDER BY cursor", of_version(FACT, version));
    let mut statement = connection.prepare(&sql).map_err(|error| unreadable(&error))?;
    let mut rows = statement.query([]).map_err(|error| unreadable(&error))?;
    while let Some(row) = rows.next().map_err(|error| unreadable(&error))? {
        // `FACT` has the columns 0 to 9.
        take(fact(row)?, row.get(10).map_err(|error| unreadable(&error))?)?;
    }
    Ok(())
}

/// Columns as a store of this version has them.
fn of_version(columns: &str, version: u32) -> Cow<'_, str> {
    if version >= SHARED { columns.into() } else { columns.replace("share", "NULL").into() }
}

/// Reads the rows after a key, as many as fit into a chunk.
pub(super) fn rows_after(connection: &Connection, after: Option<&str>) -> Result<Vec<RowRecord>, StoreFault> {
    // Without a key, start at the empty text: nothing sorts before it, and it may be a key itself.
    let (after, beyond) = (after.unwrap_or_default(), if after.is_some() { ">" } else { ">=" });
    let sql = format!(
        "SELECT key, revision, payload, at, digest FROM state WHERE key {beyond} ?1 ORDER BY key LIMIT ?2"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(|error| unreadable(&error))?;
    let limit = number(limits::STORE_CHUNK_RECORDS.value);
    let mut rows = statement.query(params![after, limit]).map_err(|error| unreadable(&error))?;
    let (mut chunk, mut bytes) = (Vec::new(), 0);
    while bytes < limits::STORE_CHUNK_BYTES.value
        && let Some(row) = rows.next().map_err(|error| unreadable(&error))?
    {
        let row = current(row)?;
        bytes += row.bytes() as u64;
        chunk.push(row);
    }
    Ok(chunk)
}

/// The facts that a page of history may consist of: found under the index's lock, read without it.
pub(super) enum Candidates {
    /// The facts with these cursors, newest first.
    Cursors(Vec<u64>),
    /// The facts in these ranges of cursors, newest first.
    Stretches(Vec<(u64, u64)>),
}

/// Looks up a query in the index.
pub(super) fn candidates(index: &Index, query: &HistoryQuery) -> Candidates {
    let before = query.before.map_or(u64::MAX, Cursor::number);
    let mut stretches = index.stretches(query.from, query.until);
    stretches.retain(|(first, _)| *first < before);
    let Some(schedule) = &query.schedule else { return Candidates::Stretches(stretches) };
    // The ranges are in falling order: skip those that begin after the cursor.
    let is_in_time = |cursor: &u64| {
        let place = stretches.partition_point(|(first, _)| first > cursor);
        stretches.get(place).is_some_and(|(_, last)| cursor <= last)
    };
    let within = query.within.as_deref();
    if within.is_some_and(|session| !index.is_within(schedule, session)) {
        return Candidates::Cursors(Vec::new());
    }
    let cursors = index.cursors_of(schedule).rev();
    Candidates::Cursors(cursors.filter(|cursor| *cursor < before).filter(is_in_time).collect())
}

/// Reads a page of history, newest first.
pub(super) fn history(
    connection: &Connection,
    query: &HistoryQuery,
    candidates: Candidates,
) -> Result<Vec<FactRecord>, StoreFault> {
    let mut page = Page { query, facts: Vec::new(), bytes: 0 };
    let stretches = match candidates {
        Candidates::Cursors(cursors) => cursors.into_iter().map(|cursor| (cursor, cursor)).collect(),
        Candidates::Stretches(stretches) => stretches,
    };
    let sql = format!("SELECT {FACT} FROM fact WHERE cursor BETWEEN ?1 AND ?2 ORDER BY cursor DESC");
    let mut statement = connection.prepare_cached(&sql).map_err(|error| unreadable(&error))?;
    let before = query.before.map_or(u64::MAX, Cursor::number);
    for (first, last) in stretches {
        let last = last.min(before - 1);
        let mut rows =
            statement.query(params![number(first), number(last)]).map_err(|error| unreadable(&error))?;
        while let Some(row) = rows.next().map_err(|error| unreadable(&error))? {
            page.offer(fact(row)?);
            if page.is_full() {
                return Ok(page.facts);
            }
        }
    }
    Ok(page.facts)
}

struct Page<'a> {
    query: &'a HistoryQuery,
    facts: Vec<FactRecord>,
    bytes: u64,
}

impl Page<'_> {
    /// Adds a fact if the query wants it. The index may name facts of another schedule (digests
    /// collide) or outside the period (blocks are coarse), so each fact is checked here.
    fn offer(&mut self, fact: FactRecord) {
        let HistoryQuery { schedule, from, until, .. } = self.query;
        let is_wanted = schedule.as_ref().is_none_or(|schedule| fact.schedule.as_ref() == Some(schedule))
            && from.is_none_or(|from| fact.at >= from)
            && until.is_none_or(|until| fact.at < until);
        if is_wanted {
            self.bytes += fact.bytes() as u64;
            self.facts.push(fact);
        }
    }

    fn is_full(&self) -> bool {
        let found = self.facts.len() as u64;
        found >= limits::STORE_CHUNK_RECORDS.value.min(self.query.limit as u64)
            || self.bytes >= limits::STORE_CHUNK_BYTES.value
    }
}

/// Returns the cursor of the last fact.
pub(super) fn head(connection: &Connection) -> rusqlite::Result<Cursor> {
    let head: i64 =
        connection.query_row("SELECT coalesce(max(cursor), 0) FROM fact", [], |row| row.get(0))?;
    Ok(Cursor::new(u64::try_from(head).unwrap_or_default()))
}

/// Reads which parts of the history were pruned.
pub(super) fn lost_history(connection: &Connection) -> rusqlite::Result<LostHistory> {
    // The other causes prune facts of one schedule or of one session. The tables below list those.
    let sql = "SELECT EXISTS (SELECT 1 FROM pruned WHERE cause IN ('bytes', 'age'))";
    let beginning = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    let mut lost = connection.prepare_cached("SELECT session, through FROM lost")?;
    let through = |row: &Row<'_>| {
        Ok((row.get_ref(0)?.as_str()?.into(), Cursor::new(row.get::<_, i64>(1)?.cast_unsigned())))
    };
    let sessions = lost.query_map([], through)?.collect::<rusqlite::Result<_>>()?;
    let mut lost = connection.prepare_cached("SELECT schedule, through FROM lost_schedule")?;
    let schedules = lost.query_map([], through)?.collect::<rusqlite::Result<_>>()?;
    Ok(LostHistory { beginning, sessions, schedules })
}

/// Builds the index of all facts, in one pass.
pub(super) fn index(connection: &Connection, caps: HistoryCaps) -> rusqlite::Result<Index> {
    let mut index = Index::new(caps);
    // The log is indexed before the store is upgraded, because a store that is refused is not changed.
    let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let sql = format!("SELECT {}, at, nanos FROM fact ORDER BY cursor", of_version(REMOVED, version));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let Removed { cursor, schedule, part, rank, bytes } = removed(row)?;
        // `REMOVED` has five columns, and the instant follows.
        let at = moment(row, 5)?;
        index.add(Note { cursor, schedule, part, rank, at, bytes });
    }
    Ok(index)
}

/// Reads the columns [`REMOVED`].
pub(super) fn removed(row: &Row<'_>) -> rusqlite::Result<Removed> {
    let key =
        |column| -> rusqlite::Result<_> { Ok(row.get_ref(column)?.as_str_or_null()?.map(digest::of_key)) };
    let schedule = key(1)?;
    let kind = row.get_ref(3)?.as_str()?;
    let (part, rank) = (Part::of(key(2)?, kind), Rank::of(kind));
    let (cursor, bytes): (i64, i64) = (row.get(0)?, row.get(4)?);
    Ok(Removed { cursor: cursor.cast_unsigned(), schedule, part, rank, bytes: bytes.cast_unsigned() })
}

fn fact(row: &Row<'_>) -> Result<FactRecord, StoreFault> {
    let read = |row: &Row<'_>| -> rusqlite::Result<(FactRecord, i64)> {
        let text = |column| -> rusqlite::Result<Option<Arc<str>>> {
            Ok(row.get_ref(column)?.as_str_or_null()?.map(Arc::from))
        };
        let fact = FactRecord {
            cursor: Cursor::new(row.get::<_, i64>(0)?.cast_unsigned()),
            at: moment(row, 1)?,
            kind: row.get_ref(3)?.as_str()?.into(),
            schedule: text(4)?,
            session: text(5)?,
            share: text(6)?,
            run: text(7)?,
            payload: row.get_ref(8)?.as_blob()?.into(),
        };
        Ok((fact, row.get(9)?))
    };
    let (fact, digest) = read(row).map_err(|error| unreadable(&error))?;
    if digest::of_fact(&fact) == digest {
        return Ok(fact);
    }
    Err(StoreFault::Damaged { what: format!("fact {} is not what was written", fact.cursor).into() })
}

fn current(row: &Row<'_>) -> Result<RowRecord, StoreFault> {
    let read = |row: &Row<'_>| -> rusqlite::Result<(RowRecord, i64, i64)> {
        let payload = row.get_ref(2)?.as_blob_or_null()?.map(Arc::from);
        let revision = row.get::<_, i64>(1)?.cast_unsigned();
        Ok((RowRecord { key: row.get_ref(0)?.as_str()?.into(), revision, payload }, row.get(3)?, row.get(4)?))
    };
    let (row, at, digest) = read(row).map_err(|error| unreadable(&error))?;
    if digest::of_row(&row, at) == digest {
        return Ok(row);
    }
    Err(StoreFault::Damaged { what: format!("the row of `{}` is not what was written", row.key).into() })
}

fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<Moment> {
    let (seconds, nanos) = (row.get(column)?, row.get(column + 1)?);
    Moment::new(seconds, nanos).ok_or(rusqlite::Error::IntegralValueOutOfRange(column, seconds))
}

/// Converts a bound to a column's type; above the largest value there is no record.
fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

const FACT: &str = "cursor, at, nanos, kind, schedule, session, share, run, payload, digest";
/// SQL for [`FactRecord::bytes`]; both must count alike.
macro_rules! bytes {
    () => {
        "octet_length(kind) + coalesce(octet_length(schedule), 0) + coalesce(octet_length(session), 0) \
         + coalesce(octet_length(share), 0) + coalesce(octet_length(run), 0) + octet_length(payload)"
    };
}
/// What the index has to know of a fact.
pub(super) const REMOVED: &str = concat!("cursor, schedule, coalesce(share, session), kind, ", bytes!());

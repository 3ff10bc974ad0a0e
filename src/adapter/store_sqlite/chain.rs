//! Hash chain over the log: shows a fact that another program has changed, removed or added.
//!
//! The hash of a fact covers the fact and the hash of the fact before it. A pruned fact leaves its hash in a gap, which
//! names the facts on both sides of it, so the store's own pruning is told from a removal by somebody else. A missing
//! newest fact is found by the high-water mark (`high_water`). The chain has no key: the owner of the file can write a
//! whole new one. Costs: one SHA-256 for each fact, and at most one row for each fact that is left.
//!
//! What lives elsewhere: the check against flipped bits, made on every read (`digest`).

use rusqlite::{Connection, OptionalExtension, Result, params};
use sha2::{Digest as _, Sha256};

use crate::domain::Cursor;
use crate::port::FactRecord;

/// The hash of a fact.
pub(super) type Link = [u8; 32];

/// What the first fact of the chain follows from.
pub(super) const ORIGIN: Link = [0; 32];

/// Computes the hash of a fact from the hash of the fact before it.
pub(super) fn link(before: &Link, fact: &FactRecord) -> Link {
    let mut hash = Sha256::new();
    hash.update(before);
    hash.update(fact.cursor.number().to_le_bytes());
    hash.update(fact.at.seconds().to_le_bytes());
    hash.update(fact.at.nanos().to_le_bytes());
    let keys = [Some(&fact.kind), fact.schedule.as_ref(), fact.session.as_ref(), fact.run.as_ref()];
    for text in keys.map(|key| key.map(|key| key.as_bytes())).into_iter().chain([Some(&*fact.payload)]) {
        // The length comes first, so that texts cannot be regrouped. No length is this large, so an
        // absent text differs from an empty one.
        hash.update(text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
        hash.update(text.unwrap_or_default());
    }
    // Only if there is one: the hashes of facts from before shares had a column stay valid.
    if let Some(share) = &fact.share {
        hash.update((share.len() as u64).to_le_bytes());
        hash.update(share.as_bytes());
    }
    hash.finalize().into()
}

/// Reads the hash that the next fact follows from.
pub(super) fn head(connection: &Connection) -> Result<Link> {
    Ok(before(connection, i64::MAX)?.unwrap_or(ORIGIN))
}

/// Reads the hash of the last fact before a cursor; `None` if there is none, or it is older than the chain.
fn before(connection: &Connection, cursor: i64) -> Result<Option<Link>> {
    let sql = "SELECT hash FROM fact WHERE cursor < ?1 ORDER BY cursor DESC LIMIT 1";
    let found = connection.prepare_cached(sql)?.query_row([cursor], |row| row.get(0)).optional()?;
    Ok(found.flatten())
}

/// Facts that were deleted and between which none is left.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    pub(super) first: i64,
    pub(super) last: i64,
    /// The hash of the last one; `None` if it is older than the chain.
    pub(super) hash: Option<Link>,
}

impl Stretch {
    /// Adds a fact that was deleted together with these.
    pub(super) fn add(stretch: Option<Stretch>, cursor: i64, hash: Option<Link>) -> Stretch {
        let Some(Stretch { first, last, hash: newest }) = stretch else {
            return Stretch { first: cursor, last: cursor, hash };
        };
        // Deleted rows come in any order.
        let hash = if cursor > last { hash } else { newest };
        Stretch { first: first.min(cursor), last: last.max(cursor), hash }
    }

    /// Notes the gap, so that the fact behind these still follows from the last of them.
    pub(super) fn leave_gap(&self, connection: &Connection) -> Result<()> {
        let Stretch { first, last, hash } = self;
        // If there is a gap right before these facts, the new one begins where that one did.
        let sql = "SELECT kept FROM gap WHERE cursor = ?1";
        let kept = connection.prepare_cached(sql)?.query_row([first], |row| row.get(0)).optional()?;
        // Gaps before deleted facts become a part of the new one.
        let sql = "DELETE FROM gap WHERE cursor BETWEEN ?1 AND ?2";
        connection.prepare_cached(sql)?.execute([first, last])?;
        // What follows a fact without a hash begins the chain, or has none either.
        let Some(hash) = hash else { return Ok(()) };
        let kept: Link = match kept {
            Some(kept) => kept,
            None => before(connection, *first)?.unwrap_or(ORIGIN),
        };
        connection.prepare_cached(NOTE_GAP)?.execute(params![last, kept, hash])?;
        Ok(())
    }
}

/// Checks the chain, fact by fact.
pub(super) struct ChainCheck<'a> {
    connection: &'a Connection,
    starts_after: Cursor,
    /// The hash of the fact before the next one.
    before: Link,
    /// How many facts have a hash, and how many gaps are between them.
    pub(super) linked: u64,
    pub(super) gaps: u64,
    /// The first fact that does not follow from the one before it.
    pub(super) broken: Option<Cursor>,
}

impl<'a> ChainCheck<'a> {
    pub(super) fn begin(connection: &'a Connection) -> Result<ChainCheck<'a>> {
        let sql = "SELECT coalesce(max(starts_after), 0) FROM chain";
        let starts_after: i64 = connection.query_row(sql, [], |row| row.get(0))?;
        let starts_after = Cursor::new(starts_after.cast_unsigned());
        Ok(ChainCheck { connection, starts_after, before: ORIGIN, linked: 0, gaps: 0, broken: None })
    }

    /// Checks the next fact against its hash.
    pub(super) fn follow(&mut self, fact: &FactRecord, hash: Option<Link>) -> Result<()> {
        let Some(hash) = hash else {
            if fact.cursor > self.starts_after {
                self.broken.get_or_insert(fact.cursor);
            }
            return Ok(());
        };
        let sql = "SELECT kept, pruned FROM gap WHERE cursor = ?1";
        let gap = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Link>(0)?, row.get::<_, Link>(1)?));
        let cursor = fact.cursor.number().cast_signed();
        let gap = self.connection.prepare_cached(sql)?.query_row([cursor], gap).optional()?;
        let (kept, before) = gap.unwrap_or((self.before, self.before));
        if kept != self.before || link(&before, fact) != hash {
            self.broken.get_or_insert(fact.cursor);
        }
        self.before = hash;
        self.linked += 1;
        self.gaps += u64::from(gap.is_some());
        Ok(())
    }
}

/// Notes a gap before the first fact behind a cursor. A gap right behind is continued to the front.
// No `min(cursor)`: beside other columns SQLite reads all facts behind the cursor for it.
const NOTE_GAP: &str = "INSERT INTO gap (cursor, kept, pruned)
     SELECT cursor, ?2, ?3 FROM fact WHERE cursor > ?1 ORDER BY cursor LIMIT 1
     ON CONFLICT (cursor) DO UPDATE SET kept = excluded.kept";

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    /// A gap is noted for each stretch of facts that is pruned, so its cost must not grow with the log.
    #[test]
    fn a_gap_is_noted_without_reading_the_log() {
        let connection = Connection::open_in_memory().expect("memory");
        connection
            .execute_batch(
                "CREATE TABLE fact (cursor INTEGER PRIMARY KEY) STRICT;
                 CREATE TABLE gap (cursor INTEGER PRIMARY KEY, kept BLOB NOT NULL, pruned BLOB NOT NULL) STRICT;
                 WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
                 INSERT INTO fact SELECT i FROM n;",
            )
            .expect("SQL");
        let mut note = connection.prepare(NOTE_GAP).expect("SQL");
        note.execute(params![9, ORIGIN, ORIGIN]).expect("a gap");
        let steps = note.get_status(StatementStatus::VmStep);
        assert!(steps < 100, "{steps} steps of SQLite");
        let cursor: i64 = connection.query_row("SELECT cursor FROM gap", [], |row| row.get(0)).expect("one");
        assert_eq!(cursor, 10);
    }
}

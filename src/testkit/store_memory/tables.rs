//! Tables of the store in memory: facts, rows, and counts of what was pruned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::domain::Cursor;
use crate::port::{Batch, FactRecord, HistoryCaps, Pruned, RowRecord, StoreFault};

/// The committed data.
pub(super) struct CommittedTables {
    pub(super) caps: HistoryCaps,
    pub(super) facts: BTreeMap<Cursor, FactRecord>,
    /// The facts of each schedule, so that pruning one schedule does not scan the whole log.
    of_schedule: BTreeMap<Arc<str>, BTreeSet<Cursor>>,
    pub(super) fact_bytes: u64,
    pub(super) rows: BTreeMap<String, TimedRow>,
    pub(super) tombstones: usize,
    pub(super) pruned: Pruned,
    newest: i64,
    /// The last committed fact.
    pub(super) last: Cursor,
}

/// A row, and the second at which it was written.
pub(super) struct TimedRow {
    pub(super) row: RowRecord,
    at: i64,
}

impl CommittedTables {
    pub(super) fn new(caps: HistoryCaps) -> CommittedTables {
        CommittedTables {
            caps,
            facts: BTreeMap::new(),
            of_schedule: BTreeMap::new(),
            fact_bytes: 0,
            rows: BTreeMap::new(),
            tombstones: 0,
            pruned: Pruned::default(),
            newest: i64::MIN,
            last: Cursor::START,
        }
    }

    /// Commits a batch, and prunes what exceeds the caps.
    pub(super) fn put(&mut self, batch: Batch) {
        let at = batch.facts.iter().map(|fact| fact.at.seconds()).max().unwrap_or_default();
        self.newest = self.newest.max(at);
        for fact in batch.facts {
            self.last = fact.cursor;
            self.fact_bytes += fact.bytes() as u64;
            let (cursor, schedule) = (fact.cursor, fact.schedule.clone());
            self.facts.insert(cursor, fact);
            if let Some(schedule) = schedule {
                self.count_in(&schedule, cursor);
            }
        }
        for row in batch.rows {
            self.tombstones += usize::from(row.payload.is_none());
            let former = self.rows.insert(row.key.to_string(), TimedRow { row, at });
            self.tombstones -= former.iter().filter(|kept| kept.row.payload.is_none()).count();
        }
        self.prune();
    }

    /// Returns the fault for a row that is not newer than the stored one.
    pub(super) fn stale(&self, batch: &Batch) -> Option<StoreFault> {
        let is_stale =
            |row: &&RowRecord| self.rows.get(&*row.key).is_some_and(|kept| kept.row.revision >= row.revision);
        let row = batch.rows.iter().find(is_stale)?;
        Some(StoreFault::StaleRow { key: row.key.clone(), revision: row.revision })
    }

    fn prune(&mut self) {
        let days = i64::try_from(self.caps.days.saturating_mul(86_400)).unwrap_or(i64::MAX);
        let horizon = self.newest.saturating_sub(days);
        // The log is in the order of cursors, so the oldest facts are first, and pruning stops at
        // the first one that may stay.
        while let Some((cursor, fact)) = self.facts.first_key_value() {
            let cursor = *cursor;
            if fact.at.seconds() < horizon {
                self.pruned.by_age += 1;
            } else if self.fact_bytes > self.caps.bytes {
                self.pruned.by_bytes += 1;
            } else {
                break;
            }
            self.forget(cursor);
        }
        if self.tombstones > 0 {
            let before = self.rows.len();
            self.rows.retain(|_, kept| kept.row.payload.is_some() || kept.at >= horizon);
            let gone = before - self.rows.len();
            self.tombstones -= gone;
            self.pruned.tombstones += gone as u64;
        }
    }

    /// Counts a fact among those of its schedule; beyond the cap, the schedule's oldest fact is
    /// pruned.
    fn count_in(&mut self, schedule: &Arc<str>, cursor: Cursor) {
        let cursors = self.of_schedule.entry(Arc::clone(schedule)).or_default();
        cursors.insert(cursor);
        let gone = if cursors.len() as u64 > self.caps.schedule_rows { cursors.pop_first() } else { None };
        if let Some(gone) = gone {
            self.pruned.by_rows += 1;
            self.forget(gone);
        }
    }

    fn forget(&mut self, cursor: Cursor) {
        let Some(fact) = self.facts.remove(&cursor) else { return };
        self.fact_bytes -= fact.bytes() as u64;
        if let Some(schedule) = &fact.schedule
            && let Some(cursors) = self.of_schedule.get_mut(schedule)
        {
            cursors.remove(&cursor);
            if cursors.is_empty() {
                self.of_schedule.remove(schedule);
            }
        }
    }
}

//! Tables of the store in memory: facts, rows, and counts of what was pruned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::domain::Cursor;
use crate::limits;
use crate::port::{
    Batch, EDITS_PART, FactRecord, HistoryBytes, HistoryCaps, LostHistory, Pruned, RowRecord, StoreFault,
    is_creation, is_edit,
};

/// The committed data.
pub(super) struct CommittedTables {
    pub(super) caps: HistoryCaps,
    pub(super) facts: BTreeMap<Cursor, FactRecord>,
    /// The facts of each schedule, so that pruning one schedule does not scan the whole log.
    of_schedule: BTreeMap<Arc<str>, BTreeSet<Cursor>>,
    pub(super) fact_bytes: u64,
    /// The facts in the share of each session.
    shares: BTreeMap<Arc<str>, Share>,
    pub(super) lost: LostHistory,
    pub(super) rows: BTreeMap<String, TimedRow>,
    pub(super) tombstones: usize,
    pub(super) pruned: Pruned,
    newest: i64,
    /// The last committed fact.
    pub(super) last: Cursor,
}

/// The facts in the share of one session, and the edits among them.
#[derive(Default)]
struct Share {
    bytes: u64,
    facts: BTreeSet<Cursor>,
    edit_bytes: u64,
    edits: BTreeSet<Cursor>,
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
            shares: BTreeMap::new(),
            lost: LostHistory::default(),
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
            self.enter_share(&fact);
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

    pub(super) fn history_bytes(&self, session: Option<&str>) -> HistoryBytes {
        let of = |share: &Share| share.bytes;
        let of_session = session.and_then(|session| self.shares.get(session)).map_or(0, of);
        let largest = self.shares.values().map(of).max().unwrap_or(0);
        HistoryBytes { all: self.fact_bytes, largest, of_session }
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
        while self.fact_bytes > self.caps.bytes
            && let Some(cursor) = self.over_share()
        {
            self.pruned.by_bytes += 1;
            // The share may be another session's than the one whose history the fact is.
            if let Some(session) = self.facts.get(&cursor).and_then(|fact| fact.session.clone()) {
                let through = self.lost.sessions.entry(session).or_default();
                *through = cursor.max(*through);
            }
            self.forget(cursor);
        }
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
            self.lost.beginning = true;
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

    /// Counts a fact among those of its schedule; beyond the cap, the schedule's oldest edit or fact is
    /// pruned, but never its creation.
    fn count_in(&mut self, schedule: &Arc<str>, cursor: Cursor) {
        let cursors = self.of_schedule.entry(Arc::clone(schedule)).or_default();
        cursors.insert(cursor);
        let cap = self.caps.schedule_rows;
        if cursors.len() as u64 <= cap {
            return;
        }
        let kind_is =
            |cursor: &Cursor, is: fn(&str) -> bool| self.facts.get(cursor).is_some_and(|fact| is(&fact.kind));
        let mut edits = cursors.iter().filter(|cursor| kind_is(cursor, is_edit));
        let creation = cursors.iter().rfind(|cursor| kind_is(cursor, is_creation));
        let gone = if edits.clone().count() as u64 > cap / EDITS_PART {
            edits.next()
        } else {
            cursors.iter().find(|cursor| Some(*cursor) != creation)
        };
        if let Some(gone) = gone.copied() {
            self.pruned.by_rows += 1;
            let through = self.lost.schedules.entry(Arc::clone(schedule)).or_default();
            *through = gone.max(*through);
            self.forget(gone);
        }
    }

    fn forget(&mut self, cursor: Cursor) {
        let Some(fact) = self.facts.remove(&cursor) else { return };
        self.fact_bytes -= fact.bytes() as u64;
        self.leave_share(&fact);
        if let Some(schedule) = &fact.schedule
            && let Some(cursors) = self.of_schedule.get_mut(schedule)
        {
            cursors.remove(&cursor);
            if cursors.is_empty() {
                self.of_schedule.remove(schedule);
            }
        }
    }

    fn enter_share(&mut self, fact: &FactRecord) {
        let Some(session) = fact.sharer() else { return };
        let share = self.shares.entry(Arc::clone(session)).or_default();
        share.bytes += fact.bytes() as u64;
        share.facts.insert(fact.cursor);
        if is_edit(&fact.kind) {
            share.edit_bytes += fact.bytes() as u64;
            share.edits.insert(fact.cursor);
        }
    }

    fn leave_share(&mut self, fact: &FactRecord) {
        let Some(session) = fact.sharer() else { return };
        let Some(share) = self.shares.get_mut(session) else { return };
        share.bytes -= fact.bytes() as u64;
        share.facts.remove(&fact.cursor);
        if share.edits.remove(&fact.cursor) {
            share.edit_bytes -= fact.bytes() as u64;
        }
        if share.facts.is_empty() {
            self.shares.remove(session);
        }
    }

    /// Returns the fact to prune next of the largest session, if that one is over its share.
    fn over_share(&self) -> Option<Cursor> {
        let share = self.caps.bytes / (self.shares.len() as u64).clamp(1, limits::HISTORY_SHARES.value);
        let of = self.shares.values().max_by_key(|of| of.bytes)?;
        let from = if of.edit_bytes > share / EDITS_PART { &of.edits } else { &of.facts };
        from.first().filter(|_| of.bytes > share).copied()
    }
}

//! Index of the log in memory: which facts are about a schedule, which are in a range of time, and
//! how many there are.
//!
//! Shape: for each schedule, identified by a digest of its key, the cursors of its facts; for each
//! 1,024 facts of the log, a block with their first and last instant. Costs: about 40 bytes per
//! schedule and 8 per fact; an append is one lookup. The caps bound it together with the log. Why
//! not an index in the file: every fact would touch one more page, at a random place, that has to
//! be flushed with it. Invariant: the index may name facts that were pruned, and mix two schedules
//! whose digests collide, so readers check what they find; it never lacks a fact that is in the
//! log.

use std::collections::{BTreeSet, VecDeque};

use hashbrown::HashMap;

use super::digest;
use super::shares::{Part, Shares};
use crate::domain::Moment;
use crate::limits;
use crate::port::{EDITS_PART, HistoryBytes, HistoryCaps, is_creation, is_edit};

/// The index of the log, with counts for the caps.
pub(super) struct Index {
    caps: HistoryCaps,
    schedules: HashMap<u64, Cursors>,
    /// Schedules that have more facts than the cap allows.
    crowded: BTreeSet<u64>,
    blocks: VecDeque<Block>,
    shares: Shares,
    pub(super) facts: u64,
    pub(super) bytes: u64,
    /// The seconds of the latest facts. Age counts from the smallest, not from a clock: a wall clock that is wrong for a moment,
    /// far in the future, must not make the whole log too old.
    latest: VecDeque<i64>,
    /// Tombstones older than this second were already pruned.
    swept: i64,
}

/// Cursors of one schedule. Most schedules have few facts, and many have one, which needs no
/// allocation.
enum Cursors {
    One(Entry),
    Many(Vec<Entry>),
}

/// The cursor of a fact, and its rank in the lowest bits: a log has no `2^62` facts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u64);

impl Entry {
    fn new(cursor: u64, rank: Rank) -> Entry {
        let rank = match rank {
            Rank::Edit => EDIT,
            Rank::Other => 0,
            Rank::Creation => CREATION,
        };
        Entry((cursor << RANK_BITS) | rank)
    }

    fn cursor(self) -> u64 {
        self.0 >> RANK_BITS
    }

    fn is_edit(self) -> bool {
        self.0 & EDIT != 0
    }

    fn is_creation(self) -> bool {
        self.0 & CREATION != 0
    }
}

/// A range of the log with up to `BLOCK_FACTS` facts.
#[derive(Clone, Copy)]
struct Block {
    first: u64,
    last: u64,
    from: Moment,
    until: Moment,
    facts: u64,
}

/// The part of a fact that the index needs.
#[derive(Clone, Copy)]
pub(super) struct Note {
    pub(super) cursor: u64,
    pub(super) schedule: Option<u64>,
    /// In whose share of the log it counts.
    pub(super) part: Option<Part>,
    pub(super) rank: Rank,
    pub(super) at: Moment,
    pub(super) bytes: u64,
}

/// A fact that was deleted from the log.
pub(super) struct Removed {
    pub(super) cursor: u64,
    pub(super) schedule: Option<u64>,
    pub(super) part: Option<Part>,
    pub(super) rank: Rank,
    pub(super) bytes: u64,
}

/// Which facts of a schedule are pruned first when it has too many.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rank {
    /// Pruned before all others while edits are more than a part of what a schedule may have.
    Edit,
    /// Pruned oldest first.
    Other,
    /// The newest one is not pruned: it says who made the schedule.
    Creation,
}

impl Rank {
    pub(super) fn of(kind: &str) -> Rank {
        match kind {
            kind if is_creation(kind) => Rank::Creation,
            kind if is_edit(kind) => Rank::Edit,
            _ => Rank::Other,
        }
    }
}

/// What is to be pruned in one transaction.
#[derive(Default)]
pub(super) struct PrunePlan {
    /// These facts, because their schedules have too many.
    pub(super) crowded: Vec<u64>,
    /// These facts, because the log is too large and their sessions are over their share of it.
    pub(super) shares: BTreeSet<u64>,
    /// This many of the oldest facts, because the log is too large.
    pub(super) oldest: u64,
    /// Facts up to this cursor because of their age, at most this many.
    pub(super) aged: Option<(u64, u64)>,
    /// Tombstones from before this second.
    pub(super) tombstones: Option<i64>,
}

impl PrunePlan {
    pub(super) fn facts(&self) -> u64 {
        self.crowded.len() as u64
            + self.shares.len() as u64
            + self.oldest
            + self.aged.map_or(0, |(_, count)| count)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.facts() == 0 && self.tombstones.is_none()
    }
}

impl Index {
    pub(super) fn new(caps: HistoryCaps) -> Index {
        Index {
            caps,
            schedules: HashMap::new(),
            crowded: BTreeSet::new(),
            blocks: VecDeque::new(),
            shares: Shares::default(),
            facts: 0,
            bytes: 0,
            latest: VecDeque::new(),
            swept: i64::MIN,
        }
    }

    /// Adds the next fact of the log.
    pub(super) fn add(&mut self, note: Note) {
        self.facts += 1;
        self.bytes += note.bytes;
        if self.latest.len() == LATEST {
            self.latest.pop_front();
        }
        self.latest.push_back(note.at.seconds());
        // Instants may go back between facts, because the wall clock may: take the extremes.
        match self.blocks.back_mut() {
            Some(block) if block.facts < BLOCK_FACTS => {
                block.last = note.cursor;
                block.from = block.from.min(note.at);
                block.until = block.until.max(note.at);
                block.facts += 1;
            }
            _ => {
                let (first, last) = (note.cursor, note.cursor);
                self.blocks.push_back(Block { first, last, from: note.at, until: note.at, facts: 1 });
            }
        }
        if let Some(part) = note.part {
            self.shares.add(part, note.cursor, note.bytes);
        }
        let Some(schedule) = note.schedule else { return };
        // An empty list allocates nothing, and `add` makes a single entry of it.
        let cursors = self.schedules.entry(schedule).or_insert_with(|| Cursors::Many(Vec::new()));
        if cursors.add(Entry::new(note.cursor, note.rank)) > self.caps.schedule_rows {
            self.crowded.insert(schedule);
        }
    }

    /// Removes a fact that was deleted from the log.
    pub(super) fn remove(&mut self, removed: &Removed) {
        let Removed { cursor, schedule, part, rank, bytes } = *removed;
        self.facts = self.facts.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
        // Blocks are in the order of cursors; the first that ends at or after the cursor holds it.
        let place = self.blocks.partition_point(|block| block.last < cursor);
        if let Some(block) = self.blocks.get_mut(place) {
            block.facts = block.facts.saturating_sub(1);
        }
        // Only empty blocks at the front are dropped: pruning mostly takes the oldest facts.
        while self.blocks.len() > 1 && self.blocks.front().is_some_and(|block| block.facts == 0) {
            self.blocks.pop_front();
        }
        if let Some(part) = part {
            self.shares.remove(part, cursor, bytes);
        }
        let Some(schedule) = schedule else { return };
        let left =
            self.schedules.get_mut(&schedule).map_or(0, |cursors| cursors.remove(Entry::new(cursor, rank)));
        if left == 0 {
            self.schedules.remove(&schedule);
        }
        if left as u64 <= self.caps.schedule_rows {
            self.crowded.remove(&schedule);
        }
    }

    /// Returns what the caps require to be pruned, at most `max` facts for each cap. Planned facts
    /// stay in the index until they are removed.
    pub(super) fn plan(&self, max: u64) -> PrunePlan {
        let mut plan = PrunePlan::default();
        self.plan_crowded(max, &mut plan);
        if let Some(excess) = self.bytes.checked_sub(self.caps.bytes).filter(|excess| *excess > 0) {
            let freed = self.shares.plan(self.caps.bytes, excess, max, &mut plan.shares);
            // The excess is in bytes, the plan in facts: estimate with the average size. The next
            // plan corrects it.
            let each = (self.bytes / self.facts.max(1)).max(1);
            plan.oldest = excess.saturating_sub(freed).div_ceil(each).min(max).min(self.facts);
        }
        let days = i64::try_from(self.caps.days.saturating_mul(86_400)).unwrap_or(i64::MAX);
        let horizon = self.latest.iter().copied().min().unwrap_or(i64::MIN).saturating_sub(days);
        // A block is pruned by age once all of it is too old, so age is exact to a block.
        if let Some(block) = self.blocks.front().filter(|block| self.end_of(block).seconds() < horizon) {
            plan.aged = Some((block.last, block.facts.min(max))).filter(|(_, count)| *count > 0);
        }
        // Deleting old tombstones searches the rows, so it is done once per hour of log time.
        if self.facts > 0 && horizon.saturating_sub(self.swept) >= SWEEP_SECONDS {
            plan.tombstones = Some(horizon);
        }
        plan
    }

    /// The instant by which the oldest block is over: that of its latest fact, unless a wall clock that was wrong for a moment
    /// has put it behind the beginning of the next block.
    fn end_of(&self, oldest: &Block) -> Moment {
        let next = self.blocks.get(1).map_or(oldest.until, |next| next.from.max(oldest.from));
        oldest.until.min(next)
    }

    /// Notes that the tombstones of a plan were pruned.
    pub(super) fn swept(&mut self, before: i64) {
        self.swept = before;
    }

    fn plan_crowded(&self, max: u64, plan: &mut PrunePlan) {
        let cap = usize::try_from(self.caps.schedule_rows).unwrap_or(usize::MAX);
        let edits_max = cap / usize::try_from(EDITS_PART).unwrap_or(usize::MAX);
        let mut left = usize::try_from(max).unwrap_or(usize::MAX);
        for schedule in &self.crowded {
            let cursors = self.schedules.get(schedule).map_or(&[][..], Cursors::as_slice);
            let excess = cursors.len().saturating_sub(cap).min(left);
            let all_edits = cursors.iter().filter(|entry| entry.is_edit());
            // A schedule can be edited without end, and its other facts are to outlive that.
            let edits = all_edits.clone().count().saturating_sub(edits_max).min(excess);
            let newest_edit = all_edits.clone().take(edits).last();
            // Earlier ones are about earlier schedules of this id.
            let creation = cursors.iter().rfind(|entry| entry.is_creation());
            let others = cursors.iter().filter(|entry| {
                // Without planned edits `newest_edit` is `None`, which is less than every entry.
                let is_planned = entry.is_edit() && Some(*entry) <= newest_edit;
                !is_planned && Some(*entry) != creation
            });
            let planned = all_edits.take(edits).chain(others.take(excess - edits));
            plan.crowded.extend(planned.map(|entry| entry.cursor()));
            left -= excess;
            if left == 0 {
                break;
            }
        }
    }

    /// Returns how many bytes the facts have.
    pub(super) fn history_bytes(&self, session: Option<&str>) -> HistoryBytes {
        let of_session = session.map_or(0, |session| self.shares.of(digest::of_key(session)));
        HistoryBytes { all: self.bytes, largest: self.shares.largest(), of_session }
    }

    /// Returns the cursors of the facts about a schedule, rising.
    pub(super) fn cursors_of(&self, schedule: &str) -> impl DoubleEndedIterator<Item = u64> + '_ {
        let entries = self.schedules.get(&digest::of_key(schedule)).map_or(&[][..], Cursors::as_slice);
        entries.iter().map(|entry| entry.cursor())
    }

    /// Returns whether the newest or the oldest fact about a schedule counts in the share of a session.
    pub(super) fn is_within(&self, schedule: &str, session: &str) -> bool {
        let session = digest::of_key(session);
        let mut cursors = self.cursors_of(schedule);
        let (newest, oldest) = (cursors.next_back(), cursors.next());
        newest.into_iter().chain(oldest).any(|cursor| self.shares.has(session, cursor))
    }

    /// Returns the ranges of the log, newest first, that may hold facts from a period, each as its
    /// first and last cursor.
    pub(super) fn stretches(&self, from: Option<Moment>, until: Option<Moment>) -> Vec<(u64, u64)> {
        let meets = |block: &&Block| {
            from.is_none_or(|from| block.until >= from) && until.is_none_or(|until| block.from < until)
        };
        self.blocks.iter().rev().filter(meets).map(|block| (block.first, block.last)).collect()
    }
}

impl Cursors {
    fn as_slice(&self) -> &[Entry] {
        match self {
            Cursors::One(cursor) => std::slice::from_ref(cursor),
            Cursors::Many(cursors) => cursors,
        }
    }

    /// Adds a cursor, and returns how many there are with it.
    fn add(&mut self, cursor: Entry) -> u64 {
        match self {
            Cursors::One(first) => *self = Cursors::Many(vec![*first, cursor]),
            Cursors::Many(cursors) if cursors.is_empty() => *self = Cursors::One(cursor),
            Cursors::Many(cursors) => cursors.push(cursor),
        }
        self.as_slice().len() as u64
    }

    /// Removes a cursor, and returns how many are left.
    fn remove(&mut self, cursor: Entry) -> usize {
        match self {
            Cursors::One(only) if *only == cursor => *self = Cursors::Many(Vec::new()),
            Cursors::One(_) => {}
            Cursors::Many(cursors) => {
                // The entries are sorted, because cursors rise in the log.
                if let Ok(place) = cursors.binary_search(&cursor) {
                    cursors.remove(place);
                }
            }
        }
        self.as_slice().len()
    }
}

const RANK_BITS: u32 = 2;
const EDIT: u64 = 1;
const CREATION: u64 = 2;
const BLOCK_FACTS: u64 = 1_024;
/// How many facts in a row a wall clock may be wrong for.
const LATEST: usize = 256;
const SWEEP_SECONDS: i64 = 3_600;

const _: () = assert!(limits::HISTORY_PRUNED.value <= BLOCK_FACTS);

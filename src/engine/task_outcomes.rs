//! Which outcomes of tasks are kept: how many bytes each family of sessions has of them, and which are dropped first.
//!
//! Invariants: an outcome is counted from the end of its run until it is dropped or its run's record goes; no family has more
//! than `limits::SESSION_OUTCOMES_BYTES`, and all together not more than `limits::OUTCOMES_BYTES`. Beyond the second bound the
//! family that has most loses its oldest, so that none can push out what another one has.

use std::collections::{BTreeMap, BTreeSet};

use super::slab::Key;
use super::state::State;
use crate::domain::SessionId;
use crate::limits;

impl State {
    /// Returns how many bytes of outcomes of tasks are kept for the family of this root.
    pub fn task_outcome_bytes_of(&self, root: &SessionId) -> u64 {
        self.task_outcomes.of_family(root)
    }

    /// Returns how many bytes of outcomes of tasks are kept for the family that has most.
    pub fn task_outcome_bytes_of_largest(&self) -> u64 {
        self.task_outcomes.sizes.last().map_or(0, |(bytes, _)| *bytes)
    }

    /// Returns how many bytes of outcomes of tasks are kept.
    pub fn task_outcome_bytes(&self) -> u64 {
        self.task_outcomes.bytes
    }
}

/// The outcomes that are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskOutcomes {
    kept: BTreeMap<Key, Kept>,
    families: BTreeMap<SessionId, OfFamily>,
    /// The families by their bytes, to find the one that has most.
    sizes: BTreeSet<(u64, SessionId)>,
    bytes: u64,
    /// The number of the last outcome.
    last: u64,
}

#[derive(Clone, Debug)]
struct Kept {
    root: SessionId,
    number: u64,
    bytes: u64,
}

#[derive(Clone, Debug, Default)]
struct OfFamily {
    bytes: u64,
    /// The runs with their outcomes' numbers, oldest first.
    runs: BTreeSet<(u64, Key)>,
}

impl TaskOutcomes {
    /// Counts the outcome of a run of this family.
    pub(super) fn add(&mut self, run: Key, root: SessionId, bytes: u64) {
        // A run that returned before is counted once, as the newest.
        self.remove(run);
        self.last += 1;
        let number = self.last;
        self.change(&root, |family| {
            family.bytes += bytes;
            family.runs.insert((number, run));
        });
        self.bytes += bytes;
        self.kept.insert(run, Kept { root, number, bytes });
    }

    /// Counts the outcome of a run no more, if it was counted.
    pub(super) fn remove(&mut self, run: Key) {
        let Some(Kept { root, number, bytes }) = self.kept.remove(&run) else { return };
        self.change(&root, |family| {
            family.bytes -= bytes;
            family.runs.remove(&(number, run));
        });
        self.bytes -= bytes;
    }

    /// Returns the run whose outcome has to be dropped, if there is one: of a family that has just got another one, or of any.
    pub(super) fn beyond(&self, root: &SessionId) -> Option<Key> {
        let is_full = self.of_family(root) > limits::SESSION_OUTCOMES_BYTES.value;
        let root = if is_full {
            root
        } else {
            let (_, largest) = self.sizes.last().filter(|_| self.bytes > limits::OUTCOMES_BYTES.value)?;
            largest
        };
        self.families.get(root)?.runs.first().map(|(_, run)| *run)
    }

    fn of_family(&self, root: &SessionId) -> u64 {
        self.families.get(root).map_or(0, |family| family.bytes)
    }

    fn change(&mut self, root: &SessionId, change: impl FnOnce(&mut OfFamily)) {
        // The family is taken out and put back, because the set of sizes is sorted by a value that changes.
        let mut family = self.families.remove(root).unwrap_or_default();
        self.sizes.remove(&(family.bytes, root.clone()));
        change(&mut family);
        // A family that has none left is not held, so that the table does not grow with what was.
        if !family.runs.is_empty() {
            self.sizes.insert((family.bytes, root.clone()));
            self.families.insert(root.clone(), family);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::slab::Slab;
    use super::*;

    /// Adds an outcome, and drops what has to go: the numbers of the runs that lost theirs.
    fn add(outcomes: &mut TaskOutcomes, run: Key, root: &str, bytes: u64) -> Vec<u32> {
        let root = SessionId::new(root).expect("an id");
        outcomes.add(run, root.clone(), bytes);
        let mut dropped = Vec::new();
        while let Some(oldest) = outcomes.beyond(&root) {
            outcomes.remove(oldest);
            dropped.push(oldest.number());
        }
        dropped
    }

    #[test]
    fn a_family_loses_its_oldest_and_the_largest_family_loses_for_all() {
        let (own, all) = (limits::SESSION_OUTCOMES_BYTES.value, limits::OUTCOMES_BYTES.value);
        let mut runs = Slab::new();
        let mut key = || runs.insert(());
        let mut outcomes = TaskOutcomes::default();
        let [first, second, third] = [key(), key(), key()];
        assert!(add(&mut outcomes, first, "a", own / 2).is_empty());
        assert!(add(&mut outcomes, second, "a", own / 2).is_empty());
        assert_eq!(add(&mut outcomes, third, "a", 1), [first.number()]);
        assert_eq!(outcomes.bytes, own / 2 + 1);
        // The record of a run goes, and with it what was counted.
        outcomes.remove(second);
        outcomes.remove(second);
        assert_eq!((outcomes.bytes, outcomes.families.len()), (1, 1));
        let families = all / own;
        for family in 0..families {
            let part = if family == 0 { own } else { own - 1 };
            let dropped = add(&mut outcomes, key(), &format!("f{family}"), part);
            assert!(dropped.is_empty(), "{family}: {dropped:?}");
        }
        // The family that has most loses its oldest, and not the one that came last.
        let before = outcomes.bytes;
        let dropped = add(&mut outcomes, key(), "late", all - before + 1);
        assert_eq!(dropped, [3]);
        let sum: u64 = outcomes.families.values().map(|family| family.bytes).sum();
        assert_eq!((sum, outcomes.families.len()), (outcomes.bytes, outcomes.sizes.len()));
        assert!(outcomes.bytes <= all);
    }
}

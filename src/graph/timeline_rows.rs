//! The rows of a timeline that have cells of their own; the others are counted together.
//!
//! Invariant: joining rows loses no slot: the counts of all cells of a bucket and a state add up to what they were.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::timeline_cell::TimelineState;
use crate::domain::Moment;

/// The slots of each bucket, row and state.
pub(super) type Counts = BTreeMap<Place, Counted>;
/// A bucket by its number, a row, and a state.
pub(super) type Place = (u64, Option<Box<str>>, TimelineState);

/// The slots of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) count: u64,
    /// The instant of the slot, if there is one slot alone.
    pub(super) at: Option<Moment>,
    /// Whether it counts the rows together that have no cells of their own.
    pub(super) is_of_others: bool,
}

impl Counted {
    /// Adds slots; `at` is the instant of a single one.
    pub(super) fn add(&mut self, count: u64, at: Option<Moment>) {
        self.count = self.count.saturating_add(count);
        // With a second slot the cell has no single instant any more.
        self.at = at.filter(|_| self.count == 1);
    }
}

/// Leaves `rows` rows their cells: those with trouble in the most buckets, then those that come first. Returns all cells by
/// bucket, those of the other rows last in each, and how many other rows there are, if there are any.
pub(super) fn join_others(counts: Counts, rows: Option<u32>) -> (Vec<(Place, Counted)>, Option<u64>) {
    let Some(most) = rows.and_then(|rows| usize::try_from(rows).ok()) else {
        return (counts.into_iter().collect(), None);
    };
    // The buckets of each row that have trouble, and its first bucket.
    let mut found: BTreeMap<&Option<Box<str>>, (BTreeSet<u64>, u64)> = BTreeMap::new();
    for (bucket, of, state) in counts.keys() {
        let (troubled, _) = found.entry(of).or_insert_with(|| (BTreeSet::new(), *bucket));
        if state.is_trouble() {
            troubled.insert(*bucket);
        }
    }
    if found.len() <= most {
        return (counts.into_iter().collect(), None);
    }
    let mut order: Vec<_> = found.into_iter().collect();
    // A stable sort: rows that are alike stay in the order of their names.
    order.sort_by_key(|(_, (troubled, first))| (Reverse(troubled.len()), *first));
    let own: BTreeSet<Option<Box<str>>> = order[..most].iter().map(|(of, _)| (*of).clone()).collect();
    let others = order.len() - most;
    let (mut cells, mut joined) = (Vec::new(), BTreeMap::<(u64, TimelineState), Counted>::new());
    for ((bucket, of, state), counted) in counts {
        if own.contains(&of) {
            cells.push(((bucket, of, state), counted));
        } else {
            joined.entry((bucket, state)).or_default().add(counted.count, counted.at);
        }
    }
    let of_others =
        |((bucket, state), counted)| ((bucket, None, state), Counted { is_of_others: true, ..counted });
    cells.extend(joined.into_iter().map(of_others));
    cells.sort_by_key(|((bucket, ..), _)| *bucket);
    (cells, Some(others as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Span;
    use TimelineState::{Delivered, Failed, WillFire};

    /// Some slots, each as bucket, row and state.
    fn counts() -> Counts {
        let slots = [
            (0, "a", Delivered),
            (0, "b", Delivered),
            (1, "b", Delivered),
            (1, "c", Failed),
            (2, "c", Failed),
            (2, "d", WillFire),
            (3, "e", Failed),
        ];
        let mut counts = Counts::new();
        for (number, (bucket, of, state)) in (0..).zip(slots) {
            let at = Moment::EPOCH.checked_add(Span::from_millis(number));
            counts.entry((bucket, Some(of.into()), state)).or_default().add(1, at);
        }
        counts
    }

    #[test]
    fn rows_with_trouble_come_first_and_no_slot_is_lost() {
        let (cells, others) = join_others(counts(), Some(2));
        assert_eq!(others, Some(3));
        let shown: Vec<_> = cells
            .iter()
            .map(|((bucket, of, state), counted)| {
                (
                    *bucket,
                    of.as_deref(),
                    state.name(),
                    counted.count,
                    counted.at.is_some(),
                    counted.is_of_others,
                )
            })
            .collect();
        let expected = [
            (0, None, "delivered", 2, false, true),
            (1, Some("c"), "failed", 1, true, false),
            (1, None, "delivered", 1, true, true),
            (2, Some("c"), "failed", 1, true, false),
            (2, None, "will-fire", 1, true, true),
            (3, Some("e"), "failed", 1, true, false),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn as_many_rows_as_there_are_stay_as_they_are() {
        for rows in [None, Some(5), Some(6)] {
            assert_eq!(join_others(counts(), rows), (counts().into_iter().collect(), None));
        }
    }
}

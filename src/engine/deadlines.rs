//! An ordered table of deadlines with at most one per record.
//!
//! Shape: a 4-ary heap of (deadline, sequence, key) in one vector, and an array that maps each key to its
//! place in the heap, so that cancelling needs no search. Cost, measured at a million entries in random
//! order: docs/BENCH.md. A `BTreeMap` took six times as long to insert. A hierarchical timer wheel took about
//! as long, but has to sort at expiry, because equal deadlines must come out in order. An entry takes 20
//! bytes on the boot clock and 24 on the wall clock, plus 4 for its place. The caller supplies the clock.
//! Invariant: entries come out in the total order (deadline, sequence).

use std::fmt;

use super::slab::Key;

const ARITY: usize = 4;
const NOWHERE: u32 = u32::MAX;

/// One deadline. Packed, because the four children of a node are compared at once: fewer bytes are fewer
/// cache lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub(super) struct Entry<D> {
    pub(super) deadline: D,
    pub(super) sequence: u64,
    pub(super) key: Key,
}

impl<D: Copy + Ord> Entry<D> {
    /// Compares by deadline, then sequence, then key. Written out so that the common case, different
    /// deadlines, needs one comparison.
    fn is_before(self, other: Entry<D>) -> bool {
        let (one, two) = (self.deadline, other.deadline);
        if one != two {
            return one < two;
        }
        // The braces copy the fields: a reference to a packed field may be misaligned.
        ({ self.sequence }, { self.key }) < ({ other.sequence }, { other.key })
    }
}

/// Deadlines in order.
#[derive(Clone, Debug)]
pub(super) struct Deadlines<D: Copy> {
    heap: Vec<Entry<D>>,
    places: Vec<u32>,
}

impl<D: Copy> Default for Deadlines<D> {
    fn default() -> Deadlines<D> {
        Deadlines { heap: Vec::new(), places: Vec::new() }
    }
}

impl<D: Copy + Ord + fmt::Debug> Deadlines<D> {
    /// Inserts a deadline, replacing the key's earlier one.
    pub(super) fn insert(&mut self, entry: Entry<D>) {
        self.remove(entry.key);
        self.heap.push(entry);
        self.rise(self.heap.len() - 1);
    }

    /// The keys, in no particular order.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        self.heap.iter().map(|entry| entry.key)
    }

    /// Removes the key's deadline; does nothing if it has none.
    pub(super) fn remove(&mut self, key: Key) {
        // The array of places is only as long as the largest key with a deadline so far.
        let Some(place) = self.places.get_mut(key.index()).filter(|place| **place != NOWHERE) else {
            return;
        };
        let place = std::mem::replace(place, NOWHERE) as usize;
        debug_assert!(place < self.heap.len(), "{key:?} stands at {place} of {}", self.heap.len());
        debug_assert!({ self.heap[place].key } == key, "{key:?} has the place of {:?}", self.heap[place]);
        // The last entry fills the gap. It may be earlier than the gap's ancestors, in another branch, so it
        // has to rise from there too.
        let last = self.heap.pop().expect("a place points into the heap");
        if place < self.heap.len() {
            let gap = self.sink_gap(place);
            self.heap[gap] = last;
            self.rise(gap);
        }
    }

    /// Returns the earliest deadline.
    pub(super) fn first(&self) -> Option<Entry<D>> {
        self.heap.first().copied()
    }

    /// Returns the key's deadline.
    pub(super) fn get(&self, key: Key) -> Option<D> {
        let place = self.places.get(key.index())?;
        self.heap.get(*place as usize).map(|entry| entry.deadline)
    }

    /// Returns the number of deadlines.
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns the number of deadlines that are not after `now`. Costs a step per due entry: below a later
    /// entry everything is later, and is not visited.
    pub(super) fn due(&self, now: D) -> u64 {
        let (mut places, mut due) = (vec![0], 0);
        while let Some(place) = places.pop() {
            if self.heap.get(place).is_some_and(|entry| { entry.deadline } <= now) {
                due += 1;
                places.extend(place * ARITY + 1..=place * ARITY + ARITY);
            }
        }
        due
    }

    /// Moves an entry up to its place, and updates the places of the entries that it passes.
    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / ARITY;
            let above = self.heap[parent];
            if !entry.is_before(above) {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, entry);
        // Checks the direct children only: checking the whole heap would cost O(n) per insert.
        let below = self.heap.iter().skip(place * ARITY + 1).take(ARITY);
        debug_assert!(
            below.copied().all(|it| !it.is_before(entry)),
            "{entry:?} at {place} stands above an earlier one"
        );
    }

    /// Moves a gap down to the bottom of the heap, each time pulling up the earliest child, and returns where
    /// the gap ends. The entry that will fill it comes from the bottom and nearly always belongs there, so
    /// comparing it on the way down would be wasted work; `rise` corrects the rest.
    fn sink_gap(&mut self, mut gap: usize) -> usize {
        loop {
            let first = gap * ARITY + 1;
            let Some(mut entry) = self.heap.get(first).copied() else { return gap };
            let mut child = first;
            for place in first + 1..self.heap.len().min(first + ARITY) {
                let other = self.heap[place];
                if other.is_before(entry) {
                    (child, entry) = (place, other);
                }
            }
            self.put(gap, entry);
            gap = child;
        }
    }

    fn put(&mut self, place: usize, entry: Entry<D>) {
        self.heap[place] = entry;
        *self.place(entry.key) = u32::try_from(place).unwrap_or(NOWHERE);
    }

    fn place(&mut self, key: Key) -> &mut u32 {
        let number = key.index();
        if number >= self.places.len() {
            self.places.resize(number + 1, NOWHERE);
        }
        &mut self.places[number]
    }
}

//! An ordered table of deadlines, one for each record that has one.
//!
//! Shape: a 4-ary heap of (deadline, sequence, key) in one vector, and for every key the place of its entry, so that a
//! cancel finds it without a search. Cost, measured at a million entries in random order: docs/BENCH.md; a `BTreeMap`
//! took six times as long to insert, a hierarchical wheel about the same but with a sort at expiry, since equal deadlines
//! must come out in order. 24 bytes an entry and 4 for its place. The clock is the caller's: boot time or the wall's. Invariant:
//! entries come out in the total order (deadline, sequence).

use std::fmt;

use super::slab::Key;

const ARITY: usize = 4;
const NOWHERE: u32 = u32::MAX;

/// One deadline; the order of the fields is the order of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry<D> {
    pub(super) deadline: D,
    pub(super) sequence: u64,
    pub(super) key: Key,
}

/// Deadlines in order.
#[derive(Clone, Debug)]
pub(super) struct Deadlines<D> {
    heap: Vec<Entry<D>>,
    places: Vec<u32>,
}

impl<D> Default for Deadlines<D> {
    fn default() -> Deadlines<D> {
        Deadlines { heap: Vec::new(), places: Vec::new() }
    }
}

impl<D: Copy + Ord + fmt::Debug> Deadlines<D> {
    /// Enters a deadline, replacing the key's earlier one.
    pub(super) fn insert(&mut self, entry: Entry<D>) {
        self.remove(entry.key);
        self.heap.push(entry);
        self.rise(self.heap.len() - 1);
    }

    /// Takes the key's deadline out; nothing happens if it has none.
    pub(super) fn remove(&mut self, key: Key) {
        // One that never had a deadline takes no place.
        let Some(place) = self.places.get_mut(key.0 as usize).filter(|place| **place != NOWHERE) else {
            return;
        };
        let place = std::mem::replace(place, NOWHERE) as usize;
        let last = self.heap.pop().expect("a place points into the heap");
        if place < self.heap.len() {
            self.heap[place] = last;
            self.rise(place);
            let place = *self.place(last.key) as usize;
            self.sink(place);
        }
    }

    /// The earliest.
    pub(super) fn first(&self) -> Option<Entry<D>> {
        self.heap.first().copied()
    }

    /// The key's deadline.
    pub(super) fn get(&self, key: Key) -> Option<D> {
        let place = self.places.get(key.0 as usize)?;
        self.heap.get(*place as usize).map(|entry| entry.deadline)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// How many are not after `now`; what stands below a later entry is later, and is not looked at.
    pub(super) fn due(&self, now: D) -> u64 {
        let (mut places, mut due) = (vec![0], 0);
        while let Some(place) = places.pop() {
            if self.heap.get(place).is_some_and(|entry| entry.deadline <= now) {
                due += 1;
                places.extend(place * ARITY + 1..=place * ARITY + ARITY);
            }
        }
        due
    }

    /// Moves the entry up to its place, and notes where it and those it passed now stand.
    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    /// Moves the entry down to its place.
    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let first = place * ARITY + 1;
            let children = first..(first + ARITY).min(self.heap.len());
            let Some(child) = children.min_by_key(|child| self.heap[*child]) else { break };
            if entry <= self.heap[child] {
                break;
            }
            self.put(place, self.heap[child]);
            place = child;
        }
        self.put(place, entry);
        debug_assert!(
            place == 0 || self.heap[(place - 1) / ARITY] <= entry,
            "{entry:?} at {place} stands below a later one"
        );
    }

    fn put(&mut self, place: usize, entry: Entry<D>) {
        self.heap[place] = entry;
        *self.place(entry.key) = u32::try_from(place).unwrap_or(NOWHERE);
    }

    fn place(&mut self, key: Key) -> &mut u32 {
        let number = key.0 as usize;
        if number >= self.places.len() {
            self.places.resize(number + 1, NOWHERE);
        }
        &mut self.places[number]
    }
}

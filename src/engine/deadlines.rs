//! An ordered table of deadlines, one for each record that has one.
//!
//! Shape: a 4-ary heap of (deadline, sequence, key) in one vector, and for every key the place of its entry, so that a
//! cancel finds it without a search. Cost, measured at a million entries in random order: docs/BENCH.md; a `BTreeMap`
//! took six times as long to insert, a hierarchical wheel about the same but with a sort at expiry, since equal deadlines
//! must come out in order. 20 bytes an entry on the boot clock, 24 on the wall's, and 4 for its place. The clock is the
//! caller's. Invariant: entries come out in the total order (deadline, sequence).

use std::fmt;

use super::slab::Key;

const ARITY: usize = 4;
const NOWHERE: u32 = u32::MAX;

/// One deadline. Packed: a million of them are looked through four at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub(super) struct Entry<D> {
    pub(super) deadline: D,
    pub(super) sequence: u64,
    pub(super) key: Key,
}

impl<D: Copy + Ord> Entry<D> {
    /// By deadline, then by sequence, then by key: by hand, because nearly always the deadlines differ.
    fn is_before(self, other: Entry<D>) -> bool {
        let (one, two) = (self.deadline, other.deadline);
        if one != two {
            return one < two;
        }
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
    /// Enters a deadline, replacing the key's earlier one.
    pub(super) fn insert(&mut self, entry: Entry<D>) {
        self.remove(entry.key);
        self.heap.push(entry);
        self.rise(self.heap.len() - 1);
    }

    /// Takes the key's deadline out; nothing happens if it has none.
    pub(super) fn remove(&mut self, key: Key) {
        // One that never had a deadline takes no place.
        let Some(place) = self.places.get_mut(key.index()).filter(|place| **place != NOWHERE) else {
            return;
        };
        let place = std::mem::replace(place, NOWHERE) as usize;
        debug_assert!(place < self.heap.len(), "{key:?} stands at {place} of {}", self.heap.len());
        debug_assert!({ self.heap[place].key } == key, "{key:?} has the place of {:?}", self.heap[place]);
        let last = self.heap.pop().expect("a place points into the heap");
        if place < self.heap.len() {
            let gap = self.sink_gap(place);
            self.heap[gap] = last;
            self.rise(gap);
        }
    }

    /// The earliest.
    pub(super) fn first(&self) -> Option<Entry<D>> {
        self.heap.first().copied()
    }

    /// The key's deadline.
    pub(super) fn get(&self, key: Key) -> Option<D> {
        let place = self.places.get(key.index())?;
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
            if self.heap.get(place).is_some_and(|entry| { entry.deadline } <= now) {
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
            let above = self.heap[parent];
            if !entry.is_before(above) {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, entry);
        let below = self.heap.iter().skip(place * ARITY + 1).take(ARITY);
        debug_assert!(
            below.copied().all(|it| !it.is_before(entry)),
            "{entry:?} at {place} stands above an earlier one"
        );
    }

    /// Moves a gap down to the last row, each time up in its place the earliest of those below it, and says where it is then.
    /// What fills it comes from the last row itself, and belongs near there: to compare it on the way would be for nothing.
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

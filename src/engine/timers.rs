//! The one ordered table of deadlines.
//!
//! Shape: a 4-ary heap of (deadline, sequence, timer) in one vector, and for every timer the place of its entry, so
//! that a cancel finds it without a search. Cost, measured at a million entries in random order of deadlines: see
//! docs/BENCH.md; a `BTreeMap` took six times as long to insert, a hierarchical wheel about the same but with a sort
//! at expiry, since equal deadlines must come out in order. 24 bytes an entry and 4 for its place. Range: the
//! whole of [`BootTime`], 584 years. Invariant: entries come out in the total order (deadline, sequence), and the
//! sequence is that of insertion.

use super::slab::Key;
use crate::domain::BootTime;

const ARITY: usize = 4;
const NOWHERE: u32 = u32::MAX;
/// The top bit of an entry's number tells a session's timer from a schedule's.
const SESSION_BIT: u32 = 1 << 31;

/// Whose deadline it is. Each has at most one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// A pending schedule's slot, or the receipt of its run in flight.
    Schedule(Key),
    /// The turn that a session's host is presumed to be starting.
    Session(Key),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    deadline: BootTime,
    sequence: u64,
    packed: u32,
}

/// Deadlines in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    heap: Vec<Entry>,
    schedule_places: Vec<u32>,
    session_places: Vec<u32>,
    sequence: u64,
}

impl Timers {
    /// Sets the timer, replacing its earlier deadline.
    pub(crate) fn set(&mut self, timer: Timer, deadline: BootTime) {
        self.clear(timer);
        let entry = Entry { deadline, sequence: self.sequence, packed: pack(timer) };
        self.sequence += 1;
        self.heap.push(entry);
        self.rise(self.heap.len() - 1);
    }

    /// Clears the timer; nothing happens if it is not set.
    pub(crate) fn clear(&mut self, timer: Timer) {
        let packed = pack(timer);
        let place = *self.place(packed);
        if place == NOWHERE {
            return;
        }
        *self.place(packed) = NOWHERE;
        let place = place as usize;
        let last = self.heap.pop().expect("a place points into the heap");
        if place < self.heap.len() {
            self.heap[place] = last;
            self.rise(place);
            let place = *self.place(last.packed) as usize;
            self.sink(place);
        }
    }

    /// The earliest deadline and whose it is.
    pub(crate) fn first(&self) -> Option<(BootTime, Timer)> {
        self.heap.first().map(|entry| (entry.deadline, unpack(entry.packed)))
    }

    /// The timer's deadline, if it is set.
    pub(crate) fn deadline(&self, timer: Timer) -> Option<BootTime> {
        let packed = pack(timer);
        let places = if packed & SESSION_BIT == 0 { &self.schedule_places } else { &self.session_places };
        let place = places.get((packed & !SESSION_BIT) as usize)?;
        self.heap.get(*place as usize).map(|entry| entry.deadline)
    }

    /// How many timers are set.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
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
            let Some(child) = children.min_by_key(|child| self.heap[*child]) else {
                break;
            };
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

    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        *self.place(entry.packed) = u32::try_from(place).unwrap_or(NOWHERE);
    }

    fn place(&mut self, packed: u32) -> &mut u32 {
        let places =
            if packed & SESSION_BIT == 0 { &mut self.schedule_places } else { &mut self.session_places };
        let number = (packed & !SESSION_BIT) as usize;
        if number >= places.len() {
            places.resize(number + 1, NOWHERE);
        }
        &mut places[number]
    }
}

fn pack(timer: Timer) -> u32 {
    match timer {
        Timer::Schedule(key) => key.0,
        Timer::Session(key) => key.0 | SESSION_BIT,
    }
}

fn unpack(packed: u32) -> Timer {
    let key = Key(packed & !SESSION_BIT);
    if packed & SESSION_BIT == 0 { Timer::Schedule(key) } else { Timer::Session(key) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The heap against the plain ordered map that it stands for.
        #[test]
        fn timers_come_out_in_total_order(steps in prop::collection::vec((0_u32..40, 0_u64..20, 0_u8..4), 1..300)) {
            let mut timers = Timers::default();
            let mut model: BTreeMap<(u64, u64), u32> = BTreeMap::new();
            for (sequence, (number, deadline, action)) in steps.into_iter().enumerate() {
                let timer = if number % 2 == 0 { Timer::Schedule(Key(number)) } else { Timer::Session(Key(number)) };
                model.retain(|_, other| *other != number);
                if action == 0 {
                    timers.clear(timer);
                } else {
                    timers.set(timer, BootTime::from_nanos(deadline));
                    model.insert((deadline, sequence as u64), number);
                }
                prop_assert_eq!(timers.len(), model.len());
                let first = timers.first().map(|(deadline, timer)| (deadline.nanos(), pack(timer) & !SESSION_BIT));
                prop_assert_eq!(first, model.first_key_value().map(|((deadline, _), number)| (*deadline, *number)));
                prop_assert_eq!(timers.deadline(timer).is_some(), action != 0);
            }
            let mut drained = Vec::new();
            while let Some((_, timer)) = timers.first() {
                drained.push(pack(timer) & !SESSION_BIT);
                timers.clear(timer);
            }
            prop_assert_eq!(drained, model.into_values().collect::<Vec<_>>());
        }
    }
}

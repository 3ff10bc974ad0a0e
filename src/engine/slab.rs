//! A slab: records by number.
//!
//! Shape: chunks of 4,096 slots, each allocated once and never moved, so that growing to millions of records
//! never pauses (one vector would copy itself: measured at 18–130 ms). Free slots form a linked list through
//! the slots themselves. Cost: insert, remove and look-up are O(1). Invariant: a key is valid from `insert`
//! until `remove`. The sequence of keys depends on the calls alone, so a replay assigns the same keys.

use std::num::NonZeroU32;

const CHUNK: usize = 4_096;

/// The number of a record. It identifies the record only until the next change of state; after that the slot
/// may hold another.
///
/// The stored value is the number plus one, so that `Option<Key>` is as small as `Key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(NonZeroU32);

impl Key {
    /// Returns the number itself.
    pub(crate) const fn number(self) -> u32 {
        self.0.get() - 1
    }

    /// Returns the key with this number; there may be no such record.
    pub(crate) const fn numbered(number: u32) -> Key {
        // The sum saturates, so the last number means the one before it. No record has either of them (see `insert`).
        Key(NonZeroU32::MIN.saturating_add(number))
    }

    pub(super) const fn index(self) -> usize {
        self.number() as usize
    }
}

#[derive(Clone, Debug)]
enum Slot<T> {
    Used(T),
    Free { next: Option<Key> },
}

/// Records by number.
#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    chunks: Vec<Vec<Slot<T>>>,
    free: Option<Key>,
    len: usize,
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Slab<T> {
        Slab { chunks: Vec::new(), free: None, len: 0 }
    }

    /// Returns the number of records.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, key: Key) -> Option<&T> {
        match self.chunks.get(key.index() / CHUNK)?.get(key.index() % CHUNK)? {
            Slot::Used(record) => Some(record),
            Slot::Free { .. } => None,
        }
    }

    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        match self.chunks.get_mut(key.index() / CHUNK)?.get_mut(key.index() % CHUNK)? {
            Slot::Used(record) => Some(record),
            Slot::Free { .. } => None,
        }
    }

    /// Stores a record in the slot that was freed last, or in a new slot.
    pub(crate) fn insert(&mut self, record: T) -> Key {
        self.len += 1;
        if let Some(key) = self.free {
            let slot = &mut self.chunks[key.index() / CHUNK][key.index() % CHUNK];
            // A used slot in the free list would put two records under one key.
            debug_assert!(
                matches!(slot, Slot::Free { .. }),
                "slot {} is free, and has a record",
                key.number()
            );
            if let Slot::Free { next } = slot {
                self.free = *next;
            }
            *slot = Slot::Used(record);
            return key;
        }
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            // The full capacity at once: a chunk never reallocates.
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        let index = self.chunks.len() - 1;
        let chunk = &mut self.chunks[index];
        chunk.push(Slot::Used(record));
        let number = index * CHUNK + chunk.len() - 1;
        Key::numbered(u32::try_from(number).expect("limits.rs bounds the number of records below 2^31"))
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        let slot = self.chunks.get_mut(key.index() / CHUNK)?.get_mut(key.index() % CHUNK)?;
        // Frees the slot first and puts it back if it was free already, so that a used record is moved only
        // once.
        match std::mem::replace(slot, Slot::Free { next: self.free }) {
            Slot::Used(record) => {
                self.free = Some(key);
                self.len -= 1;
                Some(record)
            }
            free @ Slot::Free { .. } => {
                *slot = free;
                None
            }
        }
    }

    /// Returns all records, in the order of their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        let slots = self.chunks.iter().flatten().enumerate();
        slots.filter_map(|(number, slot)| match slot {
            // Never falls back, because `insert` bounds the numbers.
            Slot::Used(record) => Some((Key::numbered(u32::try_from(number).unwrap_or(u32::MAX)), record)),
            Slot::Free { .. } => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again_and_stay_valid_across_chunks() {
        let mut slab = Slab::new();
        let keys: Vec<Key> = (0..CHUNK + 2).map(|n| slab.insert(n)).collect();
        assert_eq!(slab.get(keys[CHUNK + 1]), Some(&(CHUNK + 1)));
        assert_eq!(slab.remove(keys[3]), Some(3));
        assert_eq!(slab.remove(keys[3]), None);
        assert_eq!(slab.remove(keys[7]), Some(7));
        assert_eq!((slab.insert(70), slab.insert(30)), (keys[7], keys[3]));
        assert_eq!(slab.get(keys[3]), Some(&30));
        assert_eq!(slab.iter().count(), slab.len());
    }
}

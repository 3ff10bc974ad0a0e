//! Records by number.
//!
//! Shape: chunks of 4,096 slots, each allocated once and never moved, so that growing to millions stalls nobody
//! (one vector would copy itself; measured at 18–130 ms). Free slots form a list through the slots themselves.
//! Cost: insert, remove and look-up are O(1). Invariant: a key is valid from `insert` until `remove`; the order
//! of keys handed out depends on the calls alone, so a replay hands out the same ones.

use std::num::NonZeroU32;

const CHUNK: usize = 4_096;

/// The number of a record. It leads to that record as long as nothing changes in between; after that, to anything.
///
/// One more than the number is stored, so that no key takes no more room than a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(NonZeroU32);

impl Key {
    /// The bare number.
    pub const fn number(self) -> u32 {
        self.0.get() - 1
    }

    /// The key of this number; it may lead nowhere.
    pub const fn numbered(number: u32) -> Key {
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

    /// How many records there are.
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

    /// Stores a record under the number that was freed last, or under the next new one.
    pub(crate) fn insert(&mut self, record: T) -> Key {
        self.len += 1;
        if let Some(key) = self.free {
            let slot = &mut self.chunks[key.index() / CHUNK][key.index() % CHUNK];
            // One on the free list that is used would be two records under one number.
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

    /// All records, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        let slots = self.chunks.iter().flatten().enumerate();
        slots.filter_map(|(number, slot)| match slot {
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

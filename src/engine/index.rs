//! A hash index of schedules by id.
//!
//! Shape: 256 open-addressing tables of slab keys with linear probing; the ids stay in the records. An entry
//! is a key and half of its id's hash, eight bytes in one place: a look-up among a million schedules reads
//! one cache line of the table before it reads the record (a table that stores its tags separately reads two;
//! measured, docs/BENCH.md). A table grows by half when it is three quarters full, so an entry costs 11 to 16
//! bytes, and no insert rehashes a million entries. The index is never iterated, because its order depends on
//! hashes.

use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

use super::slab::Key;
use crate::domain::ScheduleId;

const SHARDS: usize = 256;

/// Schedules by id.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    shards: Vec<Shard>,
}

/// One table. Invariant: between an entry's home and its actual place, no place is empty.
#[derive(Clone, Debug, Default)]
struct Shard {
    places: Vec<Option<Entry>>,
    len: usize,
}

/// A slab key and half of its id's hash. Growing compares and moves hashes only, and reads no record.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    hash: u32,
}

impl Index {
    pub(crate) fn new() -> Index {
        Index { shards: vec![Shard::default(); SHARDS] }
    }

    /// Returns the key of the schedule with this id; `id_of` reads the id of a record.
    pub(crate) fn find<'a>(
        &self,
        id: &ScheduleId,
        id_of: impl Fn(Key) -> Option<&'a ScheduleId>,
    ) -> Option<Key> {
        let hash = hash(id);
        self.shards[shard(hash)].find(hash, |key| id_of(key) == Some(id))
    }

    /// Inserts a key that is not in the index.
    pub(crate) fn insert(&mut self, id: &ScheduleId, key: Key) {
        let hash = hash(id);
        self.shards[shard(hash)].insert(Entry { key, hash });
    }

    /// Removes a key.
    pub(crate) fn remove(&mut self, id: &ScheduleId, key: Key) {
        let hash = hash(id);
        self.shards[shard(hash)].remove(hash, key);
    }
}

impl Shard {
    fn find(&self, hash: u32, is_it: impl Fn(Key) -> bool) -> Option<Key> {
        self.probe(hash, |entry| entry.hash == hash && is_it(entry.key)).map(|(_, key)| key)
    }

    /// Returns the place and the key of the first matching entry, probing from the hash's home.
    fn probe(&self, hash: u32, is_it: impl Fn(&Entry) -> bool) -> Option<(usize, Key)> {
        let home = self.home(hash)?;
        // The probe wraps around: from the home to the end of the table, then from its start.
        let (before, from) = self.places.split_at(home);
        for (steps, place) in from.iter().chain(before).enumerate() {
            let entry = place.as_ref()?;
            if is_it(entry) {
                return Some(((home + steps) % self.places.len(), entry.key));
            }
        }
        None
    }

    fn insert(&mut self, entry: Entry) {
        if (self.len + 1) * 4 > self.places.len() * 3 {
            self.grow();
        }
        self.put(entry);
        self.len += 1;
        // A probe ends at an empty place: in a full table it would not end.
        debug_assert!(self.len < self.places.len(), "{} entries in {} places", self.len, self.places.len());
    }

    fn put(&mut self, entry: Entry) {
        let Some(mut place) = self.home(entry.hash) else { return };
        while self.places[place].is_some() {
            place = self.after(place);
        }
        self.places[place] = Some(entry);
    }

    fn grow(&mut self) {
        let size = (self.places.len() * 3).div_ceil(2).max(SMALLEST);
        let former = std::mem::replace(&mut self.places, vec![None; size]);
        former.into_iter().flatten().for_each(|entry| self.put(entry));
    }

    fn remove(&mut self, hash: u32, key: Key) {
        // Backward-shift deletion: later entries of the same cluster move into the gap. Tombstones would
        // lengthen every probe until the next growth.
        let Some((mut gap, _)) = self.probe(hash, |entry| entry.key == key) else { return };
        self.len -= 1;
        let mut place = gap;
        loop {
            place = self.after(place);
            let Some(entry) = self.places[place] else { break };
            let Some(home) = self.home(entry.hash) else { break };
            // An entry whose home lies after the gap must not move into it: probes would not find it there.
            if self.distance(home, place) >= self.distance(gap, place) {
                self.places[gap] = Some(entry);
                gap = place;
            }
        }
        self.places[gap] = None;
    }

    /// Returns where an entry is stored unless another is there already; `None` in a table without places.
    fn home(&self, hash: u32) -> Option<usize> {
        // The top bits chose the table, so they are the same for all entries here. Rotating moves them to the
        // low end, where they no longer decide the home.
        let spread = u64::from(hash.rotate_left(u32::BITS - SHARD_SHIFT));
        let size = self.places.len() as u64;
        // Maps the 32-bit hash to `0..size` by a multiplication: the size is not a power of two, and a
        // division would be slower.
        usize::try_from((spread * size) >> u32::BITS).ok().filter(|_| size > 0)
    }

    fn after(&self, place: usize) -> usize {
        if place + 1 == self.places.len() { 0 } else { place + 1 }
    }

    /// Returns the number of places from one to another, going up and around the end.
    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from { to - from } else { to + self.places.len() - from }
    }
}

/// A multiplicative hash to 64 bits. Ids are random, or chosen by callers who are limited in number, so speed
/// matters more than resistance to crafted collisions.
#[derive(Clone, Copy, Default)]
struct Fold(u64);

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        let (words, tail) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        if !tail.is_empty() {
            let mut word = [0; 8];
            word[..tail.len()].copy_from_slice(tail);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        // The odd constant is 2^64 divided by the golden ratio, as in Fibonacci hashing.
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        // Multiplication mixes upwards only; this mixes the high bits into the low ones.
        self.0 ^ (self.0 >> 32)
    }
}

fn hash(id: &ScheduleId) -> u32 {
    // The high half: the multiplication mixes it best.
    let hash = BuildHasherDefault::<Fold>::default().hash_one(id);
    u32::try_from(hash >> 32).unwrap_or(0)
}

fn shard(hash: u32) -> usize {
    (hash >> SHARD_SHIFT) as usize % SHARDS
}

/// The bits of a hash from this one on select the table.
const SHARD_SHIFT: u32 = 24;
/// The initial number of places of a table.
const SMALLEST: usize = 8;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A table behaves like a plain map, with hashes that often collide.
        #[test]
        fn a_table_holds_what_was_entered_and_not_taken_out(
            steps in prop::collection::vec((0_u32..60, any::<bool>()), 1..400),
            bits in 0_u32..32,
        ) {
            let mut table = Shard::default();
            let mut model: BTreeMap<u32, u32> = BTreeMap::new();
            for (number, enters) in steps {
                let hash = (number % 7).rotate_left(bits);
                match (enters, model.contains_key(&number)) {
                    (true, false) => {
                        table.insert(Entry { key: Key::numbered(number), hash });
                        model.insert(number, hash);
                    }
                    (false, _) => {
                        table.remove(hash, Key::numbered(number));
                        model.remove(&number);
                    }
                    (true, true) => {}
                }
                prop_assert_eq!(table.len, model.len());
                for number in 0..60 {
                    let found = table.find((number % 7_u32).rotate_left(bits), |key| key.number() == number);
                    prop_assert_eq!(found.is_some(), model.contains_key(&number));
                }
            }
        }
    }
}

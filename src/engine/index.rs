//! Schedules by id.
//!
//! Shape: 256 hash tables of slot numbers; the ids stay in the records. Five bytes an entry instead of forty, and a
//! table that grows re-hashes a 256th of the entries, so no create pays for a million. It is never iterated:
//! its order depends on hashes.

use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

use hashbrown::HashTable;

use super::slab::Key;
use crate::domain::ScheduleId;

const SHARDS: usize = 256;

/// Schedules by id.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    shards: Vec<HashTable<Key>>,
}

impl Index {
    pub(crate) fn new() -> Index {
        Index { shards: (0..SHARDS).map(|_| HashTable::new()).collect() }
    }

    /// The slot of the schedule with this id; `id_of` reads the id of a slot.
    pub(crate) fn find<'a>(
        &self,
        id: &ScheduleId,
        id_of: impl Fn(Key) -> Option<&'a ScheduleId>,
    ) -> Option<Key> {
        let hash = hash(id);
        self.shards[shard(hash)].find(hash, |key| id_of(*key) == Some(id)).copied()
    }

    /// Enters a slot that is not entered yet.
    pub(crate) fn insert<'a>(
        &mut self,
        id: &ScheduleId,
        key: Key,
        id_of: impl Fn(Key) -> Option<&'a ScheduleId>,
    ) {
        let hash_of = |key: &Key| id_of(*key).map_or(0, hash);
        let hash = hash(id);
        self.shards[shard(hash)].insert_unique(hash, key, hash_of);
    }

    /// Takes a slot out.
    pub(crate) fn remove(&mut self, id: &ScheduleId, key: Key) {
        let hash = hash(id);
        if let Ok(entry) = self.shards[shard(hash)].find_entry(hash, |other| *other == key) {
            entry.remove();
        }
    }
}

/// Folds what is hashed into 64 bits. Ids are random, or chosen by callers who are limited in number, so speed counts
/// for more than resistance to crafted collisions.
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
        self.0 ^ (self.0 >> 32)
    }
}

fn hash(id: &ScheduleId) -> u64 {
    BuildHasherDefault::<Fold>::default().hash_one(id)
}

/// The table picks its buckets by the low bits and tags by the top seven; the shard takes others.
fn shard(hash: u64) -> usize {
    (hash >> 40) as usize % SHARDS
}

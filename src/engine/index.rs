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

/// A slot, and half of its id's hash: a table that grows reads no records.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    hash: u32,
}

/// Schedules by id.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    shards: Vec<HashTable<Entry>>,
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
        let found = self.shards[shard(hash)]
            .find(wide(hash), |entry| entry.hash == hash && id_of(entry.key) == Some(id));
        found.map(|entry| entry.key)
    }

    /// Enters a slot that is not entered yet.
    pub(crate) fn insert(&mut self, id: &ScheduleId, key: Key) {
        let hash = hash(id);
        self.shards[shard(hash)].insert_unique(wide(hash), Entry { key, hash }, |entry| wide(entry.hash));
    }

    /// Takes a slot out.
    pub(crate) fn remove(&mut self, id: &ScheduleId, key: Key) {
        let hash = hash(id);
        if let Ok(entry) = self.shards[shard(hash)].find_entry(wide(hash), |entry| entry.key == key) {
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

fn hash(id: &ScheduleId) -> u32 {
    let hash = BuildHasherDefault::<Fold>::default().hash_one(id);
    u32::try_from(hash >> 32).unwrap_or(0)
}

/// The table picks its buckets by the low bits and tags by the top seven.
fn wide(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

/// Bits that are neither among those that pick the bucket nor among those that tag.
fn shard(hash: u32) -> usize {
    (hash >> 17) as usize % SHARDS
}

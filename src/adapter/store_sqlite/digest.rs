//! Checksum of one record, to find a flipped bit in the file that SQLite's own checks cannot see.
//!
//! It processes eight bytes at a time, and each step is a bijection of the state: a record that
//! differs in one word always differs in its digest. It protects against accidents, not against
//! attacks; 200 bytes take about 20 ns.

use crate::port::{FactRecord, RowRecord};

struct Digest(u64);

impl Digest {
    fn number(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(FACTOR).rotate_left(29);
    }

    fn bytes(&mut self, bytes: Option<&[u8]>) {
        // No length is this large, so an absent text differs from every text.
        let Some(bytes) = bytes else { return self.number(u64::MAX) };
        // The length comes first, so that texts cannot be regrouped without a change of the digest.
        self.number(bytes.len() as u64);
        // Whole words first, because a copy of variable length takes longer than all the rest.
        let (words, tail) = bytes.as_chunks::<8>();
        for word in words {
            self.number(u64::from_le_bytes(*word));
        }
        if !tail.is_empty() {
            let mut word = [0; 8];
            word[..tail.len()].copy_from_slice(tail);
            self.number(u64::from_le_bytes(word));
        }
    }

    fn finish(self) -> i64 {
        // Fold the high bits into the low ones: multiplication only carries upwards.
        (self.0 ^ (self.0 >> 31)).cast_signed()
    }
}

pub(super) fn of_fact(fact: &FactRecord) -> i64 {
    let mut digest = Digest(SEED);
    digest.number(fact.cursor.number());
    digest.number(fact.at.seconds().cast_unsigned());
    digest.number(u64::from(fact.at.nanos()));
    digest.bytes(Some(fact.kind.as_bytes()));
    for key in [&fact.schedule, &fact.session, &fact.run] {
        digest.bytes(key.as_ref().map(|key| key.as_bytes()));
    }
    digest.bytes(Some(&fact.payload));
    // Only if there is one: the digests of facts from before shares had a column stay valid.
    if let Some(share) = &fact.share {
        digest.bytes(Some(share.as_bytes()));
    }
    digest.finish()
}

/// Computes the digest of a row. `at` is a column of the row that [`RowRecord`] does not have.
pub(super) fn of_row(row: &RowRecord, at: i64) -> i64 {
    let mut digest = Digest(SEED);
    digest.number(row.revision);
    digest.number(at.cast_unsigned());
    digest.bytes(Some(row.key.as_bytes()));
    digest.bytes(row.payload.as_deref());
    digest.finish()
}

/// Computes a number for a key: equal keys have equal numbers.
pub(super) fn of_key(key: &str) -> u64 {
    let mut digest = Digest(SEED);
    digest.bytes(Some(key.as_bytes()));
    digest.0
}

/// 2^64 divided by the golden ratio. It is odd, so multiplying by it is a bijection.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const SEED: u64 = 0x5245_5645_494c_4c45;

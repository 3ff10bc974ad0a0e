//! The ids of the dialect: a prefix and a UUIDv7 as 32 hex digits.
//!
//! Invariant: an id created in a later millisecond sorts later; randomness is an argument, or a digest. Source: SEED-004's code.

use sha2::{Digest as _, Sha256};

use crate::domain::{Entropy, Moment, ScheduleId};
use crate::edn::Uuid;

/// The id of a job created at `now`.
pub fn job_id(now: Moment, entropy: Entropy) -> ScheduleId {
    ScheduleId::new(&id("job_", now, entropy)).expect("a prefix and 32 hex digits are an id")
}

/// The id of a run that begins at `now`.
pub fn run_id(now: Moment, entropy: Entropy) -> String {
    id("run_", now, entropy)
}

/// The id of a log event that happens at `now`.
pub fn event_id(now: Moment, entropy: Entropy) -> String {
    id("evt_", now, entropy)
}

/// The id of a log event that happened at `at`, derived from what identifies the event: the same in each export.
pub fn event_id_of(at: Moment, parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        // With its length, so that parts cannot be regrouped.
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    let mut bits = [0; 16];
    bits.copy_from_slice(&digest.finalize()[..16]);
    event_id(at, Entropy(bits))
}

fn id(prefix: &str, now: Moment, entropy: Entropy) -> String {
    // The first six bytes of a UUIDv7 are the time, which leaves ten random ones.
    let mut random = [0; 10];
    random.copy_from_slice(&entropy.0[..10]);
    let uuid =
        uuid::Builder::from_unix_timestamp_millis(now.millis_since(Moment::EPOCH), &random).into_uuid();
    format!("{prefix}{}", Uuid::simple(uuid))
}

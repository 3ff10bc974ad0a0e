//! The ids of the dialect: a prefix and a UUIDv7 as 32 hex digits.
//!
//! Invariant: an id created in a later millisecond sorts later; randomness is an argument. Source: SEED-004's code.

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

fn id(prefix: &str, now: Moment, entropy: Entropy) -> String {
    // The first six bytes of a UUIDv7 are the time, which leaves ten random ones.
    let mut random = [0; 10];
    random.copy_from_slice(&entropy.0[..10]);
    let uuid =
        uuid::Builder::from_unix_timestamp_millis(now.millis_since(Moment::EPOCH), &random).into_uuid();
    format!("{prefix}{}", Uuid::simple(uuid))
}

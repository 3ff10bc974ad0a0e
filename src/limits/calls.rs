//! Bounds of calls of tools, of watches, and of what sessions are told of them.

mod watches;

use super::declare::{Limit, joined, limits};
pub use watches::*;

/// The bounds of this list and of the one below it.
pub(super) const OF_CALLS: &[Limit] =
    &joined::<{ CALLS_ALONE.len() + OF_WATCHES.len() }>(CALLS_ALONE, OF_WATCHES);

limits! { CALLS_ALONE:
    /// Time limit of a call of a tool, if its schedule sets none. Source: SEED-001, a watch's check.
    CALL_MS = 60_000 "ms" as "call-ms";
    /// Longest arguments of one call, as bytes of JSON.
    CALL_ARGS_BYTES = 65_536 "bytes" as "call-args-bytes";
    /// Bulletins that go into a session in one delivery.
    BULLETINS_PER_DELIVERY = 16 "bulletins" as "bulletins-per-delivery";
    /// Deliveries of bulletins that may begin turns in one session, in any hour: half of them at once, the others spread out. A
    /// bulletin beyond it waits, and says the newest when it goes.
    WAKES_PER_HOUR = 120 "deliveries" as "wakes-per-hour";
    /// How long a bulletin waits for a session that is not open, if its schedule outlives that session: 24 h.
    BULLETIN_MS = 86_400_000 "ms" as "bulletin-ms";
    /// What a bulletin shows of a result; a longer one is cut there.
    BULLETIN_CHARS = 2_000 "characters" as "bulletin-chars";
}

//! Bounds of calls of tools, of watches, and of what sessions are told of them.

use super::declare::{Limit, limits};

limits! { OF_CALLS:
    /// Time limit of a call of a tool, if its schedule sets none. Source: SEED-001, a watch's check.
    CALL_MS = 60_000 "ms" as "call-ms";
    /// Longest arguments of one call, as bytes of JSON.
    CALL_ARGS_BYTES = 65_536 "bytes" as "call-args-bytes";
}

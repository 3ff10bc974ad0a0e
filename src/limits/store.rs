//! The bounds of the store and of the history in it.

use super::declare::{Limit, limits};

limits! { OF_STORE:
    /// Batches that may wait for the disk; one more is refused.
    STORE_QUEUE_BATCHES = 16_384 "batches" as "store-queue-batches";
    /// Bytes of batches that may wait for the disk, with their records' overhead; when more wait, a batch is refused. A batch
    /// itself has no bound: one decision is committed whole.
    STORE_QUEUE_BYTES = 67_108_864 "bytes" as "store-queue-bytes";
    /// Facts and rows written in one transaction, unless a single batch has more; bounds how long the first of its batches
    /// waits for the last.
    STORE_GROUP_RECORDS = 16_384 "records" as "store-group-records";
    /// Longest kind or key in the store. The longest key is a run's id, made of a schedule's id and
    /// an instant.
    STORE_KEY_BYTES = 512 "bytes" as "store-key-bytes";
    /// Records of one chunk of a store read.
    STORE_CHUNK_RECORDS = 4_096 "records" as "store-chunk-records";
    /// Bytes of one chunk of a store read; a single larger record still makes a chunk.
    STORE_CHUNK_BYTES = 4_194_304 "bytes" as "store-chunk-bytes";
    /// How long the store waits for another process that has its file locked. Source: reliability
    /// F54.
    STORE_BUSY_MS = 5_000 "ms" as "store-busy-ms";
    /// Size to which the write-ahead log is truncated after a checkpoint. Source: reliability F55.
    STORE_WAL_BYTES = 67_108_864 "bytes" as "store-wal-bytes";
    /// Failures that a store remembers for its report.
    STORE_FAULTS_KEPT = 16 "failures" as "store-faults-kept";
    /// Facts that the log retains of one schedule. Source: reliability F58.
    HISTORY_ROWS = 1_000 "facts" as "history-rows";
    /// Bytes of facts that the log retains. Source: reliability F58.
    HISTORY_BYTES = 268_435_456 "bytes" as "history-bytes";
    /// Volatile schedules that a start names as lost, of all that it counts. The note of them is written every second.
    LOST_NAMED = 256 "schedules" as "lost-named";
    /// Schedules that one note of volatile schedules looks at.
    LOST_LOOKED = 8_192 "schedules" as "lost-looked";
    /// Age to which the log retains facts. Source: reliability F58.
    HISTORY_DAYS = 30 "days" as "history-days";
    /// Sessions among which the bytes of the log are divided, at most. When the bytes run out, a session over its even
    /// share loses its own facts first, so that no session can remove the history of others.
    HISTORY_SHARES = 256 "sessions" as "history-shares";
    /// Bytes of facts that the log retains of each session when it is full, whatever other sessions do.
    HISTORY_SESSION_BYTES = 1_048_576 "bytes" as "history-session-bytes";
    /// Facts that may be pruned in one transaction; twice as many as it appends, if that is more.
    HISTORY_PRUNED = 256 "facts" as "history-pruned";
}

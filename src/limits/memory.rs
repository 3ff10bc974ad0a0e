//! The bounds of what sessions remember, and of channels' messages.

use super::declare::{Limit, limits};

limits! { OF_MEMORY:
    /// Facts that one session remembers. Beyond it a fact is refused, and none is forgotten. Source: SEED-001.
    MEMORY_FACTS = 500 "facts" as "memory-facts";
    /// Tasks that one session notes down.
    MEMORY_TASKS = 200 "tasks" as "memory-tasks";
    /// Longest fact, goal, or description of a task. Source: SEED-001.
    MEMORY_TEXT = 2_000 "characters" as "memory-text";
    /// Longest subject of a task. Source: SEED-001.
    TASK_SUBJECT = 512 "characters" as "task-subject";
    /// Everything that one session remembers, in bytes. It is in one row of the store, which each change writes anew.
    MEMORY_BYTES = 1_048_576 "bytes" as "memory-bytes";
    /// What a session remembers, as it stands below a delivery.
    MEMORY_BLOCK = 2_000 "characters" as "memory-block";
    /// Facts that stand below a delivery, the newest.
    MEMORY_RECALLED = 7 "facts" as "memory-recalled";
    /// Longest message that a session sends through a channel. Source: SEED-001.
    CHANNEL_TEXT = 50_000 "characters" as "channel-text";
    /// Channels that one message goes through at the same time.
    BROADCAST = 20 "channels" as "broadcast";
    /// Largest event that comes in by a channel.
    CHANNEL_IN_BYTES = 262_144 "bytes" as "channel-in-bytes";
    /// Longest id and source of an event that are told; longer ones are cut.
    CHANNEL_EVENT_BYTES = 128 "bytes" as "channel-event-bytes";
    /// Shortest secret by which a sender proves that it is one.
    CHANNEL_SECRET_BYTES = 16 "bytes" as "channel-secret-bytes";
    /// Messages that are remembered of each channel. The oldest are dropped.
    CHANNEL_EVENTS = 200 "events" as "channel-events";
}

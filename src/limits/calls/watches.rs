//! The bounds of conditions and watches.

use crate::limits::declare::{Limit, limits};

limits! { OF_WATCHES:
    /// Longest condition, such as `result.status_code != 200`.
    CONDITION_BYTES = 1_024 "bytes" as "condition-bytes";
    /// Deepest nesting of one condition: brackets and `not` together.
    CONDITION_DEPTH = 16 "levels" as "condition-depth";
    /// Comparisons in one condition, so that judging a result costs little.
    CONDITION_COMPARISONS = 64 "comparisons" as "condition-comparisons";
    /// Steps of one path into a result, such as the two of `headers.date`.
    PATH_STEPS = 16 "steps" as "path-steps";
    /// Shortest interval of a watch. Source: SEED-001.
    WATCH_SECONDS_MIN = 5 "s" as "watch-seconds-min";
    /// Longest interval of a watch. Source: SEED-001.
    WATCH_SECONDS_MAX = 3_600 "s" as "watch-seconds-max";
    /// Most checks that a watch can be given. Source: SEED-001.
    WATCH_CHECKS = 10_000 "checks" as "watch-checks";
    /// Watches of one session that have not ended.
    SESSION_WATCHES = 200 "watches" as "session-watches";
    /// Watches that hear of changes between their checks, of all sessions. Those beyond are checked at their intervals.
    LISTENING_WATCHES = 1_024 "watches" as "listening-watches";
    /// How long after a change that it hears of a watch is checked: of changes in a row it sees the last.
    STIRRED_MS = 1_000 "ms" as "stirred-ms";
    /// Shortest time-out of a monitor. Source: Claude Code's Monitor.
    MONITOR_MS_MIN = 1_000 "ms" as "monitor-ms-min";
    /// Longest time-out of a monitor; a persistent one has none. Source: Claude Code's Monitor.
    MONITOR_MS_MAX = 3_600_000 "ms" as "monitor-ms-max";
    /// Time-out of a monitor that is given none. Source: Claude Code's Monitor.
    MONITOR_MS = 300_000 "ms" as "monitor-ms";
    /// Names under which one session is pinged. A new name beyond it is refused; a known one is always taken.
    SESSION_PINGS = 64 "names" as "session-pings";
    /// Longest name of a ping.
    PING_NAME_BYTES = 64 "bytes" as "ping-name-bytes";
    /// Longest label of a watch. Source: SEED-001.
    WATCH_LABEL_CHARS = 256 "characters" as "watch-label-chars";
    /// Longest id of a watch in a call. Source: SEED-001.
    WATCHER_ID_BYTES = 64 "bytes" as "watcher-id-bytes";
    /// Longest name of a tool in a call. Source: SEED-001.
    TOOL_NAME_BYTES = 256 "bytes" as "tool-name-bytes";
    /// Longest span in the filter of a watch, such as a cooldown.
    WATCH_SPAN_MS = 31_536_000_000 "ms" as "watch-span-ms";
    /// Longest wait between checks that fail.
    WATCH_BACKOFF_MS = 3_600_000 "ms" as "watch-backoff-ms";
    /// Paths that a watch leaves out of its comparison, and paths that it compares alone.
    WATCH_PATHS = 64 "paths" as "watch-paths";
    /// Earlier results that a watch can remember, so as not to tell of one that has come back.
    WATCH_RECALL = 16 "results" as "watch-recall";
    /// Checks of a watch that can be read back; older ones are only counted.
    WATCH_HISTORY = 100 "checks" as "watch-history";
    /// Checks that one summary can wait for.
    WATCH_BATCH = 1_000 "checks" as "watch-batch";
    /// Checks that the text of one summary lists; those before them are counted.
    WATCH_BATCH_LISTED = 50 "checks" as "watch-batch-listed";
    /// Checks in a row for which a state must hold before it is told.
    WATCH_HOLD = 1_000 "checks" as "watch-hold";
    /// Characters of a result that the history of a watch keeps.
    HISTORY_CHARS = 500 "characters" as "history-chars";
    /// Size of the results that are compared in detail. Of larger ones it is only said that they differ.
    DIFFERENCE_BYTES = 65_536 "bytes" as "difference-bytes";
    /// Characters of a difference up to which it is shown beside the result without being asked for.
    DIFFERENCE_CHARS = 600 "characters" as "difference-chars";
    /// Longest `when` of a scheduled call. Source: SEED-001.
    JOB_WHEN_BYTES = 200 "bytes" as "job-when-bytes";
    /// Shortest delay of a scheduled call. Source: SEED-001.
    JOB_SECONDS_MIN = 1 "s" as "job-seconds-min";
    /// Longest delay of a scheduled call: 10 years. Source: SEED-001.
    JOB_SECONDS_MAX = 315_360_000 "s" as "job-seconds-max";
    /// How long ago an instant may be that a scheduled call is given. Source: SEED-001's code.
    JOB_LATE_SECONDS = 5 "s" as "job-late-seconds";
    /// Longest name of a scheduled call, and of the channel that is told of it. Source: SEED-001.
    JOB_NAME_CHARS = 64 "characters" as "job-name-chars";
    /// Most runs that a scheduled call can be given.
    JOB_RUNS = 1_000_000 "runs" as "job-runs";
    /// Longest id of a scheduled call in a call. Source: SEED-001.
    JOB_ID_BYTES = 128 "bytes" as "job-id-bytes";
    /// Longest message of a reminder that a session sets for itself. Source: SEED-001.
    REMIND_CHARS = 2_000 "characters" as "remind-chars";
}

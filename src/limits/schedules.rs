//! The bounds of schedules: times, slots, runs, chains, and what a session may have of them.

use super::declare::{Limit, limits};

limits! { OF_SCHEDULES:
    /// Shortest delay that psi's tools accept, inclusive. Source: SEED-002.
    DELAY_MS_MIN = 1_000 "ms" as "delay-ms-min";
    /// Longest delay that psi's tools accept, inclusive: 24 h. Source: SEED-002.
    DELAY_MS_MAX = 86_400_000 "ms" as "delay-ms-max";
    /// Shortest period of a recurring schedule; an agent's turn takes longer. Source: SEED-004, at least 1 s.
    PERIOD_MS_MIN = 1_000 "ms" as "period-ms-min";
    /// Longest period of a recurring schedule, and the farthest instant that a time phrase may
    /// name: 10 years ahead. Source: SEED-001.
    PERIOD_MS_MAX = 315_360_000_000 "ms" as "period-ms-max";
    /// How long a deadline may be overdue before the daemon counts as not ready. The driver handles a
    /// deadline within milliseconds, unless its thread is dead or the machine is overloaded.
    OVERDUE_MS = 5_000 "ms" as "overdue-ms";
    /// The last year that an instant may lie in. Every notation can print it; the next year has five digits.
    YEAR_MAX = 9_999 "years" as "year-max";
    /// Longest name of a time zone. The longest name in the time zone database has 32 bytes.
    ZONE_BYTES = 64 "bytes" as "zone-bytes";
    /// Longest cron expression. Five fields that list every value would fit.
    CRON_BYTES = 512 "bytes" as "cron-bytes";
    /// Longest time phrase, such as `every day at 9am`.
    PHRASE_BYTES = 640 "bytes" as "phrase-bytes";
    /// Finished runs of one schedule that stay in memory. Older runs are in the log only.
    RUNS_KEPT = 20 "runs" as "runs-kept";
    /// Runs of one schedule that have not ended. Beyond it, slots are skipped as overlapping, also where runs may overlap, and no
    /// run is started by hand.
    RUNS_LIVE = 20 "runs" as "live-runs";
    /// Successful checks of one watch that stay in memory as runs. The watch's history has the others.
    CHECKS_KEPT = 1 "runs" as "checks-kept";
    /// Missed slots of one schedule that are caught up under the policy `all`; older missed slots are skipped.
    CATCH_UP = 1_000 "slots" as "catch-up";
    /// Longest sleep of the driver while a durable schedule is pending, so that a change of the wall clock is noticed.
    WALL_SLICE_MS = 1_000 "ms" as "wall-slice-ms";
    /// Attempts at one run, the first included.
    ATTEMPTS = 20 "attempts" as "attempts";
    /// Unfinished schedules that one session may have from psi's tools. Source: psi, 033.
    PSI_SESSION_SCHEDULES = 50 "schedules" as "psi-session-schedules";
    /// Active reminders of one session. Source: SEED-003's code.
    REMINDERS = 50 "reminders" as "reminders";
    /// Shortest interval of a reminder, one-time or recurring; an agent's turn takes longer. Source: SEED-003's code.
    REMINDER_SECONDS_MIN = 30 "s" as "reminder-seconds-min";
    /// Delayed actions of one session that have not ended; a hard cap. Source: SEED-000's code.
    SESSION_ACTIONS = 3 "actions" as "session-actions";
    /// Longest delay of a delayed action: 30 days. Source: SEED-000's code.
    ACTION_DELAY_MS_MAX = 2_592_000_000 "ms" as "action-delay-ms-max";
    /// How long a delayed action is still listed after it has ended: 7 days. Source: SEED-000's code.
    ACTION_KEPT_MS = 604_800_000 "ms" as "action-kept-ms";
    /// Shortest delay of a wake-up of a loop; a shorter one is brought up to it. Source: Claude Code's ScheduleWakeup.
    WAKEUP_SECONDS_MIN = 60 "s" as "wakeup-seconds-min";
    /// Longest delay of a wake-up of a loop; a longer one is brought down to it. Source: Claude Code's ScheduleWakeup.
    WAKEUP_SECONDS_MAX = 3_600 "s" as "wakeup-seconds-max";
    /// How long a recurring job of CronCreate runs: 30 days. Source: Claude Code's CronCreate.
    CRON_JOB_MS = 2_592_000_000 "ms" as "cron-job-ms";
    /// Unfinished schedules of one session, from all dialects together; a dialect may allow fewer.
    SESSION_SCHEDULES = 2_000 "schedules" as "session-schedules";
    /// Size of the texts of one session's schedules, and of the sessions that come from it. Finished schedules are dropped from
    /// half of it on, the oldest first.
    SESSION_BYTES = 33_554_432 "bytes" as "session-bytes";
    /// Unfinished schedules of one chain: each was created in a turn that an earlier schedule of the chain began, back to the
    /// one that a person or an operator created.
    LINE_SCHEDULES = 20 "schedules" as "line-schedules";
    /// Sessions whose words may be in one schedule at a time, besides its owner's: each is asked about at each run. A change that
    /// gives a schedule all of its words and its target begins again with one.
    EDITORS = 8 "sessions" as "editors";
    /// Default depth of a chain of turns begun by schedules in which a session may still create schedules; a grant may set
    /// another depth. Source: reliability F71, S12.
    LINE_DEPTH = 1 "turns" as "line-depth";
    /// Unfinished schedules in one engine, of all sessions together; keeps memory below about 1.3 GB.
    SCHEDULES = 4_000_000 "schedules" as "schedules";
    /// Finished schedules of one session that remain readable. The oldest is dropped first; the accounting still counts it.
    FINISHED_KEPT = 1_000 "schedules" as "finished-kept";
    /// What the runs of one session, and of those that come from it, may have written to disk per second, in a burst or spread
    /// out: prompts of durable schedules, and fresh sessions. A run beyond it is tried again as soon as it may go out. Runs of
    /// operators' schedules have no such bound.
    RUN_BYTES_PER_SECOND = 262_144 "bytes" as "run-bytes-per-second";
    /// Slots per minute of recurring schedules with periods below a minute, of a session and those that come from it; rounded
    /// up for each schedule. Watches do not count: there are at most `session-watches`. Schedules of operators have no such
    /// bound.
    SLOTS_PER_MINUTE = 6_000 "slots" as "slots-per-minute";
    /// Open sessions in one engine.
    SESSIONS = 200_000 "sessions" as "sessions";
    /// Fresh sessions of one session and of those that come from it, open at a time. The oldest one in which nothing is left
    /// to do is closed for the next; one in which a person has written stays and does not count.
    FRESH_SESSIONS = 64 "sessions" as "fresh-sessions";
    /// Sessions with a restricted grant. A grant outlives its session.
    GRANTS = 4_096 "sessions" as "grants";
    /// Longest uninterrupted sleep of the driver, so that a resumed machine or a stepped clock is noticed within it.
    SLEEP_SLICE_MS = 30_000 "ms" as "sleep-slice-ms";
    /// How long an orderly shutdown waits for outstanding receipts.
    SHUTDOWN_MS = 2_000 "ms" as "shutdown-ms";
    /// Steps that the driver runs under one acquisition of the engine's lock: few enough that nobody waits for long, also where
    /// each of them prints some 100 KB for the disk. Before a caller's change, up to twice as many run.
    STEPS_PER_HOLD = 16 "steps" as "steps-per-hold";
}

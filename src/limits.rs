//! Every bound of Reveille: name, value, unit, the reason for it, and the source of the figure.
//!
//! A refusal names the bound and its value. [`ALL`] is printed to users as attributes of the engine and as a page of the docs, so
//! each doc comment here is user documentation. Invariant: relations between bounds are proved at compile time, in `proofs`.

mod budgets;
mod calls;
mod declare;
mod memory;
mod proofs;

pub use budgets::Budget;
pub use calls::*;
pub use declare::Limit;
use declare::{joined, limits};
pub use memory::*;

/// All bounds, in the order of their declaration.
pub const ALL: &[Limit] =
    &joined::<{ GENERAL_AND_CALLS.len() + OF_MEMORY.len() }>(GENERAL_AND_CALLS, OF_MEMORY);
const GENERAL_AND_CALLS: &[Limit] = &joined::<{ GENERAL.len() + OF_CALLS.len() }>(GENERAL, OF_CALLS);

limits! { GENERAL:
    /// Shortest delay that psi's tools accept, inclusive. Source: SEED-002.
    DELAY_MS_MIN = 1_000 "ms" as "delay-ms-min";
    /// Longest delay that psi's tools accept, inclusive: 24 h. Source: SEED-002.
    DELAY_MS_MAX = 86_400_000 "ms" as "delay-ms-max";
    /// Shortest period of a recurring schedule; an agent's turn takes longer. Source: SEED-004, at least 1 s.
    PERIOD_MS_MIN = 1_000 "ms" as "period-ms-min";
    /// Longest period of a recurring schedule, and the farthest instant that a time phrase may
    /// name: 10 years ahead. Source: SEED-001.
    PERIOD_MS_MAX = 315_360_000_000 "ms" as "period-ms-max";
    /// Largest answer of one query, in bytes of what is read. An answer is held until its reader has
    /// taken it. Lists longer than that are read in pages.
    QUERY_BYTES = 8_388_608 "bytes" as "query-bytes";
    /// Largest answer of one query of a session's token: while it is read, the work of all others waits.
    SESSION_QUERY_BYTES = 2_097_152 "bytes" as "session-query-bytes";
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
    /// Most slots that one forecast lists. A count of past slots is exact up to this number, and a lower bound beyond it.
    SLOTS_LISTED = 10_000 "slots" as "slots-listed";
    /// Most buckets of a timeline: a day in minutes.
    TIMELINE_BUCKETS = 1_440 "buckets" as "timeline-buckets";
    /// Most cells of a timeline; one that was cut off says so.
    TIMELINE_CELLS = 14_400 "cells" as "timeline-cells";
    /// Slots that a forecast lists by default.
    SLOTS_FORESEEN = 1_000 "slots" as "slots-foreseen";
    /// Decisions about one schedule that one explanation reads, newest first.
    DECISIONS_EXPLAINED = 10_000 "decisions" as "decisions-explained";
    /// Finished runs of one schedule that stay in memory. Older runs are in the log only.
    RUNS_KEPT = 20 "runs" as "runs-kept";
    /// Runs of one schedule that have not ended. Beyond it, slots are skipped as overlapping, also where runs may overlap.
    RUNS_LIVE = 20 "runs" as "live-runs";
    /// Of those that are kept, checks of one watch that worked. Its history has the others.
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
    /// Shortest interval of a recurring reminder; an agent's turn takes longer. Source: SEED-003's code.
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
    /// Longest wait of a call for something to come into an inbox: agents give up calls that take longer.
    INBOX_WAIT_SECONDS = 600 "s" as "inbox-wait-seconds";
    /// Time limit of an agent's hook that is no waiter: an agent waits for its hooks, and must not notice this one.
    HOOK_MS = 200 "ms" as "hook-ms";
    /// Processes of agents whose conversation is known to tool servers. The one that was named first is forgotten first.
    AGENT_PROCESSES_KNOWN = 1_024 "processes" as "agent-processes-known";
    /// Unfinished schedules of one session, from all dialects together; a dialect may allow fewer.
    SESSION_SCHEDULES = 2_000 "schedules" as "session-schedules";
    /// Size of the texts of one session's schedules, and of the sessions that come from it. Finished schedules are dropped from
    /// half of it on, the oldest first.
    SESSION_BYTES = 33_554_432 "bytes" as "session-bytes";
    /// Unfinished schedules of one chain: each was created in a turn that an earlier one began, back to one that a person made.
    LINE_SCHEDULES = 20 "schedules" as "line-schedules";
    /// Default depth of a chain of turns in which a session may still create schedules, if no grant says otherwise. Source: F71.
    LINE_DEPTH = 1 "turns" as "line-depth";
    /// Unfinished schedules in one engine; keeps memory below about 1.3 GB.
    SCHEDULES = 4_000_000 "schedules" as "schedules";
    /// Finished schedules of one session that remain readable. The oldest is dropped first; the accounting still counts it.
    FINISHED_KEPT = 1_000 "schedules" as "finished-kept";
    /// What the runs of one session, and of those that come from it, may have written to disk per second, in a burst or spread
    /// out: prompts of durable schedules, and fresh sessions. A run beyond it is tried again as soon as it may go out. Runs of
    /// operators' schedules have no such bound.
    RUN_BYTES_PER_SECOND = 262_144 "bytes" as "run-bytes-per-second";
    /// Slots per minute of recurring schedules with periods below a minute, of a session and those that come from it. Watches do
    /// not count: there are at most `session-watches`. Schedules of operators have no such bound.
    SLOTS_PER_MINUTE = 6_000 "slots" as "slots-per-minute";
    /// Open sessions in one engine.
    SESSIONS = 200_000 "sessions" as "sessions";
    /// Fresh sessions of one session and of those that come from it, open at a time. The oldest one in which nothing is left
    /// to do is closed for the next; one in which a person has written stays and does not count.
    FRESH_SESSIONS = 64 "sessions" as "fresh-sessions";
    /// Longest id of a session or schedule, and longest name of a host.
    ID_BYTES = 128 "bytes" as "id-bytes";
    /// How long the receipt of an agent's conversation may take: the agent is started and loads the conversation first. The
    /// deadlines of the steps are shorter, and each has a reason of its own; this one is behind them all.
    AGENT_RECEIPT_MS = 900_000 "ms" as "agent-receipt-ms";
    /// Longest name of an agent, or of a profile of one.
    AGENT_NAME_BYTES = 32 "bytes" as "agent-name-bytes";
    /// Longest label of a schedule.
    LABEL_BYTES = 1_024 "bytes" as "label-bytes";
    /// Longest message, and longest single text in a session's configuration.
    TEXT_BYTES = 65_536 "bytes" as "text-bytes";
    /// Size of the messages that are taken out of an inbox at once. A longer one is taken alone, whole.
    TAKEN_BYTES = 16_384 "bytes" as "taken-bytes";
    /// Longest path of a file. Source: the longest path that Linux accepts.
    PATH_BYTES = 4_096 "bytes" as "path-bytes";
    /// Longest error text of a host; a longer text is cut there and ends in `…`.
    ERROR_BYTES = 1_024 "bytes" as "error-bytes";
    /// Preloaded messages in one session configuration.
    PRELOADED_MESSAGES = 256 "messages" as "preloaded-messages";
    /// Entries of one list in a session configuration: skills, tool ids, selections.
    CONFIG_ITEMS = 1_024 "items" as "config-items";
    /// Longest request, in EDN or JSON.
    REQUEST_BYTES = 262_144 "bytes" as "request-bytes";
    /// Deepest nesting of one request: 64 levels are allowed, 65 are refused.
    REQUEST_DEPTH = 64 "levels" as "request-depth";
    /// Digits of one number in a request.
    REQUEST_DIGITS = 1_000 "digits" as "request-digits";
    /// Forms in one request, at all depths together.
    REQUEST_FORMS = 100_000 "forms" as "request-forms";
    /// How long a host may take to acknowledge a delivery before the delivery counts as failed.
    RECEIPT_MS = 30_000 "ms" as "receipt-ms";
    /// How long an attached host may take, after it acknowledged a prompt, to report that the turn
    /// began. Until then nothing more is pushed to that session: one delivery per idle transition.
    TURN_START_MS = 2_000 "ms" as "turn-start-ms";
    /// How long a session remembers that a job reported ready. A schedule created for that job meanwhile is due at once.
    JOB_REMEMBERED_MS = 600_000 "ms" as "job-remembered-ms";
    /// Ready jobs that one session remembers; the oldest is dropped first.
    JOBS_REMEMBERED = 16 "jobs" as "jobs-remembered";
    /// Default time that an external guard has to answer whether a run may be handed over.
    GUARD_MS = 5_000 "ms" as "guard-ms";
    /// Longest time that an external guard can be given to answer. A decision by a person is an approval, and takes longer.
    GUARD_MS_MAX = 30_000 "ms" as "guard-ms-max";
    /// How long the permission of an external guard is valid while the run waits for its session;
    /// after that the guard is asked again.
    GUARD_ALLOWANCE_MS = 30_000 "ms" as "guard-allowance-ms";
    /// Questions that an external guard is asked at the same time; further questions wait, within their own time.
    GUARD_QUESTIONS = 16 "questions" as "guard-questions";
    /// Longest answer of an external guard.
    GUARD_ANSWER_BYTES = 16_384 "bytes" as "guard-answer-bytes";
    /// Rules of one guard policy; each hand-over may evaluate all of them.
    GUARD_RULES = 256 "rules" as "guard-rules";
    /// Default time that a run waits for an operator's approval: one day, so that an operator has been at a desk meanwhile.
    APPROVAL_MS = 86_400_000 "ms" as "approval-ms";
    /// Longest time that a run can be made to wait for an approval: 30 days, the age to which the log is retained.
    APPROVAL_MS_MAX = 2_592_000_000 "ms" as "approval-ms-max";
    /// Approvals that one run remembers; a run is not held by more rules than that.
    APPROVALS_KEPT = 8 "approvals" as "approvals-kept";
    /// Sessions with a restricted grant. A grant outlives its session.
    GRANTS = 4_096 "sessions" as "grants";
    /// Longest uninterrupted sleep of the driver, so that a resumed machine or a stepped clock is noticed within it.
    SLEEP_SLICE_MS = 30_000 "ms" as "sleep-slice-ms";
    /// How long an orderly shutdown waits for outstanding receipts.
    SHUTDOWN_MS = 2_000 "ms" as "shutdown-ms";
    /// Steps run under one acquisition of the engine's lock: few enough that the data they touch is
    /// still in the processor's cache when their effects run.
    STEPS_PER_HOLD = 64 "steps" as "steps-per-hold";
    /// Decisions that the feed retains for subscribers that resume from a cursor.
    DECISIONS_KEPT = 65_536 "decisions" as "decisions-kept";
    /// Deliveries that wait for one receiver in an embedding program. The oldest are dropped first,
    /// and counted; the transcript has them.
    DELIVERIES_QUEUED = 10_000 "deliveries" as "deliveries-queued";
    /// Messages retained in the transcript of a built-in session. The oldest are dropped first, and counted.
    TRANSCRIPT_MESSAGES = 10_000 "messages" as "transcript-messages";
    /// Size of one transcript of the built-in host. The oldest messages are dropped first, and counted.
    TRANSCRIPT_BYTES = 8_388_608 "bytes" as "transcript-bytes";
    /// Levels of entities in the answer to one query.
    QUERY_DEPTH = 32 "levels" as "query-depth";
    /// Attributes, joins and mutations in one query, at all levels together.
    QUERY_ATTRIBUTES = 1_000 "attributes" as "query-attributes";
    /// Entities that one query may read.
    QUERY_ROWS = 20_000 "rows" as "query-rows";
    /// Calls of readers that one query may need; one call may serve many entities.
    QUERY_CALLS = 10_000 "calls" as "query-calls";
    /// Query plans that are cached, by the text of the query.
    PLANS_KEPT = 512 "queries" as "plans-kept";
    /// Longest query whose plan is cached.
    PLAN_BYTES = 8_192 "bytes" as "plan-bytes";
    /// How long one query may run. A query holds the engine's lock, so every change waits for it.
    QUERY_MS = 500 "ms" as "query-ms";
    /// Time that the queries of one session's token may take per minute, of which one second may come at once; the sessions
    /// that come from it count as well. Operators have no such bound.
    QUERY_MS_PER_MINUTE = 3_000 "ms" as "query-ms-per-minute";
    /// Queries that take long and run at the same time over HTTP, beside the threads that serve
    /// requests. One that took less than a millisecond the last time does not count.
    LONG_QUERIES = 5 "queries" as "long-queries";
    /// Long queries of one session's token at the same time.
    SESSION_LONG_QUERIES = 2 "queries" as "session-long-queries";
    /// How many of the long queries only operators may run.
    OPERATOR_LONG_QUERIES = 1 "queries" as "operator-long-queries";
    /// Long queries that may wait for their turn, of operators and of all others. Each waits on a thread.
    LONG_QUERIES_WAITING = 128 "queries" as "long-queries-waiting";
    /// Long queries of one session's token that may wait for their turn.
    SESSION_LONG_QUERIES_WAITING = 32 "queries" as "session-long-queries-waiting";
    /// Queries as of an instant at the same time; each reads the whole log.
    AS_OF_QUERIES = 3 "queries" as "as-of-queries";
    /// Queries as of an instant of one session's token at the same time.
    SESSION_AS_OF_QUERIES = 1 "queries" as "session-as-of-queries";
    /// How many of the queries as of an instant only operators may run.
    OPERATOR_AS_OF_QUERIES = 1 "queries" as "operator-as-of-queries";
    /// Queries as of an instant that may wait for their turn, of operators and of all others.
    AS_OF_WAITING = 16 "queries" as "as-of-waiting";
    /// Queries as of an instant of one session's token that may wait for their turn.
    SESSION_AS_OF_WAITING = 4 "queries" as "session-as-of-waiting";
    /// How long the state at one past instant may take to rebuild.
    AS_OF_MS = 10_000 "ms" as "as-of-ms";
    /// Most schedules of a past state that stays in memory for the next query as of the same instant.
    AS_OF_CACHED = 1_000 "schedules" as "as-of-cached";
    /// Entries of one page of a list.
    PAGE_ROWS = 5_000 "rows" as "page-rows";
    /// Longest answer of a tool for models, unless it was asked for one thing by its id. Lists end at a row, with a cursor of
    /// the rest; anything else is cut, with a note of what is missing. A model pays for every answer again with each later
    /// turn, and 4,000 tokens hold some 40 schedules. psi cuts at 51,200 bytes.
    TOOL_ANSWER_BYTES = 16_384 "bytes" as "tool-answer-bytes";
    /// Subscriptions of one connected client.
    CLIENT_SUBSCRIPTIONS = 16 "subscriptions" as "client-subscriptions";
    /// Bytes that may wait to be written to one connected client; a client that does not read is
    /// disconnected at this bound.
    CLIENT_BACKLOG_BYTES = 8_388_608 "bytes" as "client-backlog-bytes";
    /// Schedules that one session token may create per minute, in a burst or spread out; the sessions that come from it count
    /// as well. Operators have no such bound.
    CREATES_PER_MINUTE = 600 "schedules" as "creates-per-minute";
    /// Other changes that one session token may make per minute, counted like creations. Each is a fact in the log.
    CHANGES_PER_MINUTE = 600 "changes" as "changes-per-minute";
    /// Shortest token that a person may choose.
    TOKEN_CHARS_MIN = 32 "characters" as "token-chars-min";
    /// How long a client may take to send the head of a request, from the connection or the first
    /// byte on.
    HTTP_HEAD_MS = 5_000 "ms" as "http-head-ms";
    /// How long a client may take to send the body of a request.
    HTTP_BODY_MS = 10_000 "ms" as "http-body-ms";
    /// How long a client has for the body of a request before its connection may be closed to make room for another. A body
    /// that is not sent slowly on purpose has arrived by then.
    HTTP_BODY_GRACE_MS = 1_000 "ms" as "http-body-grace-ms";
    /// How long a connection may stay open between two requests.
    HTTP_IDLE_MS = 60_000 "ms" as "http-idle-ms";
    /// How long a response may make no progress because its client does not read.
    HTTP_STALLED_MS = 30_000 "ms" as "http-stalled-ms";
    /// Connections at the same time. When one more arrives, the oldest connection without a request
    /// in progress is closed.
    HTTP_CONNECTIONS = 512 "connections" as "http-connections";
    /// Connections of one peer address at the same time.
    HTTP_PEER_CONNECTIONS = 32 "connections" as "http-peer-connections";
    /// Connections of all loopback addresses together. Any client of the machine can use each of
    /// these addresses, so they do not tell clients apart.
    HTTP_LOOPBACK_CONNECTIONS = 256 "connections" as "http-loopback-connections";
    /// Connections beyond the other bounds that are left to operators. On one of them, any other
    /// token is refused.
    HTTP_OPERATOR_CONNECTIONS = 16 "connections" as "http-operator-connections";
    /// Request bodies at the same time of which a part has not arrived. While a client sends its body slowly, its
    /// connection is closed if another needs the place.
    HTTP_BODIES = 512 "bodies" as "http-bodies";
    /// Request bodies of one session's token at the same time of which a part has not arrived.
    HTTP_SESSION_BODIES = 32 "bodies" as "http-session-bodies";
    /// How many of the bodies that are arriving only operators may send.
    HTTP_OPERATOR_BODIES = 64 "bodies" as "http-operator-bodies";
    /// EDN streams and WebSockets over HTTP at the same time.
    HTTP_UPGRADES = 224 "connections" as "http-upgrades";
    /// EDN streams and WebSockets of one session's token at the same time.
    HTTP_SESSION_UPGRADES = 8 "connections" as "http-session-upgrades";
    /// How many of the EDN streams and WebSockets only operators may open.
    HTTP_OPERATOR_UPGRADES = 32 "connections" as "http-operator-upgrades";
    /// EDN streams over the Unix socket at the same time. They do not count as HTTP connections.
    SOCKET_STREAMS = 256 "streams" as "socket-streams";
    /// Bytes of all answers and events, over HTTP and in EDN streams, that are written and wait to be sent. Answers below
    /// `answer-bytes-counted` do not count, nor do shorter backlogs of a stream.
    ANSWERS_BYTES = 268_435_456 "bytes" as "answers-bytes";
    /// Bytes of answers to one session's token that wait to be sent.
    SESSION_ANSWERS_BYTES = 33_554_432 "bytes" as "session-answers-bytes";
    /// How many bytes of the answers that wait to be sent only operators may use.
    OPERATOR_ANSWERS_BYTES = 67_108_864 "bytes" as "operator-answers-bytes";
    /// Shortest answer that counts among those that wait to be sent. The answer to a change is
    /// shorter, so it always arrives.
    ANSWER_BYTES_COUNTED = 4_096 "bytes" as "answer-bytes-counted";
    /// Longest head of a request.
    HTTP_HEAD_BYTES = 32_768 "bytes" as "http-head-bytes";
    /// Header lines of a request.
    HTTP_HEADERS = 64 "headers" as "http-headers";
    /// Requests at the same time on one HTTP/2 connection.
    HTTP_STREAMS = 64 "requests" as "http-streams";
    /// Bytes of an oversized body that are still read and discarded, so that its sender gets the
    /// response instead of a broken connection.
    HTTP_DISCARD_BYTES = 1_048_576 "bytes" as "http-discard-bytes";
    /// How long an orderly stop waits for requests in progress, before it waits for receipts.
    HTTP_DRAIN_MS = 2_000 "ms" as "http-drain-ms";
    /// Wrong tokens of one peer that are answered without delay; each further answer is delayed
    /// longer.
    WRONG_TOKENS = 8 "tokens" as "wrong-tokens";
    /// Longest delay of the answer to a wrong token.
    WRONG_TOKEN_MS = 1_000 "ms" as "wrong-token-ms";
    /// Peers whose wrong tokens are remembered; the peer that was quiet for longest is dropped
    /// first.
    WRONG_TOKEN_PEERS = 1_024 "peers" as "wrong-token-peers";
    /// How long a one-time code for the dashboard is good. It is in an address, and so in a history.
    DASHBOARD_CODE_MS = 60_000 "ms" as "dashboard-code-ms";
    /// One-time codes for the dashboard that nobody has used yet; one more replaces the oldest.
    DASHBOARD_CODES = 16 "codes" as "dashboard-codes";
    /// How long a browser stays logged in at the dashboard.
    DASHBOARD_LOGIN_MS = 43_200_000 "ms" as "dashboard-login-ms";
    /// Browsers that are logged in at the dashboard; one more logs the oldest out.
    DASHBOARD_LOGINS = 32 "logins" as "dashboard-logins";
    /// Longest time until the streams of a closed session's token are ended.
    TOKEN_RECHECK_MS = 1_000 "ms" as "token-recheck-ms";
    /// Levels of fields in a GraphQL operation, with fragments expanded. Source: reliability S13.
    GRAPHQL_DEPTH = 12 "levels" as "graphql-depth";
    /// Leaves that the answer to a GraphQL operation may have; the fields of a page count once for
    /// each entry. S13 allows 500 and counts a page once, but a page of 100 rows of 13 fields is
    /// what a dashboard requests.
    GRAPHQL_COMPLEXITY = 10_000 "leaves" as "graphql-complexity";
    /// Aliases in a GraphQL operation, with fragments expanded. Source: S13.
    GRAPHQL_ALIASES = 30 "aliases" as "graphql-aliases";
    /// Root fields of a GraphQL operation. Source: S13.
    GRAPHQL_ROOT_FIELDS = 20 "fields" as "graphql-root-fields";
    /// Directives at one place of a GraphQL document. Source: S13.
    GRAPHQL_DIRECTIVES = 8 "directives" as "graphql-directives";
    /// Fields in a GraphQL document, with fragments expanded; bounds the cost of validating it.
    GRAPHQL_FIELDS = 1_000 "fields" as "graphql-fields";
    /// Tokens and comments in a GraphQL document; bounds the cost of parsing it.
    GRAPHQL_TOKENS = 8_192 "tokens" as "graphql-tokens";
    /// Arguments of one GraphQL field, and variables of one operation.
    GRAPHQL_ARGUMENTS = 64 "arguments" as "graphql-arguments";
    /// Nested lists of fields in an introspection query; each level multiplies the answer by the
    /// size of the schema. Source: graphql-js, `MaxIntrospectionDepthRule`.
    GRAPHQL_INTROSPECTION_LISTS = 2 "levels" as "graphql-introspection-lists";
    /// Assumed length of a list without pages when the complexity of a GraphQL operation is
    /// computed.
    GRAPHQL_LIST_ENTRIES = 10 "entries" as "graphql-list-entries";
    /// Entries of a GraphQL page by default; `first` or `last` sets another number.
    GRAPHQL_PAGE = 50 "entries" as "graphql-page";
    /// Entries of a list that a tool for models returns by default; a model pays for every word.
    TOOL_PAGE = 20 "entries" as "tool-page";
    /// Most entries of a list that a tool for models can be asked for.
    TOOL_PAGE_MAX = 100 "entries" as "tool-page-max";
    /// Resources of one page over MCP.
    MCP_PAGE = 50 "entries" as "mcp-page";
    /// How long a GraphQL WebSocket may take to authenticate. Source: reliability S04.
    GRAPHQL_INIT_MS = 5_000 "ms" as "graphql-init-ms";
    /// Longest message over a GraphQL WebSocket. Source: reliability T42.
    GRAPHQL_MESSAGE_BYTES = 65_536 "bytes" as "graphql-message-bytes";
    /// Interval of heartbeats on a GraphQL connection that sends nothing else.
    GRAPHQL_HEARTBEAT_MS = 15_000 "ms" as "graphql-heartbeat-ms";
    /// GraphQL subscriptions of one server at the same time; each has a thread.
    GRAPHQL_SUBSCRIPTIONS = 256 "subscriptions" as "graphql-subscriptions";
    /// GraphQL subscriptions of one session's token at the same time.
    GRAPHQL_SESSION_SUBSCRIPTIONS = 32 "subscriptions" as "graphql-session-subscriptions";
    /// How many of the GraphQL subscriptions only operators may start.
    GRAPHQL_OPERATOR_SUBSCRIPTIONS = 32 "subscriptions" as "graphql-operator-subscriptions";
    /// Answers that may wait between a GraphQL subscription and its connection; later items stay in
    /// the feed until there is room.
    GRAPHQL_PUSHED = 16 "answers" as "graphql-pushed";
    /// Items that are pushed to one GraphQL subscription at a time; later items stay in the feed
    /// until their turn.
    GRAPHQL_BATCH = 64 "items" as "graphql-batch";
    /// Compiled GraphQL operations that are cached, by text and variables.
    GRAPHQL_COMPILED = 256 "operations" as "graphql-compiled";
    /// Longest GraphQL operation, variables included, whose compiled form is cached.
    GRAPHQL_COMPILED_BYTES = 16_384 "bytes" as "graphql-compiled-bytes";
    /// Batches that may wait for the disk; one more is refused.
    STORE_QUEUE_BATCHES = 16_384 "batches" as "store-queue-batches";
    /// Bytes of all batches that may wait for the disk, with their records' overhead.
    STORE_QUEUE_BYTES = 67_108_864 "bytes" as "store-queue-bytes";
    /// Facts and rows of one batch; bounds what one decision may change durably.
    STORE_BATCH_RECORDS = 8_192 "records" as "store-batch-records";
    /// Bytes of one batch.
    STORE_BATCH_BYTES = 16_777_216 "bytes" as "store-batch-bytes";
    /// Facts and rows written in one transaction; bounds how long the first of its batches waits
    /// for the last.
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
    /// Longest URL of an endpoint.
    ENDPOINT_BYTES = 2_048 "bytes" as "endpoint-bytes";
    /// Longest body of a post to an endpoint. Source: Standard Webhooks 1.0, below 20 KB.
    WEBHOOK_BYTES = 20_480 "bytes" as "webhook-bytes";
    /// How long connecting to an endpoint may take, TLS included.
    WEBHOOK_CONNECT_MS = 10_000 "ms" as "webhook-connect-ms";
    /// How long a post may take, from resolving the host name to the head of the response. Source:
    /// Standard Webhooks 1.0, 15–30 s.
    WEBHOOK_MS = 20_000 "ms" as "webhook-ms";
    /// Longest head of an endpoint's response.
    WEBHOOK_HEAD_BYTES = 16_384 "bytes" as "webhook-head-bytes";
    /// Shortest key that posts are signed with. Source: Standard Webhooks 1.0.
    SIGNING_KEY_BYTES_MIN = 24 "bytes" as "signing-key-bytes-min";
    /// Longest key that posts are signed with. Source: Standard Webhooks 1.0.
    SIGNING_KEY_BYTES = 64 "bytes" as "signing-key-bytes";
    /// Largest difference between the time of a signed post and the receiver's clock. Source:
    /// reliability S17, ±5 min.
    SIGNATURE_SECONDS = 300 "s" as "signature-seconds";
    /// Signatures of one post that are verified, and keys that one endpoint may have; two keys are
    /// in use while keys are rotated.
    SIGNATURES = 8 "signatures" as "signatures";
    /// Longest id of a signed post: a run's id fits even if every byte of its schedule's id is
    /// escaped.
    MESSAGE_ID_BYTES = 512 "bytes" as "message-id-bytes";
    /// Longest delay of the next attempt that the receiver behind a channel may ask for, at least
    /// as long as our own longest wait between attempts.
    RETRY_AFTER_MS = 86_400_000 "ms" as "retry-after-ms";
    /// Deliveries to channels at the same time; one more counts as refused, and is tried again.
    OUTSIDE_IN_FLIGHT = 256 "deliveries" as "outside-in-flight";
    /// Deliveries of one session on their way outside at a time.
    OUTSIDE_OF_SESSION = 16 "deliveries" as "outside-of-session";
    /// Deliveries on their way through one channel at a time, of all sessions together.
    OUTSIDE_OF_CHANNEL = 64 "deliveries" as "outside-of-channel";
    /// Channels in one configuration.
    CHANNELS = 64 "channels" as "channels";
    /// Sessions that the events of one channel may have open, by source or by event.
    CHANNEL_SESSIONS = 256 "sessions" as "channel-sessions";
    /// How long an external program may run.
    PROGRAM_MS = 20_000 "ms" as "program-ms";
    /// Bytes that are retained of each of an external program's two outputs; the rest is read and
    /// discarded.
    PROGRAM_OUTPUT_BYTES = 16_384 "bytes" as "program-output-bytes";
    /// How long the outputs of an external program are still read after it has ended; a descendant
    /// that left its process group may hold them open.
    PROGRAM_DRAIN_MS = 100 "ms" as "program-drain-ms";
    /// Agents in one configuration.
    AGENTS = 32 "agents" as "agents";
    /// Processes of agents at a time, of all agents together. Each takes some hundred MB.
    AGENT_PROCESSES = 8 "processes" as "agent-processes";
    /// Longest line from an agent. A conversation that is loaded is replayed, files that the agent read included; a longer line
    /// is passed over.
    AGENT_LINE_BYTES = 2_097_152 "bytes" as "agent-line-bytes";
    /// What is retained of an agent's error output: the end of it.
    AGENT_ERRORS_BYTES = 2_048 "bytes" as "agent-errors-bytes";
    /// What is retained of an agent's last message in a turn: the beginning of it.
    TURN_TEXT_BYTES = 8_192 "bytes" as "turn-text-bytes";
    /// Tool calls that are retained of one turn.
    TURN_TOOL_CALLS = 200 "calls" as "turn-tool-calls";
    /// Questions for permission that are retained of one turn.
    TURN_QUESTIONS = 100 "questions" as "turn-questions";
    /// Turns of agents that are retained, of all sessions together. The oldest are dropped.
    TURNS_KEPT = 1_000 "turns" as "turns-kept";
    /// Longest time that an agent may say nothing within a turn, as configured.
    AGENT_SILENCE_MS = 600_000 "ms" as "agent-silence-ms";
    /// Longest time of one turn of an agent, as configured.
    AGENT_TURN_MS = 86_400_000 "ms" as "agent-turn-ms";
    /// Longest wait before an agent that failed to start is started again.
    AGENT_BACKOFF_MS = 60_000 "ms" as "agent-backoff-ms";
    /// Starts of an agent that may fail in a row before it counts as broken.
    AGENT_FAILED_STARTS = 3 "starts" as "agent-failed-starts";
    /// How long it is waited for the answer of a program that says who holds a conversation.
    AGENT_PROBE_MS = 5_000 "ms" as "agent-probe-ms";
}

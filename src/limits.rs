//! Every bound of Reveille, in one place: name, value, unit, why, and where the figure comes from.
//!
//! A refusal names the bound and its value; the engine shows all of them as attributes, from [`ALL`].
//! What lives elsewhere: the code that checks a bound. Invariant: relations between bounds are proved at
//! compile time, at the end of this file.

/// One bound, as data: what the engine's attributes, the docs and the refusals print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The name in kebab case, as it stands in refusals and attributes.
    pub name: &'static str,
    /// The value, in `unit`.
    pub value: u64,
    /// The unit of the value: `ms`, `bytes`, or what is counted.
    pub unit: &'static str,
    /// What the bound protects and where its figure comes from.
    pub doc: &'static str,
}

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:literal $unit:literal as $text:literal;)+) => {
        $($(#[doc = $doc])+ pub const $name: Limit =
            Limit { name: $text, value: $value, unit: $unit, doc: concat!($($doc),+) };)+
        /// All bounds, in the order of this file.
        pub const ALL: &[Limit] = &[$($name),+];
    };
}

limits! {
    /// Shortest delay of psi's tools. Source: SEED-002, inclusive.
    DELAY_MS_MIN = 1_000 "ms" as "delay-ms-min";
    /// Longest delay of psi's tools: 24 h. Source: SEED-002, inclusive.
    DELAY_MS_MAX = 86_400_000 "ms" as "delay-ms-max";
    /// Shortest period of a recurring schedule: an agent's turn takes longer. Source: SEED-004, at least 1 s.
    PERIOD_MS_MIN = 1_000 "ms" as "period-ms-min";
    /// Longest period of a recurring schedule, and how far ahead a phrase may lie: 10 years. Source: SEED-001.
    PERIOD_MS_MAX = 315_360_000_000 "ms" as "period-ms-max";
    /// Length of a time zone's name; the longest that the time zone database has is 32.
    ZONE_BYTES = 64 "bytes" as "zone-bytes";
    /// Length of a cron expression: five fields with lists of every value would fit.
    CRON_BYTES = 512 "bytes" as "cron-bytes";
    /// Length of a phrase that says when.
    PHRASE_BYTES = 640 "bytes" as "phrase-bytes";
    /// Slots that one look into the future lists, and that one count of the past counts one by one.
    SLOTS_LISTED = 10_000 "slots" as "slots-listed";
    /// Slots that a forecast lists unless it is told otherwise.
    SLOTS_FORESEEN = 1_000 "slots" as "slots-foreseen";
    /// Decisions about one schedule that one explanation looks through, newest first.
    DECISIONS_EXPLAINED = 10_000 "decisions" as "decisions-explained";
    /// Runs that are kept in memory for one schedule, those that have not ended apart; the log has the others.
    RUNS_KEPT = 20 "runs" as "runs-kept";
    /// Missed slots of one schedule that are made up for, where its policy is to make up for all; older ones are skipped.
    CATCH_UP = 1_000 "slots" as "catch-up";
    /// The same while a schedule waits for the wall clock, which can be set at any time.
    WALL_SLICE_MS = 1_000 "ms" as "wall-slice-ms";
    /// Attempts at one run.
    ATTEMPTS = 20 "attempts" as "attempts";
    /// Unfinished schedules of one session made by psi's tools. Source: psi, 033.
    PSI_SESSION_SCHEDULES = 50 "schedules" as "psi-session-schedules";
    /// Active reminders of one session. Source: SEED-003's code.
    REMINDERS = 50 "reminders" as "reminders";
    /// Shortest interval of a reminder: an agent's turn takes longer. Source: SEED-003's code.
    REMINDER_SECONDS_MIN = 30 "s" as "reminder-seconds-min";
    /// Delayed actions of one session that have not ended. Source: SEED-000's code, a hard cap.
    SESSION_ACTIONS = 3 "actions" as "session-actions";
    /// How far ahead a delayed action may lie: 30 days. Source: SEED-000's code.
    ACTION_DELAY_MS_MAX = 2_592_000_000 "ms" as "action-delay-ms-max";
    /// How long a delayed action that has ended is listed: 7 days. Source: SEED-000's code.
    ACTION_KEPT_MS = 604_800_000 "ms" as "action-kept-ms";
    /// Unfinished schedules of one session, whoever made them; dialects may allow fewer.
    SESSION_SCHEDULES = 2_000 "schedules" as "session-schedules";
    /// Unfinished schedules of one line: made in turns that schedules began, back to one that a person or an operator asked for.
    LINE_SCHEDULES = 20 "schedules" as "line-schedules";
    /// How deep in a line a turn may schedule more, unless its session's grant says otherwise. Source: reliability F71, S12.
    LINE_DEPTH = 1 "turns" as "line-depth";
    /// Unfinished schedules in one engine, whoever made them: keeps memory below about 1.3 GB.
    SCHEDULES = 4_000_000 "schedules" as "schedules";
    /// Finished schedules kept for reading, by session; the oldest is forgotten first, and stays in the accounts.
    FINISHED_KEPT = 1_000 "schedules" as "finished-kept";
    /// Open sessions in one engine.
    SESSIONS = 200_000 "sessions" as "sessions";
    /// Length of a session id, a schedule id or a host's name.
    ID_BYTES = 128 "bytes" as "id-bytes";
    /// Length of a schedule's label.
    LABEL_BYTES = 1_024 "bytes" as "label-bytes";
    /// Length of a message or of one text in a session's configuration.
    TEXT_BYTES = 65_536 "bytes" as "text-bytes";
    /// Length of a file's path. Source: the longest that Linux takes.
    PATH_BYTES = 4_096 "bytes" as "path-bytes";
    /// Length of what a host says about a failure; more is cut there, visibly.
    ERROR_BYTES = 1_024 "bytes" as "error-bytes";
    /// Preloaded messages in one configuration.
    PRELOADED_MESSAGES = 256 "messages" as "preloaded-messages";
    /// Entries of one list in a configuration: skills, tool ids, selections.
    CONFIG_ITEMS = 1_024 "items" as "config-items";
    /// One request in any notation.
    REQUEST_BYTES = 262_144 "bytes" as "request-bytes";
    /// Nesting of one request: 64 is allowed, 65 refused.
    REQUEST_DEPTH = 64 "levels" as "request-depth";
    /// Digits of one number in a request.
    REQUEST_DIGITS = 1_000 "digits" as "request-digits";
    /// Forms in one request, at all depths together.
    REQUEST_FORMS = 100_000 "forms" as "request-forms";
    /// How long a host may take to acknowledge a delivery before it counts as failed.
    RECEIPT_MS = 30_000 "ms" as "receipt-ms";
    /// How long an attached host may take, after its acknowledgement, to report the turn that it began.
    /// Until then nothing more is pushed to that session: one delivery per idle transition.
    TURN_START_MS = 2_000 "ms" as "turn-start-ms";
    /// How long a session remembers that a job was ready: what is created for that job meanwhile has its slot at once.
    JOB_REMEMBERED_MS = 600_000 "ms" as "job-remembered-ms";
    /// Jobs that a session remembers so; the oldest makes room.
    JOBS_REMEMBERED = 16 "jobs" as "jobs-remembered";
    /// How long a guard outside may take to say whether a run may be handed over, unless told otherwise.
    GUARD_MS = 5_000 "ms" as "guard-ms";
    /// The longest that it may be told. A person is asked by an approval, not by a guard that takes its time.
    GUARD_MS_MAX = 30_000 "ms" as "guard-ms-max";
    /// How long what a guard outside has allowed holds, while the run waits for its session; then it is asked again.
    GUARD_ALLOWANCE_MS = 30_000 "ms" as "guard-allowance-ms";
    /// Questions that a guard outside is asked at the same time; the others wait, within their time.
    GUARD_QUESTIONS = 16 "questions" as "guard-questions";
    /// Length of the answer of a guard outside.
    GUARD_ANSWER_BYTES = 16_384 "bytes" as "guard-answer-bytes";
    /// Rules of one guard's policy: each hand-over may look at all of them.
    GUARD_RULES = 256 "rules" as "guard-rules";
    /// How long a run waits for an operator's word, unless told otherwise: a day, so that somebody has been at a desk.
    APPROVAL_MS = 86_400_000 "ms" as "approval-ms";
    /// The longest that it may be told: 30 days, which is what is kept of the log.
    APPROVAL_MS_MAX = 2_592_000_000 "ms" as "approval-ms-max";
    /// What operators have said yes to that is remembered of one run: more rules than that do not hold one.
    APPROVALS_KEPT = 8 "approvals" as "approvals-kept";
    /// Sessions that may do less than everything; an entry outlives its session.
    GRANTS = 4_096 "sessions" as "grants";
    /// Longest uninterrupted sleep of the driver: a suspended machine or a stepped clock is noticed within it.
    SLEEP_SLICE_MS = 30_000 "ms" as "sleep-slice-ms";
    /// How long an orderly shutdown waits for receipts that are still out.
    SHUTDOWN_MS = 2_000 "ms" as "shutdown-ms";
    /// Steps taken under one hold of the engine's lock: few enough that what they touch is still in the processor's
    /// cache when its effects and receipts come round.
    STEPS_PER_HOLD = 64 "steps" as "steps-per-hold";
    /// Decisions kept for subscribers that come back with a cursor.
    DECISIONS_KEPT = 65_536 "decisions" as "decisions-kept";
    /// Messages kept in the transcript of a built-in session; the oldest go first, and are counted.
    TRANSCRIPT_MESSAGES = 10_000 "messages" as "transcript-messages";
    /// Levels of entities in the answer to one query.
    QUERY_DEPTH = 32 "levels" as "query-depth";
    /// Attributes, joins and mutations in one query, at all levels together.
    QUERY_ATTRIBUTES = 1_000 "attributes" as "query-attributes";
    /// Entities that one query may look at.
    QUERY_ROWS = 20_000 "rows" as "query-rows";
    /// Calls that one query may need; one call may serve many entities.
    QUERY_CALLS = 10_000 "calls" as "query-calls";
    /// Queries that are kept planned, by their text.
    PLANS_KEPT = 512 "queries" as "plans-kept";
    /// Length of a query that is kept planned.
    PLAN_BYTES = 8_192 "bytes" as "plan-bytes";
    /// How long one query may take; whoever changes anything waits for it meanwhile.
    QUERY_MS = 500 "ms" as "query-ms";
    /// Entries of one page of a list.
    PAGE_ROWS = 5_000 "rows" as "page-rows";
    /// Size of one answer of psi-tool's query. Source: psi, 51 200 bytes; more is cut, and how to page is said.
    PSI_OUTPUT_BYTES = 51_200 "bytes" as "psi-output-bytes";
    /// Subscriptions of one connected client.
    CLIENT_SUBSCRIPTIONS = 16 "subscriptions" as "client-subscriptions";
    /// Bytes waiting to be written to one connected client; a client that does not read is cut off there.
    CLIENT_BACKLOG_BYTES = 8_388_608 "bytes" as "client-backlog-bytes";
    /// Schedules that one session token may create in a minute, all at once or spread; operators have no such bound.
    CREATES_PER_MINUTE = 600 "schedules" as "creates-per-minute";
    /// Length of a token that a person chooses, at the least.
    TOKEN_CHARS_MIN = 32 "characters" as "token-chars-min";
    /// How long a client may take for the head of a request, from its connection or its first byte on.
    HTTP_HEAD_MS = 5_000 "ms" as "http-head-ms";
    /// How long a client may take for the body of a request.
    HTTP_BODY_MS = 10_000 "ms" as "http-body-ms";
    /// How long a connection may stay open between two requests.
    HTTP_IDLE_MS = 60_000 "ms" as "http-idle-ms";
    /// How long an answer may stand still because its client takes no more of it.
    HTTP_STALLED_MS = 30_000 "ms" as "http-stalled-ms";
    /// Connections at the same time. Where one more comes, the oldest that has asked for nothing makes room.
    HTTP_CONNECTIONS = 512 "connections" as "http-connections";
    /// Connections of one peer address at the same time.
    HTTP_PEER_CONNECTIONS = 32 "connections" as "http-peer-connections";
    /// Connections of a loopback address: all clients of the machine share it, so it says nothing about who they are.
    HTTP_LOOPBACK_CONNECTIONS = 256 "connections" as "http-loopback-connections";
    /// The head of a request.
    HTTP_HEAD_BYTES = 32_768 "bytes" as "http-head-bytes";
    /// Header lines of a request.
    HTTP_HEADERS = 64 "headers" as "http-headers";
    /// Requests at the same time on one HTTP/2 connection.
    HTTP_STREAMS = 64 "requests" as "http-streams";
    /// How much of a body that is too long is still read, so that its sender gets the answer and not a broken connection.
    HTTP_DISCARD_BYTES = 1_048_576 "bytes" as "http-discard-bytes";
    /// How long an orderly stop waits for requests in progress, before it waits for receipts.
    HTTP_DRAIN_MS = 2_000 "ms" as "http-drain-ms";
    /// Wrong tokens of one peer that are answered at once; from there on the answer takes longer each time.
    WRONG_TOKENS = 8 "tokens" as "wrong-tokens";
    /// The longest that the answer to a wrong token is kept back.
    WRONG_TOKEN_MS = 1_000 "ms" as "wrong-token-ms";
    /// Peers whose wrong tokens are remembered; the one that has been quiet for longest is forgotten first.
    WRONG_TOKEN_PEERS = 1_024 "peers" as "wrong-token-peers";
    /// How soon the end of a session ends the streams that its token opened.
    TOKEN_RECHECK_MS = 1_000 "ms" as "token-recheck-ms";
    /// Levels of fields in a GraphQL operation, fragments opened. Source: reliability S13.
    GRAPHQL_DEPTH = 12 "levels" as "graphql-depth";
    /// Leaves that a GraphQL operation may be answered with; a page counts as often as it has entries. S13 has 500, and
    /// counts a page once: a page of 100 rows of 13 fields is what a dashboard asks for.
    GRAPHQL_COMPLEXITY = 10_000 "leaves" as "graphql-complexity";
    /// Aliases in a GraphQL operation, fragments opened. Source: S13.
    GRAPHQL_ALIASES = 30 "aliases" as "graphql-aliases";
    /// Fields of the root of a GraphQL operation. Source: S13.
    GRAPHQL_ROOT_FIELDS = 20 "fields" as "graphql-root-fields";
    /// Directives at one place of a GraphQL document. Source: S13.
    GRAPHQL_DIRECTIVES = 8 "directives" as "graphql-directives";
    /// Fields in a GraphQL document, fragments opened: what validating it may cost.
    GRAPHQL_FIELDS = 1_000 "fields" as "graphql-fields";
    /// Words, signs, strings and comments in a GraphQL document: what parsing it may cost.
    GRAPHQL_TOKENS = 8_192 "tokens" as "graphql-tokens";
    /// Arguments of one GraphQL field, and variables of one operation.
    GRAPHQL_ARGUMENTS = 64 "arguments" as "graphql-arguments";
    /// Lists of fields within each other in an introspection: each level multiplies the answer by the schema.
    /// Source: graphql-js, `MaxIntrospectionDepthRule`.
    GRAPHQL_INTROSPECTION_LISTS = 2 "levels" as "graphql-introspection-lists";
    /// Entries that a list without pages is reckoned with in a GraphQL operation's complexity.
    GRAPHQL_LIST_ENTRIES = 10 "entries" as "graphql-list-entries";
    /// Entries of a page in GraphQL, unless `first` or `last` says otherwise.
    GRAPHQL_PAGE = 50 "entries" as "graphql-page";
    /// Entries of a list that a tool for models answers, unless told otherwise: a model pays for every word.
    TOOL_PAGE = 20 "entries" as "tool-page";
    /// The most that it may be told.
    TOOL_PAGE_MAX = 100 "entries" as "tool-page-max";
    /// Resources of one page over MCP.
    MCP_PAGE = 50 "entries" as "mcp-page";
    /// How long a WebSocket may take to say who it is. Source: reliability S04.
    GRAPHQL_INIT_MS = 5_000 "ms" as "graphql-init-ms";
    /// Length of one message over a GraphQL WebSocket. Source: reliability T42.
    GRAPHQL_MESSAGE_BYTES = 65_536 "bytes" as "graphql-message-bytes";
    /// How often a GraphQL connection over which nothing is sent shows that it is alive.
    GRAPHQL_HEARTBEAT_MS = 15_000 "ms" as "graphql-heartbeat-ms";
    /// GraphQL subscriptions of one server at the same time: each has a thread.
    GRAPHQL_SUBSCRIPTIONS = 256 "subscriptions" as "graphql-subscriptions";
    /// Answers that wait between a subscription and its connection; the feed keeps the rest.
    GRAPHQL_PUSHED = 16 "answers" as "graphql-pushed";
    /// What is pushed to one GraphQL subscription at a time; the feed keeps the rest.
    GRAPHQL_BATCH = 64 "items" as "graphql-batch";
    /// GraphQL operations kept as compiled, by text and variables.
    GRAPHQL_COMPILED = 256 "operations" as "graphql-compiled";
    /// Length of an operation, variables included, that is kept as compiled.
    GRAPHQL_COMPILED_BYTES = 16_384 "bytes" as "graphql-compiled-bytes";
    /// Batches that wait for the disk; one more is refused.
    STORE_QUEUE_BATCHES = 16_384 "batches" as "store-queue-batches";
    /// Bytes that wait for the disk, each batch reckoned with its records.
    STORE_QUEUE_BYTES = 67_108_864 "bytes" as "store-queue-bytes";
    /// Facts and rows of one batch: what one decision may change durably.
    STORE_BATCH_RECORDS = 8_192 "records" as "store-batch-records";
    /// Bytes of one batch.
    STORE_BATCH_BYTES = 16_777_216 "bytes" as "store-batch-bytes";
    /// Facts and rows written in one transaction: how long the first of them waits for the last.
    STORE_GROUP_RECORDS = 16_384 "records" as "store-group-records";
    /// Length of a kind or a key in the store. A run's id is a schedule's and an instant.
    STORE_KEY_BYTES = 512 "bytes" as "store-key-bytes";
    /// Records of one chunk that is read.
    STORE_CHUNK_RECORDS = 4_096 "records" as "store-chunk-records";
    /// Bytes of one chunk that is read; a single larger record still makes one.
    STORE_CHUNK_BYTES = 4_194_304 "bytes" as "store-chunk-bytes";
    /// How long the store waits for another process that has its file locked. Source: reliability F54.
    STORE_BUSY_MS = 5_000 "ms" as "store-busy-ms";
    /// What the write-ahead log is cut back to. Source: reliability F55.
    STORE_WAL_BYTES = 67_108_864 "bytes" as "store-wal-bytes";
    /// Failures that a store remembers for its report.
    STORE_FAULTS_KEPT = 16 "failures" as "store-faults-kept";
    /// Facts kept of one schedule. Source: reliability F58.
    HISTORY_ROWS = 1_000 "facts" as "history-rows";
    /// Bytes of all facts kept. Source: reliability F58.
    HISTORY_BYTES = 268_435_456 "bytes" as "history-bytes";
    /// Age of the facts kept. Source: reliability F58.
    HISTORY_DAYS = 30 "days" as "history-days";
    /// Facts pruned in one transaction, at the least; more where more were appended.
    HISTORY_PRUNED = 256 "facts" as "history-pruned";
    /// Length of the URL of an endpoint.
    ENDPOINT_BYTES = 2_048 "bytes" as "endpoint-bytes";
    /// Body of a post to an endpoint. Source: Standard Webhooks 1.0, below 20 KB.
    WEBHOOK_BYTES = 20_480 "bytes" as "webhook-bytes";
    /// How long a connection to an endpoint may take, TLS included.
    WEBHOOK_CONNECT_MS = 10_000 "ms" as "webhook-connect-ms";
    /// How long a post may take from the look at the name to the head of the answer. Source: Standard Webhooks 1.0, 15–30 s.
    WEBHOOK_MS = 20_000 "ms" as "webhook-ms";
    /// The head of an endpoint's answer.
    WEBHOOK_HEAD_BYTES = 16_384 "bytes" as "webhook-head-bytes";
    /// Length of a key that posts are signed with, at the least. Source: Standard Webhooks 1.0.
    SIGNING_KEY_BYTES_MIN = 24 "bytes" as "signing-key-bytes-min";
    /// Length of a key that posts are signed with. Source: Standard Webhooks 1.0.
    SIGNING_KEY_BYTES = 64 "bytes" as "signing-key-bytes";
    /// How far the time of a signed post may be from the receiver's. Source: reliability S17, ±5 min.
    SIGNATURE_SECONDS = 300 "s" as "signature-seconds";
    /// Signatures of one post that are looked at, and keys that one endpoint is signed for: two while keys are exchanged.
    SIGNATURES = 8 "signatures" as "signatures";
    /// Length of the id of a signed post: a run's id with every byte of its schedule's escaped fits.
    MESSAGE_ID_BYTES = 512 "bytes" as "message-id-bytes";
    /// The longest that whoever is behind a channel may put the next attempt off: as long as the longest wait of the table.
    RETRY_AFTER_MS = 86_400_000 "ms" as "retry-after-ms";
    /// Deliveries that are on their way outside at the same time; one more counts as refused, and is tried again.
    OUTSIDE_IN_FLIGHT = 256 "deliveries" as "outside-in-flight";
    /// Channels in one configuration.
    CHANNELS = 64 "channels" as "channels";
    /// How long a program outside may take.
    PROGRAM_MS = 20_000 "ms" as "program-ms";
    /// What is kept of what a program outside writes to each of its two outputs; more is read and dropped.
    PROGRAM_OUTPUT_BYTES = 16_384 "bytes" as "program-output-bytes";
    /// How long the outputs of a program that has ended are still read: a descendant that left its group may hold them.
    PROGRAM_DRAIN_MS = 100 "ms" as "program-drain-ms";
}

// What is allowed must outlast the answer's way back, and defaults lie within their bounds.
const _: () = assert!(GUARD_MS.value <= GUARD_MS_MAX.value && APPROVAL_MS.value <= APPROVAL_MS_MAX.value);
const _: () = assert!(GUARD_ALLOWANCE_MS.value >= GUARD_MS_MAX.value);
// A delay must be possible at all, and one slice must be shorter than the longest delay.
const _: () = assert!(DELAY_MS_MIN.value < DELAY_MS_MAX.value);
const _: () = assert!(SLEEP_SLICE_MS.value < DELAY_MS_MAX.value);
const _: () = assert!(PERIOD_MS_MIN.value < PERIOD_MS_MAX.value);
const _: () = assert!(PERIOD_MS_MIN.value <= REMINDER_SECONDS_MIN.value * 1_000);
// A cron expression and its zone fit into a phrase.
const _: () = assert!(CRON_BYTES.value + ZONE_BYTES.value < PHRASE_BYTES.value);
// One session cannot fill the engine, and slab keys are 31 bits wide (engine/deadlines.rs keeps one value).
const _: () = assert!(PSI_SESSION_SCHEDULES.value <= SESSION_SCHEDULES.value);
const _: () = assert!(REMINDERS.value <= SESSION_SCHEDULES.value);
const _: () = assert!(SESSION_ACTIONS.value <= SESSION_SCHEDULES.value);
const _: () = assert!(SESSION_SCHEDULES.value < SCHEDULES.value && SCHEDULES.value < 1 << 31);
const _: () = assert!(SESSIONS.value < 1 << 31);
// A whole message fits into a request together with its envelope.
const _: () = assert!(TEXT_BYTES.value + 4 * LABEL_BYTES.value < REQUEST_BYTES.value);
// An orderly stop is over within five seconds.
const _: () = assert!(HTTP_DRAIN_MS.value + SHUTDOWN_MS.value < 5_000);
// One peer cannot take all connections, and the bound on loopback is the wider one.
const _: () = assert!(HTTP_PEER_CONNECTIONS.value < HTTP_LOOPBACK_CONNECTIONS.value);
const _: () = assert!(HTTP_LOOPBACK_CONNECTIONS.value < HTTP_CONNECTIONS.value);
// A page of the default length fits into an operation, and what is compiled is small next to a request.
const _: () =
    assert!(GRAPHQL_PAGE.value <= PAGE_ROWS.value && GRAPHQL_PAGE.value <= GRAPHQL_COMPLEXITY.value);
const _: () = assert!(GRAPHQL_COMPILED_BYTES.value < REQUEST_BYTES.value);
// What a tool or a page of resources lists is a small part of what one query may.
const _: () = assert!(TOOL_PAGE.value <= TOOL_PAGE_MAX.value && TOOL_PAGE_MAX.value <= PAGE_ROWS.value);
const _: () = assert!(MCP_PAGE.value <= PAGE_ROWS.value);
// The presumed turn ends before its receipt could be overdue, so one timer per lane is enough.
const _: () = assert!(TURN_START_MS.value < RECEIPT_MS.value);
// What goes outside is over before its receipt is overdue, and connecting is a part of it.
const _: () = assert!(WEBHOOK_CONNECT_MS.value < WEBHOOK_MS.value && WEBHOOK_MS.value < RECEIPT_MS.value);
const _: () = assert!(PROGRAM_MS.value + PROGRAM_DRAIN_MS.value < RECEIPT_MS.value);
const _: () = assert!(SIGNING_KEY_BYTES_MIN.value < SIGNING_KEY_BYTES.value);
const _: () = assert!(3 * ID_BYTES.value + 64 < MESSAGE_ID_BYTES.value);
// A batch fits into the queue and into a transaction, and a message with its keys into a batch.
const _: () = assert!(STORE_BATCH_BYTES.value < STORE_QUEUE_BYTES.value);
const _: () = assert!(STORE_BATCH_RECORDS.value <= STORE_GROUP_RECORDS.value);
const _: () = assert!(REQUEST_BYTES.value + 8 * STORE_KEY_BYTES.value < STORE_BATCH_BYTES.value);
// A whole batch may be pruned for a batch that comes: what the cap keeps is more.
const _: () = assert!(STORE_BATCH_BYTES.value < HISTORY_BYTES.value);

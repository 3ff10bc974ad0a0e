//! Relations between bounds that hold whatever their values are, checked when the crate is compiled.

use super::*;

// A permission lasts at least as long as the guard may take to give it, and the defaults lie within
// their maxima.
const _: () = assert!(GUARD_MS.value <= GUARD_MS_MAX.value && APPROVAL_MS.value <= APPROVAL_MS_MAX.value);
const _: () = assert!(GUARD_ALLOWANCE_MS.value >= GUARD_MS_MAX.value);
// The range of delays is not empty, and the driver wakes at least once before the longest delay
// ends.
const _: () = assert!(DELAY_MS_MIN.value < DELAY_MS_MAX.value);
const _: () = assert!(SLEEP_SLICE_MS.value < DELAY_MS_MAX.value);
const _: () = assert!(PERIOD_MS_MIN.value < PERIOD_MS_MAX.value);
const _: () = assert!(PERIOD_MS_MIN.value <= REMINDER_SECONDS_MIN.value * 1_000);
// A phrase can quote a whole cron expression together with its zone.
const _: () = assert!(CRON_BYTES.value + ZONE_BYTES.value < PHRASE_BYTES.value);
// One session cannot fill the engine. Slab keys are 31 bits wide, because engine/deadlines.rs
// reserves one value.
const _: () = assert!(PSI_SESSION_SCHEDULES.value <= SESSION_SCHEDULES.value);
const _: () = assert!(REMINDERS.value <= SESSION_SCHEDULES.value);
const _: () = assert!(SESSION_ACTIONS.value <= SESSION_SCHEDULES.value);
const _: () = assert!(SESSION_SCHEDULES.value < SCHEDULES.value && SCHEDULES.value < 1 << 31);
const _: () = assert!(SESSIONS.value < 1 << 31);
// A label that is bounded in characters is not too long for a schedule, however many bytes each takes.
const _: () = assert!(4 * WATCH_LABEL_CHARS.value <= LABEL_BYTES.value);
const _: () = assert!(4 * JOB_NAME_CHARS.value <= LABEL_BYTES.value);
// A message of the largest size fits into a request together with its envelope.
const _: () = assert!(TEXT_BYTES.value + 4 * LABEL_BYTES.value < REQUEST_BYTES.value);
// A hook names all schedules of an agent in one request: three texts of each, whose bytes may need six each, and short keys.
const _: () = assert!(
    AGENT_SCHEDULES.value * (3 * 6 * AGENT_SCHEDULE_TEXT_BYTES.value + ID_BYTES.value) < REQUEST_BYTES.value
);
// An orderly stop ends within five seconds, well before service managers send SIGKILL.
const _: () = assert!(HTTP_DRAIN_MS.value + SHUTDOWN_MS.value < 5_000);
// One remote peer cannot take all connections. Loopback gets more, because it stands for many
// clients.
const _: () = assert!(HTTP_PEER_CONNECTIONS.value < HTTP_LOOPBACK_CONNECTIONS.value);
const _: () = assert!(HTTP_LOOPBACK_CONNECTIONS.value < HTTP_CONNECTIONS.value);
// Streams leave connections for plain requests, whatever address they come from.
const _: () = assert!(HTTP_UPGRADES.value < HTTP_LOOPBACK_CONNECTIONS.value);
const _: () = assert!(HTTP_SESSION_UPGRADES.value + HTTP_OPERATOR_UPGRADES.value < HTTP_UPGRADES.value);
const _: () = assert!(
    GRAPHQL_SESSION_SUBSCRIPTIONS.value + GRAPHQL_OPERATOR_SUBSCRIPTIONS.value < GRAPHQL_SUBSCRIPTIONS.value
);
// A calendar is one query, which reads each slot with its schedule.
const _: () =
    assert!(CALENDAR_SLOTS.value <= SLOTS_LISTED.value && 2 * CALENDAR_SLOTS.value < QUERY_ROWS.value);
// One session can read an answer of the largest size, and cannot fill what all share.
const _: () = assert!(SESSION_QUERY_BYTES.value < SESSION_ANSWERS_BYTES.value);
const _: () =
    assert!(SESSION_QUERY_BYTES.value <= QUERY_BYTES.value && TEXT_BYTES.value < SESSION_QUERY_BYTES.value);
const _: () = assert!(SESSION_ANSWERS_BYTES.value + OPERATOR_ANSWERS_BYTES.value < ANSWERS_BYTES.value);
const _: () = assert!(CLIENT_BACKLOG_BYTES.value < SESSION_ANSWERS_BYTES.value);
// One host token, or all observers, have at most half of what sessions may use as well, and no less than one session.
const _: () = assert!(
    2 * HTTP_TOKEN_UPGRADES.value <= HTTP_UPGRADES.value - HTTP_OPERATOR_UPGRADES.value
        && 2 * HTTP_TOKEN_BODIES.value <= HTTP_BODIES.value - HTTP_OPERATOR_BODIES.value
        && 2 * TOKEN_ANSWERS_BYTES.value <= ANSWERS_BYTES.value - OPERATOR_ANSWERS_BYTES.value
        && 2 * GRAPHQL_TOKEN_SUBSCRIPTIONS.value
            <= GRAPHQL_SUBSCRIPTIONS.value - GRAPHQL_OPERATOR_SUBSCRIPTIONS.value
        && 2 * TOKEN_LONG_QUERIES.value <= LONG_QUERIES.value - OPERATOR_LONG_QUERIES.value
        && 2 * TOKEN_LONG_QUERIES_WAITING.value <= LONG_QUERIES_WAITING.value
        && 2 * TOKEN_AS_OF_QUERIES.value <= AS_OF_QUERIES.value - OPERATOR_AS_OF_QUERIES.value
        && 2 * TOKEN_AS_OF_WAITING.value <= AS_OF_WAITING.value
);
const _: () = assert!(
    HTTP_SESSION_UPGRADES.value <= HTTP_TOKEN_UPGRADES.value
        && SESSION_ANSWERS_BYTES.value <= TOKEN_ANSWERS_BYTES.value
        && SESSION_LONG_QUERIES.value <= TOKEN_LONG_QUERIES.value
        && SESSION_AS_OF_WAITING.value <= TOKEN_AS_OF_WAITING.value
);
const _: () = assert!(HTTP_BODY_GRACE_MS.value < HTTP_BODY_MS.value);
const _: () = assert!(HTTP_SESSION_BODIES.value + HTTP_OPERATOR_BODIES.value < HTTP_BODIES.value);
// A page of the default length is within the complexity bound, and a cached operation is small next
// to a request.
const _: () =
    assert!(GRAPHQL_PAGE.value <= PAGE_ROWS.value && GRAPHQL_PAGE.value <= GRAPHQL_COMPLEXITY.value);
const _: () = assert!(GRAPHQL_COMPILED_BYTES.value < REQUEST_BYTES.value);
// A page for a tool or a list of resources stays within the bound on pages.
const _: () = assert!(TOOL_PAGE.value <= TOOL_PAGE_MAX.value && TOOL_PAGE_MAX.value <= PAGE_ROWS.value);
const _: () = assert!(MCP_PAGE.value <= PAGE_ROWS.value);
// The time for a presumed turn ends before its receipt could be overdue, so one timer per lane is
// enough.
const _: () = assert!(TURN_START_MS.value < RECEIPT_MS.value);
// A delivery to a channel ends before its receipt is overdue: otherwise its real outcome would come
// too late to count. Connecting is part of that time.
const _: () = assert!(WEBHOOK_CONNECT_MS.value < WEBHOOK_MS.value && WEBHOOK_MS.value < RECEIPT_MS.value);
const _: () = assert!(PROGRAM_MS.value + PROGRAM_DRAIN_MS.value < RECEIPT_MS.value);
// A run's id in a message id: each byte of the schedule's id may need three characters, the rest is
// an instant and a number.
const _: () = assert!(SIGNING_KEY_BYTES_MIN.value < SIGNING_KEY_BYTES.value);
const _: () = assert!(3 * ID_BYTES.value + 64 < MESSAGE_ID_BYTES.value);
// Requests with their keys fit into the queue.
const _: () = assert!(2 * (REQUEST_BYTES.value + 8 * STORE_KEY_BYTES.value) < STORE_QUEUE_BYTES.value);
// The share of a session when all shares are taken.
const _: () = assert!(HISTORY_SESSION_BYTES.value == HISTORY_BYTES.value / HISTORY_SHARES.value);
// Pruning may have to free the size of a full queue; that must leave some history.
const _: () = assert!(STORE_QUEUE_BYTES.value < HISTORY_BYTES.value);
// One session cannot take all places of calls or of deliveries that sessions may take, and operators have a sixteenth of each.
const _: () = assert!(
    CALLS_OF_SESSION.value + CALLS_RESERVE.value < CALLS_IN_FLIGHT.value
        && CALLS_OF_HOST.value < CALLS_IN_FLIGHT.value
);
const _: () = assert!(OUTSIDE_OF_SESSION.value + OUTSIDE_RESERVE.value < OUTSIDE_IN_FLIGHT.value);
const _: () = assert!(OUTSIDE_OF_SESSION.value + OUTSIDE_CHANNEL_RESERVE.value < OUTSIDE_OF_CHANNEL.value);
const _: () = assert!(
    16 * CALLS_RESERVE.value >= CALLS_IN_FLIGHT.value
        && 16 * CALLS_WAITING_RESERVE.value >= CALLS_WAITING.value
        && 16 * OUTSIDE_RESERVE.value >= OUTSIDE_IN_FLIGHT.value
        && 16 * OUTSIDE_CHANNEL_RESERVE.value >= OUTSIDE_OF_CHANNEL.value
);
// Of an outcome no more is stored than is read.
const _: () = assert!(
    OUTCOME_KEPT_BYTES.value <= SESSION_OUTCOMES_BYTES.value
        && SESSION_OUTCOMES_BYTES.value <= OUTCOMES_BYTES.value
);
const _: () = assert!(OUTCOME_KEPT_BYTES.value <= OUTCOME_BYTES.value && CALL_MS.value <= CALL_MS_MAX.value);
const _: () = assert!(PARALLEL_CALLS.value < CALLS_WAITING.value);
const _: () = assert!(PARALLEL_SECONDS.value <= PARALLEL_SECONDS_MAX.value);

//! Bounds of calls of tools, of watches, and of what sessions are told of them.

mod watches;

use super::declare::{Limit, limits};
pub use watches::*;

limits! { OF_CALLS:
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
    /// Calls of tools that executors carry out at the same time.
    CALLS_IN_FLIGHT = 256 "calls" as "calls-in-flight";
    /// How many of the calls that executors carry out only those of operators may be.
    CALLS_RESERVE = 16 "calls" as "calls-reserve";
    /// Calls that one executor carries out for operators beyond its other places, which sessions may use up.
    CALLS_EXECUTOR_RESERVE = 2 "calls" as "calls-executor-reserve";
    /// Calls of tools that executors carry out at the same time for one session and the fresh sessions that come from it. More of
    /// them wait for their turn. Those of operators do not count.
    CALLS_OF_SESSION = 16 "calls" as "calls-of-session";
    /// Calls that run as an operator's programs at the same time.
    CALLS_OF_PROGRAMS = 16 "calls" as "calls-of-programs";
    /// Calls that one attached host carries out at the same time.
    CALLS_OF_HOST = 32 "calls" as "calls-of-host";
    /// Calls of built-in tools at the same time.
    CALLS_BUILT_IN = 16 "calls" as "calls-built-in";
    /// Calls of Reveille's own tools, made by other tools, at the same time. Each has a thread.
    CALLS_OWN = 16 "calls" as "calls-own";
    /// Calls that one server of the Model Context Protocol carries out at the same time.
    CALLS_OF_SERVER = 8 "calls" as "calls-of-server";
    /// Calls that wait for their turn. A session's own calls wait in line, and sessions take turns.
    CALLS_WAITING = 4_096 "calls" as "calls-waiting";
    /// How many of the calls that wait for their turn only those of operators may be.
    CALLS_WAITING_RESERVE = 256 "calls" as "calls-waiting-reserve";
    /// How long a call may take at most.
    CALL_MS_MAX = 3_600_000 "ms" as "call-ms-max";
    /// Bytes that are read of what a tool answers.
    OUTCOME_BYTES = 262_144 "bytes" as "outcome-bytes";
    /// Bytes of JSON that are kept of what a tool answered. Of a longer answer the beginning is kept, as text.
    OUTCOME_KEPT_BYTES = 65_536 "bytes" as "outcome-kept-bytes";
    /// Bytes that are kept of the error of a call.
    OUTCOME_ERROR_BYTES = 4_096 "bytes" as "outcome-error-bytes";
    /// Bytes that are kept of what the tasks of one session with the sessions that come from it came to. Beyond it the oldest
    /// outcome is dropped, and the task says so.
    SESSION_OUTCOMES_BYTES = 4_194_304 "bytes" as "session-outcomes-bytes";
    /// Bytes that are kept of what all tasks came to. Beyond it, the session that has most loses its oldest outcome.
    OUTCOMES_BYTES = 268_435_456 "bytes" as "outcomes-bytes";
    /// Calls that can be made at once. Source: SEED-001.
    PARALLEL_CALLS = 50 "calls" as "parallel-calls";
    /// Longest name of a tool that is asked for. Source: SEED-001.
    CALLED_NAME_BYTES = 256 "bytes" as "called-name-bytes";
    /// How long calls that are made at once are waited for, unless the caller says otherwise.
    PARALLEL_SECONDS = 120 "seconds" as "parallel-seconds";
    /// How long calls that are made at once can be waited for.
    PARALLEL_SECONDS_MAX = 300 "seconds" as "parallel-seconds-max";
    /// How long a client of the Model Context Protocol is kept waiting: many give up after a minute.
    MCP_WAIT_MS = 50_000 "ms" as "mcp-wait-ms";
    /// Requests of one stream whose answers come later, because their tools are at work.
    CLIENT_CALLS = 64 "requests" as "client-calls";
    /// Tools that one attached host can offer. Source: SEED-001's larger modules have some dozens each.
    OFFERED_TOOLS = 512 "tools" as "offered-tools";
    /// Servers of the Model Context Protocol in one configuration.
    TOOL_SERVERS = 32 "servers" as "tool-servers";
    /// Tools of one server of the Model Context Protocol; those beyond are left out.
    SERVER_TOOLS = 512 "tools" as "server-tools";
    /// Pages of a server's list of tools that are asked for.
    SERVER_PAGES = 64 "pages" as "server-pages";
    /// How long a server has from its start until it has listed its tools, each of the two steps.
    SERVER_START_MS = 10_000 "ms" as "server-start-ms";
    /// How long the start of the daemon waits for the tools of servers, all of them together.
    SERVERS_AWAITED_MS = 3_000 "ms" as "servers-awaited-ms";
    /// How long a server has to end by itself once its input is closed. What is left of its group is killed then.
    SERVER_END_MS = 2_000 "ms" as "server-end-ms";
    /// How long a server that has failed is left alone, at first. The time doubles with each failure in a row.
    SERVER_REST_MS = 1_000 "ms" as "server-rest-ms";
    /// How long a server that has failed is left alone at most.
    SERVER_REST_MS_MAX = 60_000 "ms" as "server-rest-ms-max";
    /// Longest message of a server. One that sends a longer one is ended.
    SERVER_MESSAGE_BYTES = 4_194_304 "bytes" as "server-message-bytes";
    /// How long a server may take to read one message.
    SERVER_READ_MS = 10_000 "ms" as "server-read-ms";
    /// Headers of an operator's own that requests to a server over HTTP bear.
    SERVER_HEADERS = 16 "headers" as "server-headers";
    /// Longest JSON Schema of a tool of a server; of a longer one only the type is shown.
    SERVER_SCHEMA_BYTES = 32_768 "bytes" as "server-schema-bytes";
    /// Tools whose calls are counted.
    COUNTED_TOOLS = 4_096 "tools" as "counted-tools";
    /// Tools in one configuration.
    CONFIGURED_TOOLS = 128 "tools" as "configured-tools";
    /// Longest description of a tool that a host or an operator offers.
    TOOL_DESCRIPTION_BYTES = 8_192 "bytes" as "tool-description-bytes";
    /// How long the end of a task is waited for, unless the caller says otherwise. Source: SEED-001.
    TASK_WAIT_SECONDS = 60 "seconds" as "task-wait-seconds";
    /// How long the end of a task can be waited for. Source: SEED-001.
    TASK_WAIT_SECONDS_MAX = 3_600 "seconds" as "task-wait-seconds-max";
    /// How long the launch of a task waits for it, so that one that fails at once is answered as that. Source: SEED-001.
    TASK_SETTLE_MS = 300 "ms" as "task-settle-ms";
    /// Tasks of one session that go on at the same time. Source: SEED-001.
    SESSION_TASKS = 100 "tasks" as "session-tasks";
}

//! The bounds of requests and their answers: sizes of texts, queries, pages, rates.

use super::declare::{Limit, limits};

limits! { OF_REQUESTS:
    /// Largest answer of one query, in bytes of what is read. An answer is held until its reader has
    /// taken it. Lists longer than that are read in pages.
    QUERY_BYTES = 8_388_608 "bytes" as "query-bytes";
    /// Largest answer of one query of a session's token: while it is read, the work of all others waits.
    SESSION_QUERY_BYTES = 1_048_576 "bytes" as "session-query-bytes";
    /// Most slots that one forecast lists. A count of past slots is exact up to this number, and a lower bound beyond it.
    SLOTS_LISTED = 10_000 "slots" as "slots-listed";
    /// Most buckets of a timeline: a day in minutes.
    TIMELINE_BUCKETS = 1_440 "buckets" as "timeline-buckets";
    /// Most cells of a timeline; one that was cut off says so.
    TIMELINE_CELLS = 14_400 "cells" as "timeline-cells";
    /// Slots that a forecast lists by default.
    SLOTS_FORESEEN = 1_000 "slots" as "slots-foreseen";
    /// How far a calendar looks ahead: 92 days.
    CALENDAR_MS = 7_948_800_000 "ms" as "calendar-ms";
    /// Slots of a calendar. Each is read with its schedule, so that they are half of the rows of a query at most.
    CALENDAR_SLOTS = 5_000 "slots" as "calendar-slots";
    /// Slots of one schedule in a calendar of several, so that one which fires every minute does not hide the others. There are
    /// fewer if so many of each schedule would not fit into the calendar.
    CALENDAR_SLOTS_EACH = 100 "slots" as "calendar-slots-each";
    /// Decisions about one schedule that one explanation reads, newest first.
    DECISIONS_EXPLAINED = 10_000 "decisions" as "decisions-explained";
    /// Longest id of a session or schedule, and longest name of a host.
    ID_BYTES = 128 "bytes" as "id-bytes";
    /// Longest label of a schedule.
    LABEL_BYTES = 1_024 "bytes" as "label-bytes";
    /// Longest message, and longest single text in a session's configuration.
    TEXT_BYTES = 65_536 "bytes" as "text-bytes";
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
    /// Decisions that the feed retains for subscribers that resume from a cursor.
    DECISIONS_KEPT = 65_536 "decisions" as "decisions-kept";
    /// Decisions of earlier processes that the feed gets from the log at a start.
    DECISIONS_RESTORED = 8_192 "decisions" as "decisions-restored";
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
    /// Time that the queries of one session's token may take per minute, of which half may come at once; the sessions
    /// that come from it count as well. Operators have no such bound.
    QUERY_MS_PER_MINUTE = 1_000 "ms" as "query-ms-per-minute";
    /// Queries that take long and run at the same time over HTTP, beside the threads that serve
    /// requests. One that took less than a millisecond the last time does not count.
    LONG_QUERIES = 5 "queries" as "long-queries";
    /// Long queries of one session, and of the fresh sessions that come from it, at the same time.
    SESSION_LONG_QUERIES = 2 "queries" as "session-long-queries";
    /// Long queries of one host token at the same time. All observers together have as many.
    TOKEN_LONG_QUERIES = 2 "queries" as "token-long-queries";
    /// How many of the long queries only operators may run.
    OPERATOR_LONG_QUERIES = 1 "queries" as "operator-long-queries";
    /// Long queries that may wait for their turn, of operators and of all others. Each waits on a thread.
    LONG_QUERIES_WAITING = 128 "queries" as "long-queries-waiting";
    /// Long queries of one session, and of the fresh sessions that come from it, that may wait for their turn.
    SESSION_LONG_QUERIES_WAITING = 32 "queries" as "session-long-queries-waiting";
    /// Long queries of one host token that may wait for their turn. All observers together have as many.
    TOKEN_LONG_QUERIES_WAITING = 64 "queries" as "token-long-queries-waiting";
    /// Queries as of an instant at the same time; each reads the whole log.
    AS_OF_QUERIES = 3 "queries" as "as-of-queries";
    /// Queries as of an instant of one session, and of the fresh sessions that come from it, at the same time.
    SESSION_AS_OF_QUERIES = 1 "queries" as "session-as-of-queries";
    /// Queries as of an instant of one host token at the same time. All observers together have as many.
    TOKEN_AS_OF_QUERIES = 1 "queries" as "token-as-of-queries";
    /// How many of the queries as of an instant only operators may run.
    OPERATOR_AS_OF_QUERIES = 1 "queries" as "operator-as-of-queries";
    /// Queries as of an instant that may wait for their turn, of operators and of all others.
    AS_OF_WAITING = 16 "queries" as "as-of-waiting";
    /// Queries as of an instant of one session, and of the fresh sessions that come from it, that may wait for their turn.
    SESSION_AS_OF_WAITING = 4 "queries" as "session-as-of-waiting";
    /// Queries as of an instant of one host token that may wait for their turn. All observers together have as many.
    TOKEN_AS_OF_WAITING = 8 "queries" as "token-as-of-waiting";
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
    /// Schedules that one session token may create per minute, in a burst or spread out; the sessions that come from it count
    /// as well. Operators have no such bound.
    CREATES_PER_MINUTE = 600 "schedules" as "creates-per-minute";
    /// Other changes that one session token may make per minute, counted like creations. Each is a fact in the log. A change of
    /// many schedules counts as many, and leaves those beyond the rate.
    CHANGES_PER_MINUTE = 600 "changes" as "changes-per-minute";
    /// Entries of a list that a tool for models returns by default; a model pays for every word.
    TOOL_PAGE = 20 "entries" as "tool-page";
    /// Most entries of a list that a tool for models can be asked for.
    TOOL_PAGE_MAX = 100 "entries" as "tool-page-max";
}

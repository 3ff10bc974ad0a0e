//! Budgets: what one session's family, and all callers together, may use of each resource, as one table.
//!
//! The attributes of a session and of the engine, the metrics and the page of limits are made from this table. What lives
//! elsewhere: how much is in use (`service/budgets.rs`), and who refuses (the code that counts). A refusal names the limit.

use super::*;

macro_rules! budgets {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal, $session:expr, $all:expr, $reserve:expr;)+) => {
        /// What is bounded for a family of sessions or for all.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Budget { $($(#[doc = $doc])+ $name),+ }

        impl Budget {
            /// All budgets, in the order of the table.
            pub const ALL: &[Budget] = &[$(Budget::$name),+];

            /// Returns the name, in kebab case.
            pub const fn name(self) -> &'static str {
                match self { $(Budget::$name => $text),+ }
            }

            /// Returns what is counted.
            pub const fn doc(self) -> &'static str {
                match self { $(Budget::$name => concat!($($doc),+)),+ }
            }

            /// Returns the bound of one session with the sessions that come from it, if each has one.
            pub const fn of_session(self) -> Option<Limit> {
                match self { $(Budget::$name => $session),+ }
            }

            /// Returns the bound of all callers together, if there is one.
            pub const fn of_all(self) -> Option<Limit> {
                match self { $(Budget::$name => $all),+ }
            }

            /// Returns which part of that only operators may use, if there is one.
            pub const fn reserve(self) -> Option<Limit> {
                match self { $(Budget::$name => $reserve),+ }
            }
        }
    };
}

budgets! {
    /// Schedules created within the last minute.
    Creates = "creates", Some(CREATES_PER_MINUTE), None, None;
    /// Other changes within the last minute.
    Changes = "changes", Some(CHANGES_PER_MINUTE), None, None;
    /// Time that queries have taken within the last minute.
    QueryTime = "query-time", Some(QUERY_MS_PER_MINUTE), None, None;
    /// Unfinished schedules.
    Schedules = "schedules", Some(SESSION_SCHEDULES), Some(SCHEDULES), None;
    /// Slots per minute of recurring schedules of less than a minute.
    Slots = "slots", Some(SLOTS_PER_MINUTE), None, None;
    /// Texts of schedules.
    ScheduleBytes = "schedule-bytes", Some(SESSION_BYTES), None, None;
    /// Fresh sessions that are open or being created; of all, open sessions of any kind.
    Sessions = "sessions", Some(FRESH_SESSIONS), Some(SESSIONS), None;
    /// What runs have had written to disk within the last second.
    RunBytes = "run-bytes", Some(RUN_BYTES_PER_SECOND), None, None;
    /// The transcript of one session alone, if it is built in.
    TranscriptBytes = "transcript-bytes", Some(TRANSCRIPT_BYTES), None, None;
    /// Facts in the log. When the log is full, a session beyond its bound loses its oldest ones.
    HistoryBytes = "history-bytes", Some(HISTORY_SESSION_BYTES), Some(HISTORY_BYTES), None;
    /// Deliveries on their way outside.
    Outside = "outside", Some(OUTSIDE_OF_SESSION), Some(OUTSIDE_IN_FLIGHT), Some(OUTSIDE_RESERVE);
    /// Bytes that are kept of what tasks came to.
    TaskOutcomes = "task-outcomes", Some(SESSION_OUTCOMES_BYTES), Some(OUTCOMES_BYTES), None;
    /// Calls of tools that executors carry out.
    Calls = "calls", Some(CALLS_OF_SESSION), Some(CALLS_IN_FLIGHT), Some(CALLS_RESERVE);
    /// EDN streams, WebSockets and waiting calls of tools over HTTP.
    Streams = "streams", Some(HTTP_SESSION_UPGRADES), Some(HTTP_UPGRADES), Some(HTTP_OPERATOR_UPGRADES);
    /// GraphQL subscriptions.
    Subscriptions = "subscriptions", Some(GRAPHQL_SESSION_SUBSCRIPTIONS), Some(GRAPHQL_SUBSCRIPTIONS),
        Some(GRAPHQL_OPERATOR_SUBSCRIPTIONS);
    /// Request bodies of which a part has not arrived.
    Bodies = "bodies", Some(HTTP_SESSION_BODIES), Some(HTTP_BODIES), Some(HTTP_OPERATOR_BODIES);
    /// Bytes of answers and events that wait to be sent.
    AnswerBytes = "answer-bytes", Some(SESSION_ANSWERS_BYTES), Some(ANSWERS_BYTES), Some(OPERATOR_ANSWERS_BYTES);
    /// Queries that take long.
    LongQueries = "long-queries", Some(SESSION_LONG_QUERIES), Some(LONG_QUERIES), Some(OPERATOR_LONG_QUERIES);
    /// Queries as of an instant.
    AsOfQueries = "as-of-queries", Some(SESSION_AS_OF_QUERIES), Some(AS_OF_QUERIES), Some(OPERATOR_AS_OF_QUERIES);
    /// HTTP connections. Before a token is shown, they are nobody's.
    Connections = "connections", None, Some(HTTP_CONNECTIONS), None;
    /// EDN streams over the Unix socket, which are operators'.
    SocketStreams = "socket-streams", None, Some(SOCKET_STREAMS), None;
}

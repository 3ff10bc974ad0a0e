//! What callers hold at the same time, with a quota for each kind. What lives elsewhere: the queries as of an instant
//! (`as_of_queue`), rates (`rate_limit`), and who takes from these quotas (`surface`).

use std::sync::{Arc, OnceLock};

use super::holder::PerHolder;
use super::queue::Queue;
use super::quota::Quota;
use crate::limits;

/// Counts what a server has open; unset without a server.
pub(crate) type Counter = OnceLock<Box<dyn Fn() -> u64 + Send + Sync>>;

/// The quotas of a server.
pub(crate) struct Places {
    /// EDN streams, WebSockets and waiting calls of tools over HTTP.
    pub(crate) upgrades: Arc<Quota>,
    /// GraphQL subscriptions.
    pub(crate) subscriptions: Arc<Quota>,
    /// Request bodies of which a part has not arrived.
    pub(crate) bodies: Arc<Quota>,
    /// Bytes of answers and events that are written and not yet sent.
    pub(crate) answers: Arc<Quota>,
    /// Queries that take long.
    pub(crate) long: Arc<Queue>,
    /// HTTP connections, and EDN streams over the Unix socket. They are counted where they are accepted.
    pub(crate) connections: Counter,
    pub(crate) socket_streams: Counter,
}

impl Places {
    /// Returns the number of HTTP connections.
    pub(super) fn connections(&self) -> u64 {
        self.connections.get().map_or(0, |count| count())
    }

    /// Returns the number of EDN streams over the Unix socket.
    pub(super) fn socket_streams(&self) -> u64 {
        self.socket_streams.get().map_or(0, |count| count())
    }
}

impl Default for Places {
    fn default() -> Places {
        let each = |family, token| PerHolder { family, token };
        let long = Quota::new(
            each(limits::SESSION_LONG_QUERIES, limits::TOKEN_LONG_QUERIES),
            limits::LONG_QUERIES,
            limits::OPERATOR_LONG_QUERIES,
        );
        let waiting = each(limits::SESSION_LONG_QUERIES_WAITING, limits::TOKEN_LONG_QUERIES_WAITING);
        Places {
            upgrades: Quota::new(
                each(limits::HTTP_SESSION_UPGRADES, limits::HTTP_TOKEN_UPGRADES),
                limits::HTTP_UPGRADES,
                limits::HTTP_OPERATOR_UPGRADES,
            ),
            subscriptions: Quota::new(
                each(limits::GRAPHQL_SESSION_SUBSCRIPTIONS, limits::GRAPHQL_TOKEN_SUBSCRIPTIONS),
                limits::GRAPHQL_SUBSCRIPTIONS,
                limits::GRAPHQL_OPERATOR_SUBSCRIPTIONS,
            ),
            bodies: Quota::new(
                each(limits::HTTP_SESSION_BODIES, limits::HTTP_TOKEN_BODIES),
                limits::HTTP_BODIES,
                limits::HTTP_OPERATOR_BODIES,
            ),
            answers: Quota::new(
                each(limits::SESSION_ANSWERS_BYTES, limits::TOKEN_ANSWERS_BYTES),
                limits::ANSWERS_BYTES,
                limits::OPERATOR_ANSWERS_BYTES,
            ),
            long: Queue::new(long, waiting, limits::LONG_QUERIES_WAITING),
            connections: OnceLock::new(),
            socket_streams: OnceLock::new(),
        }
    }
}

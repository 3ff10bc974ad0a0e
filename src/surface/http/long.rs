//! Runs what may take long beside the threads that serve requests.
//!
//! These threads are few, so a handful of slow queries would hold up every other request.
//! Invariant: a thread that waits here is replaced for as long as it waits or works, and the number
//! of those that wait is bounded.

use std::sync::Arc;

use super::message::error::HttpError;
use crate::domain::Caller;
use crate::limits::{self, Limit};
use crate::service::Queue;
use crate::surface::graphql::{GraphqlError, GraphqlRequest, GraphqlService};

/// How much time a request may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    /// Little: it is done in place.
    Quick,
    /// Up to the time limit of queries.
    Long,
    /// More. It has a queue of its own, where it does not hold up long queries (`service::as_of_queue`).
    AsOf,
}

impl Cost {
    /// The cost of a GraphQL operation.
    pub(super) fn of(graphql: &GraphqlService, caller: &Caller, request: &GraphqlRequest) -> Cost {
        match request.as_of {
            Some(_) => Cost::AsOf,
            None if graphql.is_quick(caller, request) => Cost::Quick,
            None => Cost::Long,
        }
    }
}

/// The error for a request that may not even wait.
pub(super) fn crowded(limit: Limit) -> HttpError {
    HttpError::used_up(limit, limit == limits::SESSION_LONG_QUERIES_WAITING)
}

/// The same in GraphQL's words.
pub(super) fn crowded_in_graphql(limit: Limit) -> Vec<GraphqlError> {
    vec![GraphqlError::limit(limit, "too many long queries wait for their turn; come back a little later")]
}

/// Does a caller's work where it belongs, in this queue if it takes long.
///
/// # Errors
/// The limit of the long queries that may wait.
pub(super) fn run<T>(
    queue: &Arc<Queue>,
    caller: &Caller,
    cost: Cost,
    work: impl FnOnce() -> T,
) -> Result<T, Limit> {
    match cost {
        Cost::Quick => Ok(work()),
        Cost::Long => tokio::task::block_in_place(|| {
            let _turn = queue.enter(caller)?;
            Ok(work())
        }),
        Cost::AsOf => Ok(tokio::task::block_in_place(work)),
    }
}

//! Runs what may take long beside the threads that serve requests.
//!
//! These threads are few, so a handful of slow queries would hold up every other request.
//! Invariant: a thread that waits here is replaced for as long as it waits or works, and the number
//! of those that wait is bounded.

use super::app_state::AppState;
use super::auth::Principal;
use super::message::error::HttpError;
use crate::domain::{Caller, Code as Class};
use crate::limits::{self, Limit};
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

/// Why work was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotDone {
    /// So many queries wait that this one may not even wait.
    Crowded(Limit),
    /// The caller's session was closed while the request waited. Another may have been opened under its id.
    Revoked,
}

/// The error for a request whose work was not done.
pub(super) fn not_done(why: NotDone) -> HttpError {
    match why {
        NotDone::Crowded(limit) => HttpError::used_up(limit, limit != limits::LONG_QUERIES_WAITING),
        NotDone::Revoked => HttpError::unauthorized(),
    }
}

/// The same in GraphQL's words.
pub(super) fn not_done_in_graphql(why: NotDone) -> Vec<GraphqlError> {
    vec![match why {
        NotDone::Crowded(limit) => {
            GraphqlError::limit(limit, "too many long queries wait for their turn; come back a little later")
        }
        NotDone::Revoked => GraphqlError::new(Class::Forbidden, "the session of this token was closed"),
    }]
}

/// Does a caller's work where it belongs, in the queue of long queries if it takes long.
///
/// # Errors
/// [`NotDone`]
pub(super) fn run<T>(
    app: &AppState,
    principal: &Principal,
    cost: Cost,
    work: impl FnOnce() -> T,
) -> Result<T, NotDone> {
    match cost {
        Cost::Quick => Ok(work()),
        // Checked when the turn has come: the session may have been closed while the request waited.
        Cost::Long => wait_for_turn(app, principal, || check(app, principal).map(|()| work()))?,
        Cost::AsOf => tokio::task::block_in_place(|| {
            // It waits for its turn itself, and only reads.
            let done = work();
            check(app, principal).map(|()| done)
        }),
    }
}

/// Does a caller's long work when its turn comes.
///
/// # Errors
/// [`NotDone::Crowded`]
pub(super) fn wait_for_turn<T>(
    app: &AppState,
    principal: &Principal,
    work: impl FnOnce() -> T,
) -> Result<T, NotDone> {
    tokio::task::block_in_place(|| {
        let _turn = app.long.enter(app.holder(principal)).map_err(NotDone::Crowded)?;
        Ok(work())
    })
}

fn check(app: &AppState, principal: &Principal) -> Result<(), NotDone> {
    if app.is_live(principal) { Ok(()) } else { Err(NotDone::Revoked) }
}

//! Waits for answers that come later, without a thread.
//!
//! Invariant: a request that is dropped, because its client is gone, ends what it has begun.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use tokio::sync::oneshot;

use super::app_state::AppState;
use super::auth::Principal;
use super::connection::conn_limit::ConnPermit;
use super::message::error::HttpError;
use crate::limits;
use crate::service::{Pending, Share};

/// The connection of a request, whose time limits wait for its tool.
pub(super) struct Line(Option<Arc<ConnPermit>>);

impl Line {
    /// The connection of this request.
    pub(super) fn of(request: &Request<Body>) -> Line {
        Line(request.extensions().get::<Arc<ConnPermit>>().cloned())
    }

    /// Waits for an answer, and passes it through `print`; `None` if it was lost.
    pub(super) async fn wait<T: Send + 'static>(
        &self,
        pending: Pending,
        print: impl FnOnce(crate::dialect::Answer) -> T + Send + 'static,
    ) -> Option<T> {
        let at_most = Duration::from_nanos(pending.at_most().nanos());
        // While this lives, the time limit of the connection includes that of the tool.
        let _waits = self.0.as_ref().map(|permit| permit.watchdog().await_answer(at_most));
        let (give, take) = oneshot::channel();
        // Dropped with this future if the client is gone, which ends the call.
        let _waiter = pending.then(move |answer| {
            // The request may be gone by now.
            let _ = give.send(print(answer));
        });
        take.await.ok()
    }
}

/// Takes a place for a request that may wait for a tool, if it may. It occupies its connection like a stream, so it counts as
/// one: otherwise one session's waiting calls would take the connections of everybody.
///
/// # Errors
/// 429 if the caller has too many such requests, 503 if all callers together do.
pub(super) fn seat(
    app: &AppState,
    principal: &Principal,
    may_wait: bool,
) -> Result<Option<Share>, HttpError> {
    let seat = may_wait.then(|| app.upgrades.take(&app.holder(principal), 1)).transpose();
    seat.map_err(|limit| HttpError::used_up(limit, limit != limits::HTTP_UPGRADES))
}

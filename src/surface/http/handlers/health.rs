//! The health checks: whether the server is alive, and whether it accepts work.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use crate::domain::Span;
use crate::edn::{Map, Value};
use crate::engine::StoreFailure;
use crate::limits;
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::message::error::{ErrorCode, HttpError};
use crate::surface::http::message::reply::Reply;

/// `GET /healthz`: answers 200 as long as the process runs. It needs no token, so it reveals
/// nothing else.
pub(in crate::surface::http) async fn alive() -> Reply {
    Reply::new(StatusCode::OK, Map::new().with("status", Value::keyword("alive")))
}

/// `GET /readyz`: 200 while work is accepted and done in time, 503 while the server stops or falls behind, or the store cannot be
/// written.
pub(in crate::surface::http) async fn ready(
    State(app): State<Arc<AppState>>,
    _who: Principal,
) -> Result<Reply, HttpError> {
    if app.is_stopping() {
        return Err(HttpError::new(
            ErrorCode::Unavailable,
            "the server is stopping",
            "try again after the restart",
        ));
    }
    let handle = app.service.handle();
    if let Some(StoreFailure { since, why, .. }) = handle.view(|state| state.store_failure().cloned()) {
        let message = format!("the store cannot be written since {}: {why}", since.brief());
        let hint =
            "free or repair the disk: the store is tried about once a second, and what is volatile goes on";
        return Err(HttpError::new(ErrorCode::Unavailable, message, hint));
    }
    let now = handle.now();
    // The driver handles each deadline within milliseconds, so one that stays means that the driver is late or dead.
    let overdue = handle.view(|state| state.next_wake(now)).map_or(Span::ZERO, |wake| now.boot.since(wake));
    if overdue.millis() > limits::OVERDUE_MS.value {
        let message = format!("the first deadline is overdue by {} s", overdue.millis() / 1_000);
        let error =
            HttpError::new(ErrorCode::Unavailable, message, "restart the daemon; nothing durable is lost");
        return Err(error.with_limit(limits::OVERDUE_MS));
    }
    Ok(Reply::new(StatusCode::OK, Map::new().with("status", Value::keyword("ready"))))
}

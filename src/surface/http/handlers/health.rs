//! The health checks: whether the server is alive, and whether it accepts work.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use crate::edn::{Map, Value};
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::message::error::{ErrorCode, HttpError};
use crate::surface::http::message::reply::Reply;

/// `GET /healthz`: answers 200 as long as the process runs. It needs no token, so it reveals
/// nothing else.
pub(in crate::surface::http) async fn alive() -> Reply {
    Reply::new(StatusCode::OK, Map::new().with("status", Value::keyword("alive")))
}

/// `GET /readyz`: 200 while work is accepted, 503 while the server stops.
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
    Ok(Reply::new(StatusCode::OK, Map::new().with("status", Value::keyword("ready"))))
}

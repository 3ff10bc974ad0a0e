//! The health checks: whether the server is alive, and whether it accepts work.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use super::error::{ErrorCode, HttpError};
use super::reply::Reply;
use super::site::Site;
use super::who::Who;
use crate::edn::{Map, Value};

/// `GET /healthz`: answers 200 as long as the process runs. It needs no token, so it reveals
/// nothing else.
pub(super) async fn alive() -> Reply {
    Reply::new(StatusCode::OK, Map::new().with("status", Value::keyword("alive")))
}

/// `GET /readyz`: 200 while work is accepted, 503 while the server stops.
pub(super) async fn ready(State(site): State<Arc<Site>>, _who: Who) -> Result<Reply, HttpError> {
    if site.is_stopping() {
        return Err(HttpError::new(
            ErrorCode::Unavailable,
            "the server is stopping",
            "try again after the restart",
        ));
    }
    Ok(Reply::new(StatusCode::OK, Map::new().with("status", Value::keyword("ready"))))
}

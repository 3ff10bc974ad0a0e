//! Whether the server lives, and whether it takes work.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use super::error::{ErrorCode, HttpError};
use super::reply::Reply;
use super::site::Site;
use super::who::Who;
use crate::edn::{Map, Value};

/// `GET /healthz`: whoever can answer lives. Open to everybody, so it says nothing else.
pub(super) async fn alive() -> Reply {
    Reply::new(StatusCode::OK, Map::new().with("status", Value::keyword("alive")))
}

/// `GET /readyz`: whether work is taken.
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

//! The route by which a job that should run regularly gives a sign of life, with no more than a URL and a token.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use super::jobs::{admitted, nobody, refused, speaker};
use crate::dialect::echo;
use crate::domain::{PingName, SessionId};
use crate::edn::Map;
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::message::error::HttpError;
use crate::surface::http::message::reply::Reply;
use crate::surface::http::route::Route;

/// `POST /v1/sessions/{session}/pings/{name}`: pings the session under this name. A body is ignored.
pub(in crate::surface::http) async fn take(
    State(app): State<Arc<AppState>>,
    path: Result<Path<(String, String)>, PathRejection>,
    principal: Principal,
) -> Result<Reply, HttpError> {
    let Path((session, name)) = path.map_err(|_| HttpError::not_found())?;
    let session = SessionId::new(&session).map_err(|_| nobody())?;
    let caller = speaker(&app, &principal, &session);
    // Before the name is looked at: a caller without the right learns nothing about what would be wrong with it.
    let admitted = admitted(&app, &caller, &session, Route::Ping)?;
    let name = PingName::new(&name).map_err(|error| {
        let hint = "use a short name that tells the pings of the session apart, such as backup";
        HttpError::invalid(error.to_string(), hint).with("value", echo(&name.as_str().into()))
    })?;
    let at = app.service.ping(admitted, &session, &name).map_err(|refusal| refused(&refusal))?;
    let ping = Map::new().with("name", name.as_str()).with("at", at.to_string());
    Ok(Reply::new(StatusCode::OK, Map::new().with("ping", ping)))
}

//! `/graphql`: queries and mutations by POST, queries by GET, subscriptions as event streams or
//! over a WebSocket, and the query page for browsers.
//!
//! Invariant: without a token, only the page and the WebSocket are served. The WebSocket asks for
//! the token in its first message.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderMap, HeaderName};
use axum::http::{HeaderValue, Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::surface::graphql::transport::http::{self, HttpReply, HttpRequest};
use crate::surface::graphql::transport::sse;
use crate::surface::graphql::{GraphqlReply, Outcome, refusal};
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::connection::conn_limit::ConnPermit;
use crate::surface::http::handlers::{event_stream, page, websocket};
use crate::surface::http::long::{self, Cost};
use crate::surface::http::message::body::read_json_text;
use crate::surface::http::message::error::HttpError;

/// Answers a request of any method.
pub(in crate::surface::http) async fn answer(
    State(app): State<Arc<AppState>>,
    request: Request<Body>,
) -> Result<Response, HttpError> {
    if websocket::is_wanted(&request) {
        return Ok(websocket::open(app, request).await);
    }
    if request.method() == Method::GET
        && request.uri().query().is_none()
        && page::is_wanted(request.headers())
    {
        return page::html(request.headers());
    }
    // Checked here and not by an extractor: the two answers above need no token.
    let principal = request.extensions().get::<Principal>().cloned().ok_or_else(HttpError::unauthorized)?;
    let permit = request.extensions().get::<Arc<ConnPermit>>().cloned();
    let (method, query) = (request.method().clone(), request.uri().query().unwrap_or_default().to_owned());
    let (accept, kind) = (text(request.headers(), ACCEPT), text(request.headers(), CONTENT_TYPE));
    // Read for a POST alone: what another method sends is ignored or refused by `http::answer`.
    let body = if method == Method::POST { read_json_text(&app, request).await? } else { Bytes::new() };
    let http = HttpRequest {
        method: method.as_str(),
        content_type: kind.as_deref(),
        accept: accept.as_deref(),
        query: &query,
        body: &body,
    };
    if sse::is_wanted(http.accept) {
        return Ok(match http::read(&http) {
            Ok((request, is_reading)) => {
                event_stream::open(&app, principal, permit.as_deref(), &request, is_reading)
            }
            Err(reply) => response(reply),
        });
    }
    let caller = &principal.caller;
    let run = |request: &_, is_reading| {
        let answer = || app.graphql.answer(caller, request, is_reading);
        let answered = long::run(&app, &principal, Cost::of(&app.graphql, caller, request), answer);
        let not_done = |why| {
            let body = refusal(&long::not_done_in_graphql(why));
            GraphqlReply { body, outcome: Outcome::Refused }
        };
        answered.unwrap_or_else(not_done)
    };
    Ok(response(http::answer(&http, run)))
}

pub(in crate::surface::http) fn response(reply: HttpReply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // `graphql::transport::http` has negotiated the media type.
    let kind = [(CONTENT_TYPE, HeaderValue::from_static(reply.content_type))];
    let mut response = (status, kind, reply.body).into_response();
    if let Some(allow) = reply.allow {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
    }
    response
}

/// The value of a header; several values are joined to one list (RFC 9110, section 5.3).
fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    let values: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

//! `POST /mcp`: the Model Context Protocol, one message per request. `?tools=native,cron` selects
//! the dialects whose tools are offered.
//!
//! The answer is always one JSON object and never a stream: no call takes long or asks the client
//! back. So there is nothing to GET and no session to DELETE; both get 405, as the protocol
//! provides. Invariant: the caller is known from the token of each request; `Mcp-Session-Id` is
//! ignored.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, HeaderMap};
use axum::http::{HeaderValue, Request, StatusCode};
use axum::response::{IntoResponse, Response};

use super::body::read_json;
use super::error::{ErrorCode, HttpError};
use super::gate::{Single, single};
use super::notation;
use super::site::Site;
use super::who::Who;
use crate::dialect::Notation;
use crate::surface::mcp::{Mirror, Offer, Reply, Said, Scheduler, Service};

/// Answers one message.
pub(super) async fn answer(
    State(site): State<Arc<Site>>,
    who: Who,
    request: Request<Body>,
) -> Result<Response, HttpError> {
    if notation::of_body(request.headers()) != Some(Notation::Json) {
        let (message, hint) = ("a message is JSON", "send application/json, in UTF-8");
        return Err(HttpError::new(ErrorCode::UnsupportedMediaType, message, hint));
    }
    let offer = offer(request.uri().query())?;
    let headers = request.headers().clone();
    let body = read_json(&site, request).await?;
    let mirror = Mirror {
        revision: said(&headers, Mirror::REVISION),
        method: said(&headers, Mirror::METHOD),
        name: said(&headers, Mirror::NAME),
    };
    let scheduler = Scheduler { handle: &site.handle, caller: &who.caller, offer: &offer };
    Ok(response(Service { features: &scheduler }.answer(&body, Some(&mirror))))
}

/// Parses the dialects selected by the query string.
fn offer(query: Option<&str>) -> Result<Offer, HttpError> {
    let Some(query) = query.filter(|query| !query.is_empty()) else { return Ok(Offer::default()) };
    // Clients may percent-encode the comma.
    let query = query.replace("%2C", ",").replace("%2c", ",");
    let asked = query.strip_prefix("tools=").and_then(|names| Offer::parse(names).ok());
    asked.ok_or_else(|| {
        let hint =
            "say tools=, and behind it native, psi, cron, reminder, session-action, or several with commas";
        HttpError::invalid("the address asks for tools that there are not", hint)
    })
}

fn said<'a>(headers: &'a HeaderMap, name: &str) -> Said<'a> {
    match single(headers, name) {
        Single::Absent => Said::Nothing,
        Single::Value(text) => Said::Once(text),
        Single::Unclear => Said::Unclear,
    }
}

fn response(reply: Reply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    match reply.body {
        None => status.into_response(),
        Some(body) => {
            let kind = HeaderValue::from_static(notation::media_type(Notation::Json));
            (status, [(CONTENT_TYPE, kind)], body).into_response()
        }
    }
}

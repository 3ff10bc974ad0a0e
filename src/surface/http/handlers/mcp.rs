//! `POST /mcp`: the Model Context Protocol, one message per request. `?tools=native,cron` selects
//! the dialects whose tools are offered.
//!
//! The answer is always one JSON object and never a stream: no call takes longer than clients wait, or asks the client
//! back. So there is nothing to GET and no session to DELETE; both get 405, as the protocol
//! provides. Invariant: the caller is known from the token of each request; `Mcp-Session-Id` is
//! ignored.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, HeaderMap};
use axum::http::{HeaderValue, Request, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::dialect::Notation;
use crate::domain::{Caller, Dialect};
use crate::edn::Value;
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::gate::{Single, single};
use crate::surface::http::later::{Line, seat};
use crate::surface::http::long::{self, Cost};
use crate::surface::http::message::body::read_json_text;
use crate::surface::http::message::error::{ErrorCode, HttpError};
use crate::surface::http::message::notation;
use crate::surface::mcp::{
    McpBegun, McpMessage, McpReply, McpService, Method, MirroredHeaders, MirroredValue, Misread, Scheduler,
    ToolFilter,
};

/// Answers one message.
pub(in crate::surface::http) async fn answer(
    State(app): State<Arc<AppState>>,
    principal: Principal,
    request: Request<Body>,
) -> Result<Response, HttpError> {
    if notation::of_body(request.headers()) != Some(Notation::Json) {
        let (message, hint) = ("a message must be JSON", "send application/json, in UTF-8");
        return Err(HttpError::new(ErrorCode::UnsupportedMediaType, message, hint));
    }
    let (offer, line) = (offer(request.uri().query())?, Line::of(&request));
    let headers = request.headers().clone();
    let body = read_json_text(&app, request).await?;
    let mirror = MirroredHeaders {
        revision: said(&headers, MirroredHeaders::REVISION),
        method: said(&headers, MirroredHeaders::METHOD),
        name: said(&headers, MirroredHeaders::NAME),
    };
    let scheduler = Scheduler { service: &app.service, caller: &principal.caller, offer: &offer };
    let message = McpMessage::read(&body);
    let model = principal.caller.as_model();
    let called = called_tool(&message).map(|(name, _)| name);
    let _seat = seat(&app, &principal, called.is_some_and(|name| app.service.may_wait(&model, name)))?;
    let cost = cost(&app, &model, &message);
    let begin = || McpService { features: &scheduler }.begin_read(message, Some(&mirror));
    let begun = long::run(&app, &principal, cost, begin);
    let reply = match begun.map_err(long::not_done)? {
        McpBegun::Now(reply) => reply,
        McpBegun::Later(pending, later) => {
            let reply =
                line.wait(pending, |answer| later.reply(answer)).await.ok_or_else(HttpError::not_found)?;
            // The tool may have worked for minutes, and the token may have been revoked meanwhile.
            if !app.is_live(&principal) {
                return Err(HttpError::unauthorized());
            }
            reply
        }
    };
    Ok(response(reply))
}

/// The tool that a message calls, with its arguments.
fn called_tool(message: &Result<McpMessage, Misread>) -> Option<(&str, &Value)> {
    let Ok(McpMessage::Request(request)) = message else { return None };
    let is_call = Method::parse(&request.method) == Some(Method::CallTool);
    let name = request.param("name").and_then(Value::as_str).filter(|_| is_call)?;
    Some((name, request.param("arguments").unwrap_or(&Value::Nil)))
}

/// The cost of a message: tools that read, and resources, may take long.
fn cost(app: &AppState, caller: &Caller, message: &Result<McpMessage, Misread>) -> Cost {
    let Ok(McpMessage::Request(request)) = message else { return Cost::Quick };
    let is_long = match Method::parse(&request.method) {
        Some(Method::ListResources | Method::ReadResource) => true,
        Some(Method::CallTool) => {
            called_tool(message).is_some_and(|(name, args)| app.service.may_take_long(caller, name, args))
        }
        Some(Method::Initialize | Method::Discover | Method::Ping) => false,
        Some(Method::ListTools | Method::ListTemplates) | None => false,
    };
    if is_long { Cost::Long } else { Cost::Quick }
}

/// Parses the dialects selected by the query string.
fn offer(query: Option<&str>) -> Result<ToolFilter, HttpError> {
    let Some(query) = query.filter(|query| !query.is_empty()) else { return Ok(ToolFilter::default()) };
    // Clients may percent-encode the comma.
    let query = query.replace("%2C", ",").replace("%2c", ",");
    let asked = query.strip_prefix("tools=").and_then(|names| ToolFilter::parse(names).ok());
    asked.ok_or_else(|| {
        let hint =
            "write tools= and a dialect, such as native, cron or memory, or several of them with commas";
        HttpError::invalid("the address names tools that do not exist", hint).with("dialects", known())
    })
}

fn known() -> Vec<Value> {
    Dialect::NAMES.iter().map(|name| Value::from(*name)).collect()
}

fn said<'a>(headers: &'a HeaderMap, name: &str) -> MirroredValue<'a> {
    match single(headers, name) {
        Single::Absent => MirroredValue::Nothing,
        Single::Value(text) => MirroredValue::Once(text),
        Single::Unclear => MirroredValue::Unclear,
    }
}

fn response(reply: McpReply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    match reply.body {
        None => status.into_response(),
        Some(body) => {
            let kind = HeaderValue::from_static(notation::media_type(Notation::Json));
            (status, [(CONTENT_TYPE, kind)], body).into_response()
        }
    }
}

//! `/tools`: lists the tools and calls them.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};

use crate::dialect::Answer;
use crate::domain::Code;
use crate::edn::{Map, Value};
use crate::service::{CallStyle, Called, Denial, DenialReason, ToolInfo};
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::later::{Line, seat};
use crate::surface::http::long::{self, Cost};
use crate::surface::http::message::body::read_value;
use crate::surface::http::message::error::{ErrorCode, HttpError};
use crate::surface::http::message::reply::Reply;

/// `GET /tools`: lists the tools that the caller can call.
pub(in crate::surface::http) async fn list(State(app): State<Arc<AppState>>, principal: Principal) -> Reply {
    let tools: Vec<Value> = app.service.toolbox(&principal.caller).into_iter().map(describe).collect();
    Reply::new(StatusCode::OK, Map::new().with("tools", tools))
}

/// `GET /kit`: lists the tools that the caller's session can have called by `run_parallel`, `background_run` and the like.
pub(in crate::surface::http) async fn kit(State(app): State<Arc<AppState>>, principal: Principal) -> Reply {
    Reply::new(StatusCode::OK, app.service.kit(&principal.caller))
}

/// `POST /tools/{name}`: calls one tool. A refusal by the tool is an answer with status 422.
pub(in crate::surface::http) async fn call(
    State(app): State<Arc<AppState>>,
    name: Result<Path<String>, PathRejection>,
    principal: Principal,
    request: Request<Body>,
) -> Result<Reply, HttpError> {
    let line = Line::of(&request);
    // The body comes first, also for an unknown tool: an unread body would break the connection.
    let (args, notation) = read_value(&app, request).await?;
    let Path(name) = name.map_err(|_| HttpError::not_found())?;
    let caller = &principal.caller;
    let absent = || {
        let absent = app.service.no_tool(caller, &name);
        let hint = absent.hint.map_or("GET /tools lists the tools".into(), Cow::Owned);
        HttpError::new(ErrorCode::NotFound, "there is no tool of this name", hint).with("tool", absent.name)
    };
    let _seat = seat(&app, &principal, app.service.may_wait(caller, &name))?;
    let cost = if app.service.may_take_long(caller, &name, &args) { Cost::Long } else { Cost::Quick };
    // The call has a bound of its own. Only clients of MCP need a shorter one.
    let style = CallStyle { notation, patience: None };
    let called = long::run(&app, &principal, cost, || app.service.begin_tool(&name, caller, &args, style));
    let called = called.map_err(long::not_done)?.map_err(|denial| denied(&denial))?;
    let answer = match called.ok_or_else(absent)? {
        Called::Now(answer) => answer,
        Called::Later(pending) => {
            let answer = line.wait(pending, |answer| answer).await.ok_or_else(HttpError::not_found)?;
            // The tool may have worked for minutes, and the token may have been revoked meanwhile.
            if !app.is_live(&principal) {
                return Err(HttpError::unauthorized());
            }
            answer
        }
    };
    let (status, wait) = (status(&answer), answer.retry_after);
    // Printed by the last step of all routes, in the notation that the caller accepts.
    Ok(Reply::new(status, answer.value).after(wait))
}

/// The status of a tool's answer. A refusal is data; its status only says whether, and when, the same call may be made again.
fn status(answer: &Answer) -> StatusCode {
    match answer.code {
        _ if !answer.is_error => StatusCode::OK,
        Some(Code::Unavailable) => StatusCode::SERVICE_UNAVAILABLE,
        Some(_) if answer.retry_after.is_some() => StatusCode::TOO_MANY_REQUESTS,
        Some(Code::Validation | Code::NotFound | Code::Conflict | Code::Limit | Code::Forbidden) | None => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
    }
}

fn describe(tool: &ToolInfo) -> Value {
    Map::new()
        .with("name", tool.name)
        .with("dialect", Value::keyword(tool.dialect.name()))
        .with("description", tool.description())
        .with("annotations", tool.effect.annotations())
        .with("input-schema", tool.input_schema())
        .into()
}

pub(in crate::surface::http) fn denied(denial: &Denial) -> HttpError {
    if let DenialReason::TooFast { rate, wait } = denial.reason {
        let error = HttpError::new(ErrorCode::Limit, denial.to_string(), "wait as long as Retry-After says");
        return error.with_limit(rate).retry_after(wait);
    }
    if denial.reason == DenialReason::Absent {
        return HttpError::not_found();
    }
    let code =
        if denial.reason == DenialReason::NoSession { ErrorCode::Validation } else { ErrorCode::Forbidden };
    HttpError::new(code, denial.to_string(), denial.hint())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::RETRY_AFTER;
    use axum::response::IntoResponse;

    use super::*;
    use crate::domain::Span;

    #[test]
    fn what_may_be_asked_again_says_so_and_when() {
        let response = |code, wait| {
            let answer = Answer::refused(Value::Nil, code).after(wait);
            Reply::new(status(&answer), answer.value).after(answer.retry_after).into_response()
        };
        let unavailable = response(Code::Unavailable, None);
        assert_eq!(unavailable.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(unavailable.headers().get(RETRY_AFTER).map(HeaderValue::as_bytes), Some(&b"1"[..]));
        let too_fast = response(Code::Limit, Some(Span::from_millis(1_001)));
        assert_eq!(too_fast.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(too_fast.headers().get(RETRY_AFTER).map(HeaderValue::as_bytes), Some(&b"2"[..]));
        // Time alone does not free a place.
        let full = response(Code::Limit, None);
        assert_eq!(full.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let conflict = response(Code::Conflict, None);
        assert_eq!(conflict.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert!(!conflict.headers().contains_key(RETRY_AFTER));
    }
}

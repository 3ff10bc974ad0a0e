//! `POST /eql`: answers an EQL query, given bare or in Pathom's request map.
//!
//! An EDN answer is written directly while the graph is read; a JSON answer is built as a value
//! first. Invariant: a query that fails gets 200 and Pathom's error map; only an invalid request is
//! an HTTP error.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Request, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::dialect::Notation;
use crate::edn::Value;
use crate::graph::eql::{QueryRefusal, WriteOutcome};
use crate::service::{PrepareError, Prepared, failed, reply};
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::long::{self, Cost};
use crate::surface::http::message::body::read_text;
use crate::surface::http::message::error::{ErrorCode, HttpError};
use crate::surface::http::message::notation;
use crate::surface::http::message::reply::Reply;

/// Answers one request.
pub(in crate::surface::http) async fn query(
    State(app): State<Arc<AppState>>,
    principal: Principal,
    request: Request<Body>,
) -> Result<Response, HttpError> {
    let answer = notation::of_answer(request.headers());
    let (text, body) = read_text(&app, request).await?;
    // EQL has no JSON form; only the answer can be JSON.
    if body != Notation::Edn {
        let (message, hint) = ("a query must be EDN", "send application/edn, in UTF-8");
        return Err(HttpError::new(ErrorCode::UnsupportedMediaType, message, hint));
    }
    let prepared = app.service.prepare(&principal.caller, &text).map_err(|error| unprepared(&error))?;
    let cost = match prepared.boundary.as_of {
        Some(_) => Cost::AsOf,
        None if prepared.is_quick() => Cost::Quick,
        None => Cost::Long,
    };
    // Not run yet: `long::run` decides on which thread, and whether it has to wait for its turn.
    let work = || match answer {
        Notation::Edn => as_edn(&app, &principal, &prepared),
        Notation::Json => {
            let answer =
                app.service.run(&principal.caller, &prepared, false).map_err(|error| refused(&error))?;
            Ok(Reply::new(StatusCode::OK, reply(&prepared.boundary, answer)).into_response())
        }
    };
    long::run(&app, &principal, cost, work).map_err(long::not_done)?
}

fn as_edn(app: &AppState, principal: &Principal, prepared: &Prepared) -> Result<Response, HttpError> {
    let mut text = String::with_capacity(ROOM);
    let written = app.service.answer(&principal.caller, prepared, false, &mut text);
    if let WriteOutcome::Failed(failure) = written.map_err(|error| refused(&error))? {
        // A failure replaces whatever was written before it.
        text = Value::Map(failed(&prepared.boundary, &failure)).to_string();
    }
    text.push('\n');
    let mut response = Body::from(text).into_response();
    let kind = HeaderValue::from_static(notation::media_type(Notation::Edn));
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

fn unprepared(error: &PrepareError) -> HttpError {
    let hint = "send a query vector, or {:pathom/eql [...] :pathom/entity {...}}";
    match error {
        PrepareError::Read(error) => {
            let invalid = HttpError::invalid(format!("the query is not EDN: {error}"), hint);
            invalid.with("offset", i64::try_from(error.offset()).unwrap_or(i64::MAX))
        }
        PrepareError::Parse(error) => {
            HttpError::invalid(error.to_string(), hint).with("error", error.to_map())
        }
        PrepareError::Refused(refusal) => refused(refusal),
    }
}

/// The error for a query beyond the limits: 400 and not 429, because sending it again at once does not help, except to a caller
/// that is too fast.
fn refused(refusal: &QueryRefusal) -> HttpError {
    if let QueryRefusal::TooFast { limit, wait } = refusal {
        let error = HttpError::new(ErrorCode::Limit, refusal.to_string(), hint(refusal));
        return error.with_limit(*limit).with("error", refusal.to_map()).retry_after(*wait);
    }
    if let QueryRefusal::Forbidden(why) = refusal {
        return HttpError::new(ErrorCode::Forbidden, why.to_string(), hint(refusal));
    }
    HttpError::invalid(refusal.to_string(), hint(refusal)).with("error", refusal.to_map())
}

/// What the caller can do about a query that is refused.
fn hint(refusal: &QueryRefusal) -> &'static str {
    match refusal {
        QueryRefusal::Limit { .. } | QueryRefusal::Stopped => "ask for less, or page with :first and :after",
        QueryRefusal::NestedMutation(_) => "put the mutation at the top of the query, beside the join",
        QueryRefusal::Past(_) => {
            "ask as of an instant that has passed and that the log has, or about the present"
        }
        QueryRefusal::PastBusy { .. } => "ask again later",
        QueryRefusal::PastLate { .. } => "ask for another instant",
        QueryRefusal::Pruned { .. } => "ask as of the instant at which the history begins, or later",
        QueryRefusal::TooFast { .. } => "wait as long as Retry-After says",
        QueryRefusal::Forbidden(_) => "ask an operator to do it",
    }
}

/// The initial capacity of an answer, enough for most.
const ROOM: usize = 4_096;

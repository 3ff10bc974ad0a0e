//! Reads request bodies: within limits of size, time and depth, before any parser sees them.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, HeaderMap};
use axum::http::{HeaderValue, Request};
use hyper::body::Body as _;
use tokio::time::timeout;

use crate::dialect::{Notation, REQUEST_CAPS};
use crate::edn::{self, Value};
use crate::limits::{self, Limit};
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::connection::conn_limit::ConnPermit;
use crate::surface::http::message::error::{ErrorCode, HttpError};
use crate::surface::http::message::notation;
use crate::surface::http::message::scan::{Syntax, depth};
use crate::surface::json;

/// Reads and parses a body in the notation of its media type.
///
/// # Errors
/// As [`read_text`], and 400 for a body that cannot be parsed.
pub(in crate::surface::http) async fn read_value(
    app: &AppState,
    request: Request<Body>,
) -> Result<(Value, Notation), HttpError> {
    let (text, notation) = read_text(app, request).await?;
    parse(&text, notation).map(|value| (value, notation))
}

/// Reads a body of a known notation, and checks its size, depth and encoding.
///
/// # Errors
/// 415 for an unknown notation or a packed body, 413 for a body that is too long, 408 for one that is too slow, 400
/// for one that is too deep, not UTF-8 or incomplete.
pub(in crate::surface::http) async fn read_text(
    app: &AppState,
    request: Request<Body>,
) -> Result<(Bytes, Notation), HttpError> {
    let Some(notation) = notation::of_body(request.headers()) else {
        let hint = "send application/edn or application/json, in UTF-8";
        return Err(HttpError::new(
            ErrorCode::UnsupportedMediaType,
            "the body's media type is not supported",
            hint,
        ));
    };
    let syntax = match notation {
        Notation::Edn => Syntax::Edn,
        Notation::Json => Syntax::Json,
    };
    let bytes = read_bytes(app, request).await?;
    check_text(&bytes, syntax)?;
    Ok((bytes, notation))
}

/// Reads a JSON body without checking its media type; checks its size, depth and encoding.
///
/// # Errors
/// As [`read_text`], but for the media type.
pub(in crate::surface::http) async fn read_json_text(
    app: &AppState,
    request: Request<Body>,
) -> Result<Bytes, HttpError> {
    let bytes = read_bytes(app, request).await?;
    check_text(&bytes, Syntax::Json)?;
    Ok(bytes)
}

async fn read_bytes(app: &AppState, request: Request<Body>) -> Result<Bytes, HttpError> {
    // Unpacking would take a bound of its own. Taken as it stands, packed text is no text (RFC 9110, section 8.4).
    let plain = |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"identity");
    if !request.headers().get_all(CONTENT_ENCODING).iter().all(plain) {
        let hint = "send it without Content-Encoding";
        return Err(HttpError::new(ErrorCode::UnsupportedMediaType, "a packed body is not supported", hint));
    }
    let announced = announced(request.headers());
    // A client that sent `Expect: 100-continue` waits for leave to send, so it can be refused
    // before the body (RFC 9110, section 10.1.1).
    let waits = request.headers().contains_key(EXPECT);
    if announced > limits::HTTP_DISCARD_BYTES.value || (waits && announced > limits::REQUEST_BYTES.value) {
        return Err(too_long(limits::REQUEST_BYTES));
    }
    let (parts, body) = request.into_parts();
    // One future for the first poll and for the waiting below, so that no byte is lost between them.
    let mut reading = pin!(collect(body, limits::REQUEST_BYTES));
    if let Some(read) = at_once(reading.as_mut()).await {
        return read;
    }
    // Without a token, no body is read (`gate`).
    let principal = parts.extensions.get::<Principal>().ok_or_else(HttpError::unauthorized)?;
    let grace = app.times.body_grace.min(app.times.body);
    let permit = parts.extensions.get::<Arc<ConnPermit>>();
    let wait = || permit.map(|permit| permit.watchdog().wait_for_body());
    // Before the place is taken, so that a connection whose body holds a place can always be closed for another.
    let before = grace.is_zero().then(wait);
    // From here on the client decides how long the body takes, so it counts against the limits.
    let place = app.bodies.take(&app.holder(principal), 1);
    let place = place.map_err(|limit| HttpError::used_up(limit, limit != limits::HTTP_BODIES))?;
    let read = match timeout(grace, reading.as_mut()).await {
        Ok(read) => Ok(read),
        Err(_) => {
            let _waiting = before.unwrap_or_else(wait);
            timeout(app.times.body.saturating_sub(grace), reading).await
        }
    };
    drop(place);
    // The session may have been closed while the body was arriving.
    if !app.is_live(principal) {
        return Err(HttpError::unauthorized());
    }
    read.map_err(|_| too_slow().with_limit(limits::HTTP_BODY_MS))?
}

/// Returns what a reading gives without a wait: most bodies have arrived together with the head, and their senders hold nothing.
pub(in crate::surface::http) async fn at_once<T>(
    mut reading: Pin<&mut impl Future<Output = T>>,
) -> Option<T> {
    let polled = poll_fn(|context| Poll::Ready(reading.as_mut().poll(context))).await;
    match polled {
        Poll::Ready(read) => Some(read),
        Poll::Pending => None,
    }
}

/// The answer to a body that is not there in time.
pub(in crate::surface::http) fn too_slow() -> HttpError {
    HttpError::new(ErrorCode::Timeout, "the body took too long", "send it faster")
}

/// The announced length of the body; 0 if none is announced.
fn announced(headers: &HeaderMap) -> u64 {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    length.and_then(|length| length.parse().ok()).unwrap_or(0)
}

/// Reads a body. One that is longer than the limit is read a little further and discarded, because its sender
/// would otherwise see a broken connection instead of the answer.
///
/// # Errors
/// 413 for a body that is too long, 400 for one that ends early.
pub(in crate::surface::http) async fn collect(mut body: Body, limit: Limit) -> Result<Bytes, HttpError> {
    let (mut bytes, mut length) = (Vec::new(), 0);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let broken = |_| HttpError::invalid("the body ended early", "send as many bytes as announced");
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        length += data.len() as u64;
        if length > limits::HTTP_DISCARD_BYTES.value {
            break;
        }
        // Beyond the limit bytes are only counted, not stored.
        if length <= limit.value {
            bytes.extend_from_slice(&data);
        }
    }
    if length > limit.value { Err(too_long(limit)) } else { Ok(bytes.into()) }
}

fn too_long(limit: Limit) -> HttpError {
    let error = HttpError::new(ErrorCode::TooLarge, "the body is too long", "send less in one request");
    error.with_limit(limit)
}

fn parse(text: &[u8], notation: Notation) -> Result<Value, HttpError> {
    let readable = "send one value, each key of a map once";
    match notation {
        Notation::Edn => edn::read(text, &REQUEST_CAPS)
            .map_err(|error| HttpError::invalid(format!("the body is not EDN: {error}"), readable)),
        Notation::Json => json::read(text, &REQUEST_CAPS)
            .map_err(|error| HttpError::invalid(format!("the body is not JSON: {error}"), readable)),
    }
}

/// Checks the encoding and the nesting of a text before a parser sees it.
///
/// # Errors
/// 400.
pub(in crate::surface::http) fn check_text(bytes: &[u8], syntax: Syntax) -> Result<&str, HttpError> {
    let limit = limits::REQUEST_DEPTH;
    // Before any parser: one that recurses could overflow its stack.
    if depth(bytes, syntax) as u64 > limit.value {
        let message = format!("the body is nested deeper than {} {}", limit.value, limit.unit);
        return Err(HttpError::invalid(message, "nest less").with_limit(limit));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let offset = i64::try_from(error.valid_up_to()).unwrap_or(i64::MAX);
        HttpError::invalid("the body is not UTF-8", "send UTF-8").with("offset", offset)
    })
}

//! Calls by pages of the origins that the configuration names (CORS): the answer to a preflight, and the headers by which a
//! browser shows an answer to such a page.
//!
//! What lives elsewhere: which origins these are (`gate.rs`). Invariants: only a configured origin is named, and only to its own
//! pages. Credentials are never allowed, and the header of our own pages is not among those that may be sent, so a page of
//! another origin has nothing but a token that somebody gave to it.
//! Source: the Fetch standard, section 3.3.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HeaderMap,
    HeaderValue, VARY,
};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};

use super::gate::Gate;

/// Answers the question of a browser whether a page may send a request, if it is a page that may call. It is asked without a
/// token, and the answer is the same for every path, so it tells nothing of what there is.
pub(super) fn preflight(gate: &Gate, parts: &Parts) -> Option<Response> {
    let asks = parts.method == Method::OPTIONS && parts.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    if !asks || gate.foreign_page(&parts.headers).is_none() {
        return None;
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Some(response)
}

/// The header that lets a page of another origin read an answer; `None` if no such page has asked.
pub(super) fn reader(gate: &Gate, headers: &HeaderMap) -> Option<HeaderValue> {
    gate.foreign_page(headers).cloned()
}

/// Lets the page read the answer to its request.
pub(super) fn share(gate: &Gate, page: Option<HeaderValue>, response: &mut Response) {
    let headers = response.headers_mut();
    if gate.has_foreign_pages() {
        // Also where no page has asked: a cache must not give that answer to one.
        headers.append(VARY, HeaderValue::from_static("origin"));
    }
    if let Some(page) = page {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
}

/// The methods of the routes, but for those that a browser sends without asking.
const METHODS: &str = "GET, POST";
/// The headers that requests of our routes have.
const HEADERS: &str =
    "authorization, content-type, reveille-session, mcp-protocol-version, mcp-method, mcp-name";
/// The header of answers that a page needs besides those that every page can read.
const EXPOSED: &str = "retry-after";
/// How long a browser may remember the answer. A restart can change it.
const MAX_AGE_SECONDS: &str = "600";

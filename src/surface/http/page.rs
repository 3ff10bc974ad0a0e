//! The query page: static, without data and without a token. The page asks for one and keeps it in memory only.
//!
//! Invariant: the page loads nothing from elsewhere, and may not; `web/` holds all of it.

use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, REFERRER_POLICY};
use axum::http::{HeaderValue, header::ACCEPT};
use axum::response::{IntoResponse, Response};

/// Whether a browser asks for a page.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.split(',').any(|range| range.trim().starts_with("text/html")))
}

/// The page.
pub(super) fn html() -> Response {
    file("text/html; charset=utf-8", include_str!("../../../web/graphql.html"))
}

/// Its looks.
pub(super) async fn css() -> Response {
    file("text/css; charset=utf-8", include_str!("../../../web/graphql.css"))
}

/// Its behaviour.
pub(super) async fn js() -> Response {
    file("text/javascript; charset=utf-8", include_str!("../../../web/graphql.js"))
}

fn file(kind: &'static str, text: &'static str) -> Response {
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// What the page may do: run its own script, look as it looks, and call this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

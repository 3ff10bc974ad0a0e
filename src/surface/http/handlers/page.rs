//! Serves the query page. The page is static and contains no data; it asks the user for a token and holds it in
//! memory only.
//!
//! Invariant: the page loads nothing from other servers, and its policy forbids it; `web/graphql/` contains
//! all of it.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, REFERRER_POLICY};
use axum::http::{HeaderValue, header::ACCEPT};
use axum::response::{IntoResponse, Response};

use crate::surface::http::message::error::HttpError;

/// True if the client accepts HTML, as browsers do.
pub(in crate::surface::http) fn is_wanted(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.split(',').any(|range| range.trim().starts_with("text/html")))
}

/// The page's HTML.
pub(in crate::surface::http) fn html() -> Response {
    answer("text/html; charset=utf-8", include_str!("../../../../web/graphql/page.html"))
}

/// `GET /graphql/{file}`: the page's style sheet, or one of its scripts.
pub(in crate::surface::http) async fn file(
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, HttpError> {
    let Path(name) = name.map_err(|_| HttpError::not_found())?;
    let (_, text) = FILES.iter().find(|(known, _)| *known == name).ok_or_else(HttpError::not_found)?;
    let is_style = name == "page.css";
    Ok(answer(if is_style { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" }, text))
}

macro_rules! files {
    ($($name:literal)+) => {
        &[$(($name, include_str!(concat!("../../../../web/graphql/", $name)))),+]
    };
}

/// The files by their names below `/graphql/`.
const FILES: &[(&str, &str)] = files! {
    "page.css" "page.js" "complete.js" "editor.js" "highlight.js" "language.js" "schema.js" "suggest.js" "visible.js"
};

fn answer(kind: &'static str, text: &'static str) -> Response {
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // Revalidate always: after an upgrade an old script must not meet a new server.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// The content security policy: the page may run its own script, use its own style and call this
/// server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

//! Serves the query page. The page is static and contains no data; it asks the user for a token and holds it in
//! memory only.
//!
//! Invariant: the page loads nothing from other servers, and its policy forbids it; `web/graphql/` contains
//! all of it.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use axum::response::Response;

use super::dashboard::answer;
use crate::surface::http::assets;
use crate::surface::http::message::error::HttpError;

/// True if the client accepts HTML, as browsers do.
pub(in crate::surface::http) fn is_wanted(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.split(',').any(|range| range.trim().starts_with("text/html")))
}

/// The page's HTML.
pub(in crate::surface::http) fn html(asked: &HeaderMap) -> Result<Response, HttpError> {
    named(assets::QUERY_PAGE, asked)
}

/// `GET /graphql/{file}`: the page's style sheet, or one of its scripts.
pub(in crate::surface::http) async fn file(
    name: Result<Path<String>, PathRejection>,
    asked: HeaderMap,
) -> Result<Response, HttpError> {
    let Path(name) = name.map_err(|_| HttpError::not_found())?;
    named(&name, &asked)
}

fn named(name: &str, asked: &HeaderMap) -> Result<Response, HttpError> {
    let found = assets::of_query_page(name);
    found.map(|asset| answer(asset, asked, POLICY)).ok_or_else(HttpError::not_found)
}

/// The content security policy: the page may run its own scripts, use its own style, call this server, and make no script of a
/// text.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      require-trusted-types-for 'script'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

//! Serves the dashboard: a page without data, and its files. It shows what GraphQL answers to it.
//!
//! Invariant: its policy lets a browser load nothing that is not of this server, and make no script of a text.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, IF_NONE_MATCH, REFERRER_POLICY,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::surface::http::assets::{self, Asset};
use crate::surface::http::message::error::HttpError;

/// `GET /` and `GET /enter`: the page.
pub(in crate::surface::http) async fn page(headers: HeaderMap) -> Result<Response, HttpError> {
    let page = assets::of_dashboard(assets::DASHBOARD);
    page.map(|asset| answer(asset, &headers, POLICY)).ok_or_else(HttpError::not_found)
}

/// `GET /app/{file}`: a file of the page.
pub(in crate::surface::http) async fn file(
    name: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let Path(name) = name.map_err(|_| HttpError::not_found())?;
    let found = assets::of_dashboard(&name);
    found.map(|asset| answer(asset, &headers, POLICY)).ok_or_else(HttpError::not_found)
}

/// Answers with a file, under a content security policy.
pub(super) fn answer(asset: &'static Asset, asked: &HeaderMap, policy: &'static str) -> Response {
    // Compared as a whole: a browser sends back the tag that it got. Another form only costs a full answer.
    let is_known = asked.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == asset.etag.as_bytes());
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => asset.text.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    );
    // Revalidate always: after an upgrade an old script must not meet a new server.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(etag) = HeaderValue::from_str(&asset.etag) {
        headers.insert(ETAG, etag);
    }
    response
}

/// The content security policy: the page may run its own scripts, use its own style and call this server, and that is all.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      require-trusted-types-for 'script'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

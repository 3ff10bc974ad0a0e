//! Answers as data, and the one place where they are printed.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::dialect::Notation;
use crate::domain::Span;
use crate::edn::Value;
use crate::surface::http::message::error::{ErrorCode, HttpError};
use crate::surface::http::message::notation::media_type;
use crate::surface::json;

/// An answer that is not printed yet.
#[derive(Clone, Debug)]
pub(in crate::surface::http) struct Reply {
    status: StatusCode,
    // Shared, because extensions of a response have to be `Clone`, and a copy of a value is deep.
    value: Arc<Value>,
    /// The value of the `Retry-After` header.
    retry_after: Option<Span>,
}

impl Reply {
    pub(in crate::surface::http) fn new(status: StatusCode, value: impl Into<Value>) -> Reply {
        // A store that failed is tried about once a second.
        let retry_after = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(Span::from_millis(1_000));
        Reply { status, value: Arc::new(value.into()), retry_after }
    }

    /// Says when the request can be sent again, if that is known.
    pub(in crate::surface::http) fn after(self, wait: Option<Span>) -> Reply {
        Reply { retry_after: wait.or(self.retry_after), ..self }
    }
}

impl IntoResponse for Reply {
    /// An empty response that carries the answer; [`finish`] prints it, where the notation is
    /// known.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if let Some(wait) = self.retry_after {
            // Rounded up to whole seconds, at least one: a client that obeys must not come too early.
            let seconds = HeaderValue::from(wait.millis().div_ceil(1_000).max(1));
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let mut response = Reply::new(self.status(), self.print()).after(self.retry_after).into_response();
        if self.code == ErrorCode::Unauthorized {
            let challenge = HeaderValue::from_static("Bearer realm=\"reveille\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        if self.code == ErrorCode::UpgradeRequired {
            let protocol = HeaderValue::from_static(crate::surface::http::handlers::stream::PROTOCOL_NAMES);
            response.headers_mut().insert(axum::http::header::UPGRADE, protocol);
        }
        response
    }
}

/// Prints an answer in this notation, and forbids caching.
pub(in crate::surface::http) fn finish(mut response: Response, notation: Notation) -> Response {
    if let Some(reply) = response.extensions_mut().remove::<Reply>() {
        *response.body_mut() = Body::from(print(&reply.value, notation));
        // The routes set it for the empty body.
        response.headers_mut().remove(CONTENT_LENGTH);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type(notation)));
    }
    let headers = response.headers_mut();
    // Unless the route has set another value, as the pages and the calendars do.
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    // An answer with a client's text in it must not be taken for HTML.
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Prints a value as one line of text.
fn print(value: &Value, notation: Notation) -> String {
    let mut text = String::new();
    match notation {
        Notation::Edn => text = value.to_string(),
        Notation::Json => json::write(value, &mut text),
    }
    text.push('\n');
    text
}

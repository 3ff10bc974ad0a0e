//! The errors of the HTTP layer, as data. A tool's refusals are part of its answer (`dialect`).

use std::borrow::Cow;

use axum::http::StatusCode;

use crate::domain::{Span, names};
use crate::edn::{Map, Value};
use crate::limits::Limit;

names! {
    /// The class of a refusal.
    ErrorCode {
        /// The request is invalid.
        Validation = "VALIDATION",
        /// The token is missing or unknown.
        Unauthorized = "UNAUTHORIZED",
        /// The caller may not do this.
        Forbidden = "FORBIDDEN",
        /// It does not exist, or the caller may not see it.
        NotFound = "NOT_FOUND",
        /// The route does not have this method.
        MethodNotAllowed = "METHOD_NOT_ALLOWED",
        /// The client took too long.
        Timeout = "TIMEOUT",
        /// The body is longer than a request may be.
        TooLarge = "TOO_LARGE",
        /// The media type is not supported.
        UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE",
        /// The request is for another host.
        Misdirected = "MISDIRECTED",
        /// The route speaks another protocol.
        UpgradeRequired = "UPGRADE_REQUIRED",
        /// A limit is reached.
        Limit = "LIMIT",
        /// The server cannot handle the request now.
        Unavailable = "UNAVAILABLE",
    }
}

impl ErrorCode {
    /// The HTTP status of this class.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            ErrorCode::Validation => StatusCode::BAD_REQUEST,
            ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
            ErrorCode::Forbidden => StatusCode::FORBIDDEN,
            ErrorCode::NotFound => StatusCode::NOT_FOUND,
            ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            ErrorCode::Timeout => StatusCode::REQUEST_TIMEOUT,
            ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorCode::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorCode::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            ErrorCode::UpgradeRequired => StatusCode::UPGRADE_REQUIRED,
            ErrorCode::Limit => StatusCode::TOO_MANY_REQUESTS,
            ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// An error answer to a request.
#[derive(Clone, Debug)]
pub(in crate::surface::http) struct HttpError {
    pub(in crate::surface::http) code: ErrorCode,
    message: Cow<'static, str>,
    hint: Cow<'static, str>,
    data: Map,
    /// The value of the `Retry-After` header.
    pub(in crate::surface::http) retry_after: Option<Span>,
}

impl HttpError {
    pub(in crate::surface::http) fn new(
        code: ErrorCode,
        message: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> HttpError {
        HttpError { code, message: message.into(), hint: hint.into(), data: Map::new(), retry_after: None }
    }

    /// An invalid request.
    pub(in crate::surface::http) fn invalid(
        message: impl Into<Cow<'static, str>>,
        hint: &'static str,
    ) -> HttpError {
        HttpError::new(ErrorCode::Validation, message, hint)
    }

    /// The answer to every request without a live token. It is always equal, so that it reveals
    /// nothing about the cause.
    pub(in crate::surface::http) fn unauthorized() -> HttpError {
        let hint = "send the header Authorization: Bearer TOKEN, with the token of a session that is open, or of an operator or \
                    host of this daemon";
        HttpError::new(ErrorCode::Unauthorized, "the request has no valid token", hint)
    }

    /// The answer for things that do not exist or that the caller may not see: both look alike.
    pub(in crate::surface::http) fn not_found() -> HttpError {
        HttpError::new(ErrorCode::NotFound, "there is nothing here", "GET /tools lists the tools")
    }

    /// The answer when a quota is used up, or a seat is missing. The limit of one family of sessions or one token is its
    /// own affair (429), that of all callers is ours (503).
    pub(in crate::surface::http) fn used_up(limit: Limit, is_own: bool) -> HttpError {
        let code = if is_own { ErrorCode::Limit } else { ErrorCode::Unavailable };
        let message = format!("the limit of {} {} is reached", limit.value, limit.unit);
        let hint = "end what you no longer need, read the answers that wait, or come back a little later";
        HttpError::new(code, message, hint).with_limit(limit)
    }

    /// Adds the limit that was exceeded.
    pub(in crate::surface::http) fn with_limit(self, limit: Limit) -> HttpError {
        let max = i64::try_from(limit.value).unwrap_or(i64::MAX);
        let data = self.data.with("limit", limit.name).with("max", max);
        HttpError { data, ..self }
    }

    /// Adds a detail.
    pub(in crate::surface::http) fn with(self, key: &str, value: impl Into<Value>) -> HttpError {
        HttpError { data: self.data.with(key, value), ..self }
    }

    /// Adds a `Retry-After` header.
    pub(in crate::surface::http) fn retry_after(self, span: Span) -> HttpError {
        HttpError { retry_after: Some(span), ..self }
    }

    pub(in crate::surface::http) fn status(&self) -> StatusCode {
        self.code.status()
    }

    /// The error as a value.
    pub(in crate::surface::http) fn print(&self) -> Value {
        let error = Map::new()
            .with("code", self.code.name())
            .with("message", self.message.as_ref())
            .with("hint", self.hint.as_ref());
        let error = if self.data.is_empty() { error } else { error.with("data", self.data.clone()) };
        Map::new().with("error", error).into()
    }
}

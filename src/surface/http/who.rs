//! The caller of a request, known from its token and from the session that an operator acts for.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::error::HttpError;
use crate::domain::{Caller, Scope};
use crate::runtime::Token;

/// The caller of a request, as an extractor: a route that takes it answers 401 without a live
/// token.
#[derive(Clone, Debug)]
pub(super) struct Who {
    pub(super) caller: Caller,
    pub(super) token: Token,
}

impl Who {
    /// The kind of caller, for the log.
    pub(super) fn kind(&self) -> &'static str {
        match (&self.caller.scope, self.caller.metered) {
            (_, true) => "session",
            (_, false) if !self.caller.may_change() => "observer",
            (Scope::Operator, false) => "operator",
            (Scope::Session(_), false) => "operator-for-session",
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Who {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Who, HttpError> {
        parts.extensions.get::<Who>().cloned().ok_or_else(HttpError::unauthorized)
    }
}

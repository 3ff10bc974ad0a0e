//! The caller of a request, known from its token and from the session that an operator acts for.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::message::error::HttpError;
use crate::domain::{Caller, Scope};
use crate::runtime::Token;

/// The caller of a request, as an extractor: a route that takes it answers 401 without a live
/// token.
#[derive(Clone, Debug)]
pub(super) struct Principal {
    pub(super) caller: Caller,
    pub(super) token: Token,
}

impl Principal {
    /// The kind of caller, for the log.
    pub(super) fn kind(&self) -> &'static str {
        // A session's own token is metered; an operator's token is not, even when it acts for a session.
        match (&self.caller.scope, self.caller.rate_limited) {
            (_, true) => "session",
            (_, false) if !self.caller.may_change() => "observer",
            (Scope::Operator, false) => "operator",
            (Scope::Session(_), false) => "operator-for-session",
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Principal {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Principal, HttpError> {
        parts.extensions.get::<Principal>().cloned().ok_or_else(HttpError::unauthorized)
    }
}

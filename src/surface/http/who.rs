//! Who makes a request: known from its token alone, and from the session that an operator acts for.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::error::HttpError;
use crate::domain::{Caller, Scope};
use crate::runtime::Token;

/// Who makes a request. A route that takes this answers 401 to everybody else.
#[derive(Clone, Debug)]
pub(super) struct Who {
    pub(super) caller: Caller,
    pub(super) token: Token,
}

impl Who {
    /// The kind of caller, as logs show it.
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

//! The caller of a request, known from its token and from the session that an operator acts for.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::app_state::AppState;
use super::message::error::HttpError;
use crate::domain::{Caller, CallerRole, Scope};
use crate::runtime::Token;
use crate::service::acting_for;

/// The caller of a request, as an extractor: a route that takes it answers 401 without a live
/// token.
#[derive(Clone, Debug)]
pub(super) struct Principal {
    pub(super) caller: Caller,
    pub(super) token: Token,
}

impl Principal {
    /// Whether the reserves for operators are this caller's too.
    pub(super) fn is_operator(&self) -> bool {
        self.caller.role == CallerRole::Operator
    }

    /// Whether the token is still one, and still reaches the session that the caller acts for.
    pub(super) fn is_live(&self, app: &AppState) -> bool {
        let handle = app.service.handle();
        let Some(bearer) = app.caller(&self.token) else { return false };
        self.caller.scope == bearer.scope
            || self
                .caller
                .scope
                .session()
                .is_some_and(|session| acting_for(handle, &bearer, session).is_some())
    }

    /// The kind of caller, for the log.
    pub(super) fn kind(&self) -> &'static str {
        match (self.caller.role, &self.caller.scope) {
            (CallerRole::Operator, Scope::Session(_)) => "operator-for-session",
            (role, _) => role.name(),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Principal {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Principal, HttpError> {
        parts.extensions.get::<Principal>().cloned().ok_or_else(HttpError::unauthorized)
    }
}

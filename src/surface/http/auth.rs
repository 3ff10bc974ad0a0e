//! The caller of a request, known from its token and from the session that an operator acts for.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::message::error::HttpError;
use crate::domain::{Caller, CallerRole, Scope};
use crate::runtime::Token;

/// The address that a request came from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

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

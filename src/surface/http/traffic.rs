//! Counts answered requests for `/metrics`, and logs one line for each.
//!
//! Invariant: of a request only its method, the pattern of its route, its caller (the session, or the name of an operator's
//! token) and, in a stream, its operation are logged, never its path, query, headers or body.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use axum::extract::MatchedPath;
use axum::http::Method;
use axum::response::Response;

use super::auth::Principal;
use crate::domain::{Actor, Caller, CallerRole, Scope, Span};
use crate::surface::edn_stream::OnAnswer;

/// The number of answered requests, by status and route.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    answered: Mutex<BTreeMap<u16, BTreeMap<String, u64>>>,
}

impl Traffic {
    /// Counts and logs one answer.
    pub(super) fn note(
        &self,
        method: &Method,
        principal: Option<&Principal>,
        response: &Response,
        took: Span,
    ) {
        let route = response.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str);
        let status = response.status().as_u16();
        let micros = took.nanos() / 1_000;
        macro_rules! log {
            ($level:ident) => {
                tracing::$level!(
                    target: "reveille::http",
                    method = known(method),
                    route,
                    status,
                    ms = format_args!("{}.{:03}", micros / 1_000, micros % 1_000),
                    caller = principal.map_or("nobody", Principal::kind),
                    by = principal.map(|principal| author(&principal.caller)),
                )
            };
        }
        // Anybody on the machine can make requests without a token, and would fill the log. The metrics count them.
        if principal.is_none() && status >= 400 {
            log!(debug);
        } else {
            log!(info);
        }
        // A panic elsewhere cannot leave the table inconsistent: each change is one addition.
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let routes = answered.entry(status).or_default();
        // Looked up by reference, so that a route is copied only at its first request.
        match routes.get_mut(route) {
            Some(count) => *count += 1,
            None => drop(routes.insert(route.to_owned(), 1)),
        }
    }

    /// A copy of all counts, by status and route.
    pub(super) fn answered(&self) -> BTreeMap<u16, BTreeMap<String, u64>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns what logs each request of this caller's stream.
pub(super) fn log_requests(caller: &Caller) -> OnAnswer {
    let by = author(caller);
    Box::new(move |op, is_ok| tracing::debug!(target: "reveille::stream", op, ok = is_ok, by))
}

/// Whose token it is: a session, or the name of an operator's token. The session that an operator acts for is left out,
/// because the request names it.
fn author(caller: &Caller) -> String {
    let actor = caller.actor();
    let scope = if caller.role == CallerRole::Session { actor.scope } else { Scope::Operator };
    Actor { scope, ..actor }.to_string()
}

/// The route of unknown paths: a path is the client's text, and must not become a label.
const NO_ROUTE: &str = "-";

/// The name of a standard method. Any other is the client's text, and must not become a label.
fn known(method: &Method) -> &str {
    let all = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::DELETE,
        Method::OPTIONS,
        Method::PATCH,
    ];
    if all.contains(method) { method.as_str() } else { "other" }
}

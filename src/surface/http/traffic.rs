//! What was asked and how it was answered: counted for `/metrics`, and one line each in the log.
//!
//! Invariant: of a request only its method, the pattern of its route and the kind of its caller are told, never its
//! path, query, headers or body.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use axum::extract::MatchedPath;
use axum::http::Method;
use axum::response::Response;

use super::who::Who;
use crate::domain::Span;

/// Answered requests, by status and route.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    answered: Mutex<BTreeMap<u16, BTreeMap<String, u64>>>,
}

impl Traffic {
    /// Notes one answer.
    pub(super) fn note(&self, method: &Method, who: Option<&Who>, response: &Response, took: Span) {
        let route = response.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str);
        let status = response.status().as_u16();
        let micros = took.nanos() / 1_000;
        tracing::info!(
            target: "reveille::http",
            method = known(method),
            route,
            status,
            ms = format_args!("{}.{:03}", micros / 1_000, micros % 1_000),
            caller = who.map_or("nobody", Who::kind),
        );
        // Each change is one addition: a panic elsewhere leaves a sound table.
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let routes = answered.entry(status).or_default();
        match routes.get_mut(route) {
            Some(count) => *count += 1,
            None => drop(routes.insert(route.to_owned(), 1)),
        }
    }

    /// All counts, by status and route.
    pub(super) fn answered(&self) -> BTreeMap<u16, BTreeMap<String, u64>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What stands for a path that no route has: paths are the client's own words.
const NO_ROUTE: &str = "-";

/// A method of HTTP's; others are the client's own words.
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

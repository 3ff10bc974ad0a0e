//! The table of routes, and what every request passes before and after its route.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use hyper::body::Incoming;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;

use super::error::{ErrorCode, HttpError};
use super::gate::Identity;
use super::pulse::{Pulse, Tracked};
use super::seats::Seat;
use super::site::Site;
use super::who::Who;
use super::{eql, gate, graphql, health, jobs, mcp, metrics, notation, page, reply, stream, tools};

/// The table of all routes. A handler that takes [`Who`] answers 401 without a token; every handler
/// that reveals data takes it.
pub(super) fn router(site: &Arc<Site>) -> Router {
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(metrics::show))
        .route("/tools", get(tools::list))
        .route("/tools/{name}", post(tools::call))
        .route("/eql", post(eql::query))
        .route("/graphql", any(graphql::answer))
        .route("/graphql/page.css", get(page::css))
        .route("/graphql/page.js", get(page::js))
        .route("/mcp", post(mcp::answer))
        .route("/stream", get(stream::open))
        .route("/v1/sessions/{session}/jobs/{job}/ready", post(jobs::ready))
        // On routes only: an unknown path has no pattern, and is counted as `-`.
        .route_layer(from_fn(name_route))
        .fallback(|| async { HttpError::not_found() })
        .method_not_allowed_fallback(|| async {
            let hint = "the header Allow says which methods this route has";
            HttpError::new(ErrorCode::MethodNotAllowed, "this route has another method", hint)
        })
        .with_state(Arc::clone(site))
}

/// What a connection's requests share.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) site: Arc<Site>,
    pub(super) router: Router,
    pub(super) peer: IpAddr,
    pub(super) pulse: Arc<Pulse>,
    pub(super) seat: Arc<Seat>,
}

impl Line {
    /// Answers one request: access checks, route, and printing.
    pub(super) async fn answer(self, request: hyper::Request<Incoming>) -> hyper::Response<Tracked> {
        self.pulse.begin(request.version() == hyper::Version::HTTP_2);
        let began = self.site.handle.now().boot;
        let (method, notation) = (request.method().clone(), notation::of_answer(request.headers()));
        let (who, response) = match self.pass(request).await {
            Ok((who, response)) => (who, response),
            Err(error) => (None, error.into_response()),
        };
        let response = reply::finish(response, notation);
        let took = self.site.handle.now().boot.since(began);
        self.site.traffic.note(&method, who.as_ref(), &response, took);
        // Before the body ends, which would otherwise start the idle timeout.
        if response.status() == hyper::StatusCode::SWITCHING_PROTOCOLS {
            self.pulse.upgrade();
        }
        response.map(|body| Tracked::new(body, self.pulse))
    }

    async fn pass(&self, request: hyper::Request<Incoming>) -> Result<(Option<Who>, Response), HttpError> {
        let (mut parts, body) = request.into_parts();
        self.site.gate.check(&parts)?;
        let who = match gate::identify(&self.site.handle, &parts)? {
            Identity::Nobody => None,
            Identity::Caller(who) => Some(who),
            Identity::Stranger => {
                // While it waits it counts as idle, so it can be closed to make room for others.
                self.pulse.unheard();
                self.site.backoff.wrong_token(self.peer, self.site.handle.now().boot).await;
                return Err(HttpError::unauthorized());
            }
        };
        parts.extensions.insert(Arc::clone(&self.seat));
        if let Some(who) = &who {
            parts.extensions.insert(who.clone());
        }
        let request = hyper::Request::from_parts(parts, Body::new(body));
        let Ok(response) = TowerToHyperService::new(self.router.clone()).call(request).await;
        Ok((who, response))
    }
}

/// Attaches the route's pattern to the response, for the log and the metrics.
async fn name_route(path: MatchedPath, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.extensions_mut().insert(path);
    response
}

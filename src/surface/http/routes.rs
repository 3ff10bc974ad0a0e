//! The router, and what every request passes before and after its route.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any, get, post};
use hyper::body::{Body as _, Incoming};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;

use super::app_state::AppState;
use super::auth::{Peer, Principal};
use super::connection::conn_limit::ConnPermit;
use super::connection::conn_watchdog::{ConnWatchdog, Tracked};
use super::cors;
use super::gate;
use super::gate::Identity;
#[cfg(feature = "channels")]
use super::handlers::inbound;
use super::handlers::tools::denied;
use super::handlers::{
    calendar, dashboard, eql, graphql, health, jobs, login, mcp, metrics, page, pings, stream, tools,
};
use super::message::error::{ErrorCode, HttpError};
use super::message::waiting::{self, Held};
use super::message::{notation, reply};
use super::route::{Route, RouteAdmission};
use crate::dialect::Notation;
use crate::domain::Op;
use crate::limits;

/// Builds the router of all routes. A handler that takes [`Principal`] answers 401 without a token; every handler that reveals
/// data takes it.
pub(super) fn router(app: &Arc<AppState>) -> Router {
    let add = |router: Router<Arc<AppState>>, route: &Route| match route.admission() {
        // No admission here: the route needs none, or what has to be admitted is known only to its handler or the service.
        RouteAdmission::Open(_)
        | RouteAdmission::About(_)
        | RouteAdmission::Proven(_)
        | RouteAdmission::ByContent => router.route(route.path(), methods(*route)),
        RouteAdmission::Hidden(op) => {
            let admit = from_fn_with_state((Arc::clone(app), op), admit_or_hide);
            router.route(route.path(), methods(*route).route_layer(admit))
        }
        RouteAdmission::Before(op) => {
            let admit = from_fn_with_state((Arc::clone(app), op), admit);
            router.route(route.path(), methods(*route).route_layer(admit))
        }
    };
    Route::ALL
        .iter()
        .fold(Router::new(), add)
        // On routes only: an unknown path has no pattern, and is counted as `-`.
        .route_layer(from_fn(name_route))
        .fallback(|| async { HttpError::not_found() })
        .method_not_allowed_fallback(|| async {
            let hint = "the Allow header lists the methods of this route";
            HttpError::new(ErrorCode::MethodNotAllowed, "this route does not have this method", hint)
        })
        .with_state(Arc::clone(app))
}

/// What a route does, by method.
fn methods(route: Route) -> MethodRouter<Arc<AppState>> {
    match route {
        Route::Alive => get(health::alive),
        Route::Ready => get(health::ready),
        Route::Metrics => get(metrics::show),
        Route::Dashboard => get(dashboard::page),
        Route::DashboardFile => get(dashboard::file),
        Route::Enter => get(dashboard::page).post(login::enter),
        Route::Leave => post(login::leave),
        Route::LoginCode => post(login::code),
        Route::LogoutAll => post(login::revoke),
        Route::CalendarLink => post(calendar::link),
        Route::CalendarsRevoked => post(calendar::revoke),
        Route::Calendar => get(calendar::show),
        Route::Tools => get(tools::list),
        Route::Kit => get(tools::kit),
        Route::Tool => post(tools::call),
        Route::Eql => post(eql::query),
        Route::Graphql => any(graphql::answer),
        Route::PageFile => get(page::file),
        Route::Mcp => post(mcp::answer),
        Route::Stream => get(stream::open),
        Route::JobReady => post(jobs::ready),
        Route::Ping => post(pings::take),
        #[cfg(feature = "channels")]
        Route::Inbound => post(inbound::take),
    }
}

/// Admits a read before its route is asked. To those who may not, the route does not exist.
async fn admit_or_hide(
    state: State<(Arc<AppState>, Op)>,
    principal: Principal,
    request: Request,
    next: Next,
) -> Result<Response, HttpError> {
    admit(state, principal, request, next).await.map_err(|_| HttpError::not_found())
}

/// Admits an operation before its route is asked.
async fn admit(
    State((app, op)): State<(Arc<AppState>, Op)>,
    principal: Principal,
    request: Request,
    next: Next,
) -> Result<Response, HttpError> {
    app.service.admit(&principal.caller, op, None).map(drop).map_err(|denial| denied(&denial))?;
    Ok(next.run(request).await)
}

/// What a connection's requests share.
#[derive(Clone)]
pub(super) struct ConnService {
    pub(super) state: Arc<AppState>,
    pub(super) router: Router,
    pub(super) peer: IpAddr,
    pub(super) watchdog: Arc<ConnWatchdog>,
    pub(super) permit: Arc<ConnPermit>,
}

impl ConnService {
    /// Answers one request: access checks, route, and printing.
    pub(super) async fn answer(self, request: hyper::Request<Incoming>) -> hyper::Response<Tracked> {
        // From here on the connection counts as busy, and the time limit for heads does not apply.
        self.watchdog.begin(request.version() == hyper::Version::HTTP_2);
        let began = self.state.service.handle().now().boot;
        // Read before `pass` consumes the request: the printing and the log of the answer depend on it.
        let (method, notation) = (request.method().clone(), notation::of_answer(request.headers()));
        let page = cors::reader(&self.state.gate, request.headers());
        let (principal, mut response) = match self.pass(request).await {
            Ok((principal, response)) => (principal, response),
            Err(error) => (None, error.into_response()),
        };
        // A route with a proof of its own says itself who the caller is.
        let principal = principal.or_else(|| response.extensions_mut().remove::<Principal>());
        // Before the answer is shared and logged, because an error may take its place.
        let (mut response, held) = self.hold(principal.as_ref(), reply::finish(response, notation), notation);
        cors::share(&self.state.gate, page, &mut response);
        let took = self.state.service.handle().now().boot.since(began);
        self.state.traffic.note(&method, principal.as_ref(), &response, took);
        // Before the body ends, which would otherwise start the idle timeout. The handler's task reports who the caller
        // is.
        if response.status() == hyper::StatusCode::SWITCHING_PROTOCOLS {
            self.watchdog.upgrade();
        }
        response.map(|body| Tracked::new(body, self.watchdog, held))
    }

    /// Counts an answer among those that wait to be sent. If there are too many, an error takes its place.
    fn hold(
        &self,
        principal: Option<&Principal>,
        response: Response,
        notation: Notation,
    ) -> (Response, Held) {
        // The length of an event stream is unknown: its events are counted one by one.
        let bytes = response.body().size_hint().exact().unwrap_or(0);
        // Without a token there are the pages only, which are not copied.
        let Some(principal) = principal else { return (response, None) };
        match waiting::hold(&self.state.answers, || self.state.holder(principal), bytes) {
            Ok(held) => (response, held),
            Err(limit) => (reply::finish(waiting::unsent(limit).into_response(), notation), None),
        }
    }

    async fn pass(
        &self,
        request: hyper::Request<Incoming>,
    ) -> Result<(Option<Principal>, Response), HttpError> {
        let (mut parts, body) = request.into_parts();
        // The host and origin are checked before the token, so a page of another origin learns nothing about tokens.
        self.state.gate.check(&parts)?;
        if let Some(answer) = cors::preflight(&self.state.gate, &parts) {
            return Ok((None, answer));
        }
        let (app, handle) = (&self.state, self.state.service.handle());
        let principal = match gate::identify(&app.gate, handle, |token| app.caller(token), &mut parts)? {
            Identity::Nobody => None,
            Identity::Caller(principal) => Some(principal),
            Identity::Stranger => {
                // While it waits it counts as idle, so it can be closed to make room for others.
                self.watchdog.ignore_request();
                self.state.backoff.wrong_token(self.peer, self.state.service.handle().now().boot).await;
                return Err(HttpError::unauthorized());
            }
        };
        parts.extensions.insert(Peer(self.peer));
        // For upgrades: the permit stays taken for as long as the stream lasts.
        parts.extensions.insert(Arc::clone(&self.permit));
        if let Some(principal) = &principal {
            if self.permit.is_reserved() && !principal.is_operator() {
                return Err(HttpError::used_up(limits::HTTP_CONNECTIONS, false));
            }
            parts.extensions.insert(principal.clone());
        }
        let request = hyper::Request::from_parts(parts, Body::new(body));
        // The router has no errors: every failure is a response.
        let Ok(response) = TowerToHyperService::new(self.router.clone()).call(request).await;
        Ok((principal, response))
    }
}

/// Attaches the route's pattern to the response, for the log and the metrics.
async fn name_route(path: MatchedPath, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.extensions_mut().insert(path);
    response
}

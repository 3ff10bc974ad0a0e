//! Answers a GraphQL operation as an event stream (protocol graphql-sse, distinct connections
//! mode).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::domain::Code as Class;
use crate::limits::{self, Limit};
use crate::surface::graphql::transport::sse;
use crate::surface::graphql::{Follower, GraphqlError, GraphqlRequest, refusal};
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::connection::conn_limit::ConnPermit;
use crate::surface::http::connection::conn_watchdog::EventPush;
use crate::surface::http::followers::Following;
use crate::surface::http::long::{self, Cost};
use crate::surface::http::message::waiting;

/// Answers an operation; with `is_reading`, a mutation is refused. A subscription lasts until its
/// client leaves, its token is revoked, or the server stops.
pub(in crate::surface::http) fn open(
    app: &Arc<AppState>,
    principal: Principal,
    permit: Option<&ConnPermit>,
    request: &GraphqlRequest,
    is_reading: bool,
) -> Response {
    let (sender, events) = mpsc::channel(EVENTS);
    let mut push = None;
    match begin(app, &principal, request, is_reading) {
        Ok(following) => {
            push = permit.map(|permit| permit.watchdog().push());
            tokio::spawn(carry(Arc::clone(app), principal, following, sender));
        }
        Err(body) => {
            let (body, held) = match waiting::hold(&app.answers, || app.holder(&principal), body.len() as u64)
            {
                Ok(held) => (body, held),
                Err(limit) => (refusal(&waiting::unsent_in_graphql(limit)), None),
            };
            // The channel is new and has room for these three.
            let answer = waiting::counted(sse::next(&body).into(), &held);
            for event in [sse::OPEN.into(), answer, sse::COMPLETE.into()] {
                let _ = sender.try_send(event);
            }
        }
    }
    let mut response = Body::new(Events { events, _push: push }).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(sse::CONTENT_TYPE));
    response
}

/// Starts a subscription; any other operation is answered at once, as the error.
fn begin(
    app: &Arc<AppState>,
    principal: &Principal,
    request: &GraphqlRequest,
    is_reading: bool,
) -> Result<Following, String> {
    let refused = |errors: Vec<GraphqlError>| refusal(&errors);
    if !app.graphql.is_subscription(&principal.caller, request).map_err(refused)? {
        let (caller, cost) = (&principal.caller, Cost::of(&app.graphql, &principal.caller, request));
        let answered =
            long::run(app, principal, cost, || app.graphql.answer(caller, request, is_reading).body);
        return Err(answered.unwrap_or_else(|why| refusal(&long::not_done_in_graphql(why))));
    }
    follow(app, principal, request).map_err(refused)
}

/// Starts a subscription.
pub(in crate::surface::http) fn follow(
    app: &Arc<AppState>,
    principal: &Principal,
    request: &GraphqlRequest,
) -> Result<Following, Vec<GraphqlError>> {
    let full = |limit: Limit| {
        let whose = if limit == limits::GRAPHQL_SUBSCRIPTIONS {
            "this server"
        } else if limit == limits::GRAPHQL_SESSION_SUBSCRIPTIONS {
            "this session, with those that come from it,"
        } else {
            "this token"
        };
        vec![GraphqlError::limit(limit, format!("{whose} has reached its limit of subscriptions"))]
    };
    let holder = app.holder(principal);
    // Reserve the thread's place first: starting a subscription already costs work.
    let place = app.followers.take(&holder, 1).map_err(full)?;
    // A subscription to a list begins with the whole list.
    let begin = || Follower::begin(&app.graphql, &principal.caller, request);
    let follower = long::run(app, principal, Cost::Long, begin);
    let follower = follower.map_err(long::not_done_in_graphql)??;
    let no_thread = || vec![GraphqlError::new(Class::Limit, "the system cannot start another thread")];
    let following = Following::start(follower, place, holder, Arc::clone(&app.answers));
    following.ok_or_else(no_thread)
}

async fn carry(
    app: Arc<AppState>,
    principal: Principal,
    mut following: Following,
    events: mpsc::Sender<Bytes>,
) {
    let heartbeat = Duration::from_millis(limits::GRAPHQL_HEARTBEAT_MS.value);
    // Sent at once, so that the client sees an open stream before the first answer.
    let mut event = Bytes::from_static(sse::OPEN.as_bytes());
    let mut quiet = Duration::ZERO;
    loop {
        if !event.is_empty() && events.send(event).await.is_err() {
            return;
        }
        // The timeout is the tick: a quiet stream checks its token and its client too.
        let pushed = tokio::select! {
            pushed = timeout(app.times.token_recheck, following.answers.recv()) => pushed,
            // Without the frame of the end: the subscription is not over, and its client comes back.
            () = app.pushing_ended() => return,
        };
        // After the wait, so that an answer which came after the token was revoked is not sent.
        if events.is_closed() || !app.is_live(&principal) {
            return;
        }
        // Heartbeats count from the last event: proxies close a stream that is silent for long.
        quiet = if pushed.is_ok() { Duration::ZERO } else { quiet + app.times.token_recheck };
        event = match pushed {
            Ok(Some(answer)) => waiting::counted(sse::next(&answer.text).into(), &answer.held),
            // The feed ends with the engine, as above.
            Ok(None) if app.is_stopping() => return app.pushing_ended().await,
            Ok(None) => {
                let _ = events.send(sse::COMPLETE.into()).await;
                return;
            }
            Err(_) if quiet >= heartbeat => {
                quiet = Duration::ZERO;
                Bytes::from_static(sse::HEARTBEAT.as_bytes())
            }
            Err(_) => Bytes::new(),
        };
    }
}

/// A response body that lasts as long as there are events.
struct Events {
    events: mpsc::Receiver<Bytes>,
    /// While it is there, the connection counts as one that is there for streams.
    _push: Option<EventPush>,
}

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.events.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}

/// The number of events that may wait for the socket.
const EVENTS: usize = 4;

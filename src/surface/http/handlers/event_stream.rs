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
use crate::limits;
use crate::surface::graphql::transport::sse;
use crate::surface::graphql::{Follower, GraphqlError, GraphqlRequest, refusal};
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::followers::Following;

/// Answers an operation; with `is_reading`, a mutation is refused. A subscription lasts until its
/// client leaves or its token is revoked.
pub(in crate::surface::http) fn open(
    app: &Arc<AppState>,
    principal: Principal,
    request: &GraphqlRequest,
    is_reading: bool,
) -> Response {
    let (sender, events) = mpsc::channel(EVENTS);
    match begin(app, &principal, request, is_reading) {
        Ok(following) => {
            tokio::spawn(carry(Arc::clone(app), principal, following, sender));
        }
        Err(body) => {
            // The channel is new and has room for these three.
            for text in [sse::OPEN.to_owned(), sse::next(&body), sse::COMPLETE.to_owned()] {
                let _ = sender.try_send(text.into());
            }
        }
    }
    let mut response = Body::new(Events(events)).into_response();
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
        return Err(app.graphql.answer(&principal.caller, request, is_reading).body);
    }
    follow(app, principal, request).map_err(refused)
}

/// Starts a subscription.
pub(in crate::surface::http) fn follow(
    app: &Arc<AppState>,
    principal: &Principal,
    request: &GraphqlRequest,
) -> Result<Following, Vec<GraphqlError>> {
    let full = || {
        let message = "this server has reached its limit of subscriptions";
        vec![GraphqlError::limit(limits::GRAPHQL_SUBSCRIPTIONS, message)]
    };
    // Reserve the thread's place first: starting a subscription already costs work.
    let place = app.followers.enter().ok_or_else(full)?;
    let follower = Follower::begin(&app.graphql, &principal.caller, request)?;
    let no_thread = || vec![GraphqlError::new(Class::Limit, "the system cannot start another thread")];
    Following::start(follower, place).ok_or_else(no_thread)
}

async fn carry(
    app: Arc<AppState>,
    principal: Principal,
    mut following: Following,
    events: mpsc::Sender<Bytes>,
) {
    let heartbeat = Duration::from_millis(limits::GRAPHQL_HEARTBEAT_MS.value);
    let mut text = sse::OPEN.to_owned();
    let mut quiet = Duration::ZERO;
    loop {
        if !text.is_empty() && events.send(std::mem::take(&mut text).into()).await.is_err() {
            return;
        }
        // The timeout is the tick: a quiet stream checks its token and its client too.
        let pushed = timeout(app.times.token_recheck, following.answers.recv()).await;
        if events.is_closed() || app.service.handle().tokens().caller(&principal.token).is_none() {
            return;
        }
        // Heartbeats count from the last event: proxies close a stream that is silent for long.
        quiet = if pushed.is_ok() { Duration::ZERO } else { quiet + app.times.token_recheck };
        text = match pushed {
            Ok(Some(answer)) => sse::next(&answer),
            Ok(None) => {
                let _ = events.send(sse::COMPLETE.into()).await;
                return;
            }
            Err(_) if quiet >= heartbeat => {
                quiet = Duration::ZERO;
                sse::HEARTBEAT.to_owned()
            }
            Err(_) => String::new(),
        };
    }
}

/// A response body that lasts as long as there are events.
struct Events(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}

/// The number of events that may wait for the socket.
const EVENTS: usize = 4;

//! GraphQL over a WebSocket: connects the socket to the protocol in `graphql/transport/ws.rs`.
//!
//! A browser cannot send a token with the upgrade, so the first message brings it; the origin has
//! been checked before. Invariant: one task serves a connection, and a client that does not read is
//! dropped.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::Request as HttpRequest;
use axum::http::header::{HeaderMap, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::domain::Span;
use crate::edn::{Map, Value};
use crate::limits;
use crate::runtime::Token;
use crate::service::Share;
use crate::surface::graphql::GraphqlRequest;
use crate::surface::graphql::transport::ws::{Frame, Operations, PROTOCOL, Refused, Socket, Started};
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::connection::conn_limit::ConnPermit;
use crate::surface::http::followers::{Following, Pushed};
use crate::surface::http::handlers::event_stream::follow;
use crate::surface::http::login::CookieHalf;
use crate::surface::http::long::{self, Cost};
use crate::surface::http::message::waiting::{self, Held};

/// Whether a request asks for a WebSocket.
pub(in crate::surface::http) fn is_wanted(request: &HttpRequest<Body>) -> bool {
    let upgrade = request.headers().get(UPGRADE).and_then(|value| value.to_str().ok());
    upgrade.is_some_and(|upgrade| upgrade.eq_ignore_ascii_case("websocket"))
}

/// Upgrades the connection.
pub(in crate::surface::http) async fn open(app: Arc<AppState>, request: HttpRequest<Body>) -> Response {
    let (mut parts, _) = request.into_parts();
    let permit = parts.extensions.get::<Arc<ConnPermit>>().cloned();
    let identity =
        (parts.extensions.get::<Principal>().cloned(), parts.extensions.get::<CookieHalf>().cloned());
    // Checked here, because the library upgrades the connection even if no protocol fits.
    let speaks_ours = speaks_ours(&parts.headers);
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    // Twice the protocol's limit: messages a little too long reach the protocol, which refuses them
    // with its own close code.
    let most = usize::try_from(limits::GRAPHQL_MESSAGE_BYTES.value).unwrap_or(usize::MAX).saturating_mul(2);
    let upgrade = upgrade.protocols([PROTOCOL]).max_message_size(most).max_frame_size(most);
    upgrade.on_upgrade(move |mut socket| async move {
        if speaks_ours {
            carry(&app, identity, permit.as_deref(), &mut socket).await;
        } else {
            // After the upgrade, because a browser shows its page the close code, and no status of a refused upgrade.
            close(&mut socket, 4406, "Subprotocol not acceptable").await;
        }
        // Until here the connection counts as open.
        drop(permit);
    })
}

fn speaks_ours(headers: &HeaderMap) -> bool {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| value.trim() == PROTOCOL)
}

/// A message of a subscription: its number, and an answer, or `None` at its end.
type Outgoing = (u64, Option<Pushed>);

async fn carry(
    app: &Arc<AppState>,
    (principal, half): (Option<Principal>, Option<CookieHalf>),
    permit: Option<&ConnPermit>,
    socket: &mut WebSocket,
) {
    let now = || app.service.handle().now().boot;
    let (sender, mut pushed) = mpsc::channel(ROOM);
    let (app_state, running) = (Arc::clone(app), BTreeMap::new());
    let mut calls =
        Calls { app: app_state, principal, half, permit, seat: None, held: Vec::new(), sender, running };
    let mut evicted = pin!(async {
        match permit {
            Some(permit) => permit.watchdog().evicted().await,
            None => std::future::pending().await,
        }
    });
    let mut ended = pin!(app.pushing_ended());
    let mut machine = Socket::new(now());
    loop {
        let left = Span::from_nanos(machine.deadline().since(now()).nanos());
        // Wake up at the protocol's deadline, and at least often enough to notice a revoked token.
        let wait = Duration::from_nanos(left.nanos()).min(app.times.token_recheck);
        let frames = tokio::select! {
            message = timeout(wait, socket.recv()) => match message {
                Err(_) => machine.tick(now(), &mut calls),
                Ok(Some(Ok(Message::Text(text)))) => machine.text(&text, now(), &mut calls),
                Ok(Some(Ok(Message::Binary(_)))) => machine.binary(),
                // The library answers pings itself.
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => Vec::new(),
                Ok(None | Some(Ok(Message::Close(_)) | Err(_))) => return,
            },
            () = evicted.as_mut() => return,
            () = ended.as_mut() => return close(socket, 1001, "Going away").await,
            Some((number, answer)) = pushed.recv() => match answer {
                Some(answer) => {
                    let frames = machine.push(number, &answer.text, &mut calls);
                    calls.held.push(answer.held);
                    frames
                }
                None => {
                    calls.running.remove(&number);
                    machine.complete(number)
                }
            },
        };
        for frame in frames {
            match frame {
                Frame::Text(text) => {
                    let sent = timeout(app.times.stalled, socket.send(Message::Text(text.into()))).await;
                    if !matches!(sent, Ok(Ok(()))) {
                        return;
                    }
                }
                Frame::Close(code, reason) => return close(socket, code, &reason).await,
            }
        }
        // All is sent.
        calls.held.clear();
    }
}

async fn close(socket: &mut WebSocket, code: u16, reason: &str) {
    let frame = CloseFrame { code, reason: reason.into() };
    // A client that does not read the close frame is gone anyway.
    let _ = timeout(Duration::from_millis(CLOSING_MS), socket.send(Message::Close(Some(frame)))).await;
}

/// The operations of one connection.
struct Calls<'a> {
    app: Arc<AppState>,
    principal: Option<Principal>,
    /// The half of a browser's token that came with the upgrade.
    half: Option<CookieHalf>,
    permit: Option<&'a ConnPermit>,
    /// Its place among the streams and WebSockets of its caller, once the caller is known.
    seat: Option<Share>,
    /// What the answers that are being sent count.
    held: Vec<Held>,
    sender: mpsc::Sender<Outgoing>,
    /// The tasks of the running subscriptions, by number.
    running: BTreeMap<u64, tokio::task::AbortHandle>,
}

impl Calls<'_> {
    /// Takes a seat for the caller, who is known now.
    fn sit(&mut self) -> Result<(), Refused> {
        let principal = self.principal.as_ref().ok_or(Refused::Unknown)?;
        if let Some(permit) = self.permit {
            if permit.is_reserved() && !principal.is_operator() {
                return Err(Refused::UsedUp(limits::HTTP_CONNECTIONS));
            }
            // The select loop ends the connection if it has been evicted meanwhile.
            permit.watchdog().settle();
        }
        self.seat = Some(self.app.upgrades.take(&self.app.holder(principal), 1).map_err(Refused::UsedUp)?);
        Ok(())
    }
}

impl Operations for Calls<'_> {
    fn open(&mut self, payload: &Map) -> Result<(), Refused> {
        let bearer =
            ["authorization", "Authorization"].into_iter().find_map(|name| payload.text(name)?.as_str());
        let token = payload.text("token").and_then(Value::as_str);
        let token = token.or_else(|| bearer.and_then(|bearer| bearer.strip_prefix("Bearer ")));
        // A token in the message replaces the one of the upgrade, even if it is wrong.
        let token = token.map(Token::from_text).or_else(|| {
            // Of a browser's token, one half came in the cookie of the upgrade.
            let key = payload.text("csrf").and_then(Value::as_str)?;
            Some(self.half.as_ref()?.with(key))
        });
        if let Some(token) = token {
            self.principal = self.app.caller(&token).map(|caller| Principal { caller, token });
        }
        self.sit()
    }

    fn may_go_on(&mut self) -> bool {
        self.principal.as_ref().is_some_and(|principal| self.app.is_live(principal))
    }

    fn start(&mut self, number: u64, request: &GraphqlRequest) -> Started {
        let Some(principal) = &self.principal else {
            return Started::Refused(Vec::new());
        };
        match self.app.graphql.is_subscription(&principal.caller, request) {
            Err(errors) => Started::Refused(errors),
            Ok(false) => {
                let (app, caller) = (&self.app, &principal.caller);
                let answer = || app.graphql.answer(caller, request, false).body;
                let body = match long::run(app, principal, Cost::of(&app.graphql, caller, request), answer) {
                    Ok(body) => body,
                    Err(why) => return Started::Refused(long::not_done_in_graphql(why)),
                };
                match waiting::hold(&self.app.answers, || self.app.holder(principal), body.len() as u64) {
                    Ok(held) => {
                        self.held.push(held);
                        Started::Answered(body)
                    }
                    Err(limit) => Started::Refused(waiting::unsent_in_graphql(limit)),
                }
            }
            Ok(true) => match follow(&self.app, principal, request) {
                Err(errors) => Started::Refused(errors),
                Ok(following) => {
                    // A task of its own, because this one waits for the socket as well.
                    let task =
                        tokio::spawn(forward(Arc::clone(&self.app), number, following, self.sender.clone()));
                    self.running.insert(number, task.abort_handle());
                    Started::Follows
                }
            },
        }
    }

    fn stop(&mut self, number: u64) {
        if let Some(task) = self.running.remove(&number) {
            task.abort();
        }
    }
}

impl Drop for Calls<'_> {
    fn drop(&mut self) {
        self.running.values().for_each(tokio::task::AbortHandle::abort);
    }
}

async fn forward(app: Arc<AppState>, number: u64, mut following: Following, sender: mpsc::Sender<Outgoing>) {
    while let Some(answer) = following.answers.recv().await {
        if sender.send((number, Some(answer))).await.is_err() {
            return;
        }
    }
    // The feed ends with the engine, but the subscription is not over: the connection is closed with 1001, and its client
    // comes back.
    if app.is_stopping() {
        return;
    }
    // If the connection has ended, nobody needs the end of the subscription.
    let _ = sender.send((number, None)).await;
}

/// The number of answers, of all subscriptions together, that may wait for the socket.
const ROOM: usize = 16;
/// The time in milliseconds for a client to read the close frame.
const CLOSING_MS: u64 = 1_000;

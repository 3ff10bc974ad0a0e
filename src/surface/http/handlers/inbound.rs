//! `POST /v1/channels/{name}/in`: what another system tells a session, by the channel's own proof instead of a token.
//!
//! Invariants: nothing is parsed before the proof holds; a channel that is not there answers as one whose proof is wrong; the
//! event is on disk before the sender reads 202.

use std::pin::pin;
use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Request, StatusCode};
use sha2::{Digest, Sha256};
use tokio::time::timeout;

use crate::adapter::outbound::ProofKind;
use crate::dialect::REQUEST_CAPS;
use crate::domain::{Caller, CallerRole, Code, Refusal, Right, ScheduleId, Scope, Span, Via};
use crate::edn::{Map, Value};
use crate::limits;
use crate::service::{Arrival, Arrived};
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Peer;
use crate::surface::http::gate::{Single, single};
use crate::surface::http::message::body::{at_once, check_text, collect, too_slow};
use crate::surface::http::message::error::{ErrorCode, HttpError};
use crate::surface::http::message::reply::Reply;
use crate::surface::http::message::scan::Syntax;
use crate::surface::json;

/// Takes an event.
pub(in crate::surface::http) async fn take(
    State(app): State<Arc<AppState>>,
    Extension(Peer(peer)): Extension<Peer>,
    name: Result<Path<String>, PathRejection>,
    request: Request<Body>,
) -> Result<Reply, HttpError> {
    let (parts, body) = request.into_parts();
    // The body comes first, also for an unknown channel: an unread body would break the connection.
    let bytes = read(&app, body).await?;
    let name = name.map(|Path(name)| name).unwrap_or_default();
    let header = |name: &str| match single(&parts.headers, name) {
        Single::Value(text) => Some(text),
        Single::Absent | Single::Unclear => None,
    };
    let now = app.service.handle().now();
    let Some(proof) = app.proofs.get(&*name).filter(|proof| proof.holds(header, &bytes, now.wall)) else {
        // As for a wrong token: a sender that guesses a secret gets slower. A sender with the proof never waits.
        app.backoff.wrong_token(peer, now.boot).await;
        return Err(HttpError::unauthorized());
    };
    check_text(&bytes, Syntax::Json)?;
    let payload = json::read(&bytes, &REQUEST_CAPS).map_err(|error| {
        HttpError::invalid(format!("the body is not JSON: {error}"), "send one JSON value")
    })?;
    // Slack asks whether the address is ours before it sends events.
    if let Some(challenge) = text_at(&payload, "challenge").filter(|_| proof.kind() == ProofKind::Slack) {
        return Ok(Reply::new(StatusCode::OK, Map::new().with("challenge", challenge)));
    }
    let arrival = arrival(proof.kind(), &parts.headers, payload, &bytes);
    let arrived = app.service.arrive(&name, &arrival).map_err(|refusal| refused(&refusal))?;
    let answer = Map::new().with("event-id", &*arrival.event);
    let of = |schedule: &ScheduleId, duplicate: bool| {
        answer.clone().with("schedule-id", schedule.to_string()).with("duplicate", duplicate)
    };
    Ok(match &arrived {
        Arrived::Begun { schedule } => Reply::new(StatusCode::ACCEPTED, of(schedule, false)),
        Arrived::Duplicate { schedule } => Reply::new(StatusCode::OK, of(schedule, true)),
        Arrived::Filtered => Reply::new(StatusCode::OK, answer.with("filtered", true)),
    })
}

/// Reads a body of a sender who has no token, within a small bound and a short time.
async fn read(app: &AppState, body: Body) -> Result<Bytes, HttpError> {
    let mut reading = pin!(collect(body, limits::CHANNEL_IN_BYTES));
    // Takes no place: senders whose bodies come slowly must not keep out those whose bodies are there.
    if let Some(read) = at_once(reading.as_mut()).await {
        return read;
    }
    // Before the proof nobody is known, so all senders together count as one caller without rights.
    let (scope, via) = (Scope::nothing(), Via::Session);
    let nobody = Caller { scope, role: CallerRole::Session, right: Right::Read, via };
    let place =
        app.bodies.take(&app.service.holder(&nobody), 1).map_err(|limit| HttpError::used_up(limit, false))?;
    let read = timeout(app.times.body_grace.min(app.times.body), reading).await;
    drop(place);
    read.map_err(|_| too_slow())?
}

/// What the event is called, who sent it, and what it says, by the kind of its sender.
fn arrival(kind: ProofKind, headers: &HeaderMap, payload: Value, bytes: &[u8]) -> Arrival {
    let header = |name: &str| match single(headers, name) {
        Single::Value(text) => Some(text.to_owned()),
        Single::Absent | Single::Unclear => None,
    };
    let at = |path: &str| text_at(&payload, path);
    let (event, source, message) = match kind {
        ProofKind::Standard => (header("webhook-id"), at("source"), at("message")),
        ProofKind::Github => (header("x-github-delivery"), at("sender.login"), None),
        ProofKind::Slack => (at("event_id"), at("event.channel"), at("event.text")),
        // `update_id` and `message.chat.id` are the names of Telegram.
        ProofKind::Token => {
            let event = header("idempotency-key").or_else(|| at("event_id")).or_else(|| at("update_id"));
            let source = at("message.chat.id").or_else(|| at("source"));
            (event, source, at("message.text").or_else(|| at("message")))
        }
    };
    // Without an id, equal bodies are one event.
    let of_body =
        || Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>();
    Arrival {
        event: event.filter(|id| !id.trim().is_empty()).unwrap_or_else(of_body).into(),
        source: source.unwrap_or_else(|| kind.name().to_owned()).into(),
        message: message.or_else(|| at("text")).map(Into::into),
        payload,
        simulated: None,
    }
}

/// The text or the number at the end of these keys.
fn text_at(value: &Value, path: &str) -> Option<String> {
    let step = |value: &Value, key: &str| value.as_map()?.text(key).cloned();
    let found = path.split('.').try_fold(value.clone(), |value, key| step(&value, key))?;
    found.as_str().map(str::to_owned).or_else(|| found.as_int().map(|number| number.to_string()))
}

fn refused(refusal: &Refusal) -> HttpError {
    let code = match refusal.code() {
        Code::Validation => ErrorCode::Validation,
        Code::Limit => ErrorCode::Limit,
        // The sender cannot know of the session, and may send the event again when it is there.
        Code::NotFound | Code::Forbidden | Code::Conflict | Code::Unavailable => ErrorCode::Unavailable,
    };
    let error = HttpError::new(code, "the event cannot be accepted now", "send it again later");
    // Nobody knows for how long; a sender that asks each minute costs nothing.
    let is_paused = matches!(refusal, Refusal::ChannelPaused { .. });
    if is_paused { error.retry_after(Span::from_millis(60_000)) } else { error }
}

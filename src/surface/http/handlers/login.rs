//! The login of browsers: codes for the operator's command, and what a page gets for one.
//!
//! What lives elsewhere: the codes and logins themselves (`login.rs`).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderValue, Request, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::domain::Right;
use crate::edn::{Map, Value};
use crate::limits;
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::{Peer, Principal};
use crate::surface::http::gate::{Single, single};
use crate::surface::http::message::body::read_value;
use crate::surface::http::message::error::HttpError;
use crate::surface::http::message::reply::Reply;

/// `POST /dashboard/code`: a one-time code for a browser, which may read only if the body says `read-only`.
pub(in crate::surface::http) async fn code(
    State(app): State<Arc<AppState>>,
    request: Request<Body>,
) -> Result<Reply, HttpError> {
    let (body, _) = read_value(&app, request).await?;
    let right = if is_true(&body, "read-only") { Right::Read } else { Right::Change };
    let code = app.logins.code(app.service.handle().random_bits(), app.service.handle().now().boot, right);
    Ok(Reply::new(
        StatusCode::OK,
        Map::new().with("code", code).with("ms", ms(limits::DASHBOARD_CODE_MS.value)),
    ))
}

/// `POST /dashboard/revoke`: logs all browsers out, and forgets all codes.
pub(in crate::surface::http) async fn revoke(State(app): State<Arc<AppState>>) -> Result<Reply, HttpError> {
    let ended = app.logins.revoke(app.service.handle().tokens());
    Ok(Reply::new(StatusCode::OK, Map::new().with("logged-out", ms(ended as u64))))
}

/// `POST /enter`: exchanges a code for a login. The code is in a header, because nobody's body is read before there is a token.
pub(in crate::surface::http) async fn enter(
    State(app): State<Arc<AppState>>,
    request: Request<Body>,
) -> Result<Response, HttpError> {
    let peer = request.extensions().get::<Peer>().copied();
    let code = match single(request.headers(), CODE) {
        Single::Value(code) => code,
        Single::Absent | Single::Unclear => "",
    };
    let handle = app.service.handle();
    let (bits, now) = ([handle.random_bits(), handle.random_bits()], handle.now().boot);
    let Some(entered) = app.logins.enter(handle.tokens(), code, bits, now) else {
        if let Some(Peer(peer)) = peer {
            app.backoff.wrong_token(peer, now).await;
        }
        return Err(HttpError::unauthorized());
    };
    let answer = Map::new()
        .with("key", entered.key)
        .with("read-only", entered.right == Right::Read)
        .with("ms", ms(limits::DASHBOARD_LOGIN_MS.value));
    let cookie = cookie(&app, &entered.cookie, limits::DASHBOARD_LOGIN_MS.value / 1_000)?;
    Ok(([(SET_COOKIE, cookie)], Reply::new(StatusCode::OK, answer)).into_response())
}

/// `POST /leave`: ends the login that asks.
pub(in crate::surface::http) async fn leave(
    State(app): State<Arc<AppState>>,
    principal: Principal,
) -> Result<Response, HttpError> {
    let was_in = app.logins.leave(app.service.handle().tokens(), &principal.token);
    let answer = Reply::new(StatusCode::OK, Map::new().with("logged-out", ms(u64::from(was_in))));
    Ok(([(SET_COOKIE, cookie(&app, "", 0)?)], answer).into_response())
}

fn cookie(app: &AppState, half: &str, seconds: u64) -> Result<HeaderValue, HttpError> {
    let name = app.gate.cookie_name();
    // Without `Secure`, because this server speaks plain HTTP.
    let text = format!("{name}={half}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}");
    let mut value = HeaderValue::try_from(text).map_err(|_| HttpError::unauthorized())?;
    value.set_sensitive(true);
    Ok(value)
}

/// The header with the code. A page of another origin cannot send it.
const CODE: &str = "reveille-code";

fn is_true(body: &Value, key: &str) -> bool {
    field(body, key).is_some_and(|value| *value == Value::from(true))
}

/// A field of a body in either notation.
fn field<'a>(body: &'a Value, key: &str) -> Option<&'a Value> {
    let map = body.as_map()?;
    map.keyword(key).or_else(|| map.text(key))
}

fn ms(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

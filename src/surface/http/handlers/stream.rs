//! `GET /stream`: upgrades an HTTP connection to the stream protocol, in EDN or JSON.

use std::io::{Cursor, Read as _};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONNECTION, HeaderMap, UPGRADE};
use axum::http::{Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto::upgrade::downcast;

use crate::dialect::Notation;
use crate::limits;
use crate::service::{HostRequest, Reach, SessionRequest};
use crate::surface::edn_stream::Connection;
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::connection::conn_limit::ConnPermit;
use crate::surface::http::connection::conn_watchdog::Watched;
use crate::surface::http::message::error::{ErrorCode, HttpError};
use crate::surface::http::streams::Client;
use crate::surface::http::traffic::log_requests;

/// The protocol's names in the `Upgrade` header, each with its notation. `None`: the first form decides.
const PROTOCOLS: [(&str, Option<Notation>); 2] =
    [("reveille-edn", None), ("reveille-json", Some(Notation::Json))];

/// What a client may ask for, as the `Upgrade` header of a refusal lists it.
pub(in crate::surface::http) const PROTOCOL_NAMES: &str = "reveille-edn, reveille-json";

/// Upgrades the connection for this caller.
pub(in crate::surface::http) async fn open(
    State(app): State<Arc<AppState>>,
    principal: Principal,
    mut request: Request<Body>,
) -> Result<Response, HttpError> {
    // The router sends HEAD here as well, and a HEAD cannot be upgraded.
    let asked = asked_for(request.headers()).filter(|_| request.method() == Method::GET);
    let Some((protocol, notation)) = asked else {
        let hint = "send Connection: Upgrade and Upgrade: reveille-edn or reveille-json, over HTTP/1.1";
        return Err(HttpError::new(
            ErrorCode::UpgradeRequired,
            "this route speaks the stream protocol",
            hint,
        ));
    };
    // Before the upgrade: afterwards there is no way to answer with an error of HTTP.
    let seat = app.upgrades.take(&app.holder(&principal), 1);
    let seat = seat.map_err(|limit| HttpError::used_up(limit, limit != limits::HTTP_UPGRADES))?;
    let permit = request.extensions().get::<Arc<ConnPermit>>().cloned();
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        // An error means that the client is gone.
        if let Ok(upgraded) = upgrade.await
            && permit.as_ref().is_none_or(|permit| permit.watchdog().settle())
        {
            carry(&app, &principal, upgraded, notation).await;
        }
        // The stream goes on counting as a connection of its peer and as a stream of its caller until it ends.
        drop((permit, seat));
    });
    Ok((StatusCode::SWITCHING_PROTOCOLS, [(CONNECTION, "upgrade"), (UPGRADE, protocol)]).into_response())
}

async fn carry(app: &Arc<AppState>, principal: &Principal, upgraded: Upgraded, notation: Option<Notation>) {
    // `connection/accept.rs` has made the connection of exactly this type.
    let Ok(parts) = downcast::<TokioIo<Watched>>(upgraded) else { return };
    let Ok(stream) = parts.io.into_inner().into_stream().into_std() else { return };
    // The stream leaves Tokio here: a thread of its own reads and writes with blocking calls.
    let (Ok(()), Ok(input), Ok(output)) =
        (stream.set_nonblocking(false), stream.try_clone(), stream.try_clone())
    else {
        return;
    };
    open_if_absent(app, principal);
    let connection = Connection::of_caller(app.service.clone(), principal.caller.clone())
        .reporting(log_requests(&principal.caller));
    // Set before the first byte is read, so that the first form decides nothing.
    let connection = match notation {
        Some(notation) => connection.speaking(notation),
        None => connection,
    };
    let (entitling, bearer) = (Arc::clone(app), principal.clone());
    let client = Client {
        connection,
        // Hyper may have read bytes of the stream already; they come first.
        input: Box::new(Cursor::new(parts.read_buf).chain(input)),
        output: Box::new(output),
        hang_up: Arc::new(move |how| drop(stream.shutdown(how))),
        is_entitled: Box::new(move || entitling.is_live(&bearer)),
        is_local: false,
    };
    app.streams.carry(client, app.times.token_recheck).await;
}

/// Opens the session that the caller acts for, if it is not open and the caller may open sessions.
/// `reveille stdio --session ID` does so with an engine of its own as well.
fn open_if_absent(app: &AppState, principal: &Principal) {
    let (service, caller) = (&app.service, &principal.caller);
    // A host that names no session acts for none.
    let Some(session) = caller.scope.session().filter(|_| !caller.scope.is_nothing()) else { return };
    if service.handle().view(|state| state.session(session).is_none()) {
        let (session, asked) = (Some(session.clone()), SessionRequest::default());
        let open = HostRequest::Open { session, asked, listens: false };
        // A refusal (not for this caller, opened meanwhile, engine full or stopping) shows in the calls that follow.
        let _ = service.host(caller, &mut Reach::of(service.handle(), caller), open);
    }
}

/// The protocol of ours that a request asks for.
fn asked_for(headers: &HeaderMap) -> Option<(&'static str, Option<Notation>)> {
    let has = |name, word: &str| {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(word))
    };
    PROTOCOLS.into_iter().find(|(protocol, _)| has(CONNECTION, "upgrade") && has(UPGRADE, protocol))
}

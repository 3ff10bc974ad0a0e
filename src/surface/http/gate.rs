//! The access checks before every route: the host that a request names, the page that sent it, and
//! its token.
//!
//! Source: S01 to S03, S05, S24 of the threat model. Invariants: a host name is compared literally,
//! except for case (RFC 9110, section 4.2.3); forwarding headers are ignored; an address, loopback
//! included, proves nothing; all requests without a live token get an equal answer.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::http::Version;
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap, HeaderValue, ORIGIN};
use axum::http::request::Parts;

use super::auth::Principal;
use super::config::Config;
use super::login::CookieHalf;
use super::message::error::{ErrorCode, HttpError};
use super::route::Route;
use crate::domain::{Caller, SessionId};
use crate::runtime::{Handle, Token};
use crate::service;

/// The host names and origins that this server accepts.
#[derive(Debug)]
pub(super) struct Gate {
    hosts: Vec<String>,
    /// Origins, besides our own, whose pages may call.
    origins: Vec<String>,
    /// The name of the cookie. Cookies know no ports, so each daemon of a machine has a name of its own.
    cookie: String,
}

/// The header that names the session for which an operator acts.
const SESSION: &str = "reveille-session";
/// The header with the half of a browser's token that its page has. Only pages of ours can send it: another origin's page has
/// to ask first, and is refused, also if the configuration lets it call (`cors.rs`).
const KEY: &str = "reveille-csrf";

impl Gate {
    /// The accepted names of a server at this address.
    pub(super) fn new(config: &Config, address: SocketAddr) -> Gate {
        // The address has the port that was bound, even if port 0 was asked for.
        let mut hosts = vec![address.to_string()];
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            hosts.push(format!("localhost:{}", address.port()));
        }
        // A server on all addresses is reached by name or by either loopback address from here.
        if address.ip().is_unspecified() {
            let loopback = |ip: IpAddr| SocketAddr::new(ip, address.port()).to_string();
            hosts.extend([loopback(Ipv4Addr::LOCALHOST.into()), loopback(Ipv6Addr::LOCALHOST.into())]);
        }
        hosts.extend(config.hosts.iter().cloned());
        Gate { hosts, origins: config.origins.clone(), cookie: format!("reveille-{}", address.port()) }
    }

    /// The name of the cookie with one half of a browser's token.
    pub(super) fn cookie_name(&self) -> &str {
        &self.cookie
    }

    /// The half of a browser's token that is in its cookie, if a page of an accepted origin sends it. Such a page's origin was
    /// checked by [`Gate::check`]; a request that does not say where it comes from is of no page.
    fn cookie(&self, headers: &HeaderMap) -> Option<CookieHalf> {
        let is_of_page = matches!(single(headers, ORIGIN.as_str()), Single::Value(_))
            || matches!(single(headers, "sec-fetch-site"), Single::Value("same-origin"));
        let values = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut halves = values
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(name, _)| *name == self.cookie);
        // Set twice, on two paths: which one counts is unclear, so none does.
        match (halves.next(), halves.next()) {
            (Some((_, half)), None) if is_of_page => Some(CookieHalf::new(half)),
            _ => None,
        }
    }

    /// Checks the host that a request names (against DNS rebinding) and the page that sent it
    /// (against cross-site requests).
    ///
    /// # Errors
    /// 421 for another host, 403 for another origin.
    pub(super) fn check(&self, parts: &Parts) -> Result<(), HttpError> {
        if !host(parts).is_some_and(|host| self.serves(host)) {
            let hint = "use the address that the server printed, its port included, or configure the name";
            return Err(HttpError::new(ErrorCode::Misdirected, "this host is not served here", hint));
        }
        let alien = |message| {
            let hint = "pages of other origins may not call, unless the configuration names them";
            Err(HttpError::new(ErrorCode::Forbidden, message, hint))
        };
        let origin = single(&parts.headers, ORIGIN.as_str());
        match origin {
            // A configured origin is allowed although its pages are cross-site for us.
            Single::Value(origin) if self.has_named(origin) => return Ok(()),
            Single::Value(origin) if self.is_own(origin) => {}
            Single::Value(_) | Single::Unclear => return alien("a page of this origin may not call"),
            Single::Absent => {}
        }
        // Browsers omit Origin on many GETs; Sec-Fetch-Site covers those.
        match single(&parts.headers, "sec-fetch-site") {
            Single::Absent | Single::Value("same-origin" | "none") => Ok(()),
            Single::Value(_) | Single::Unclear => alien("a page of another site may not call"),
        }
    }

    /// The origin of the page that sent a request, if the configuration names it.
    pub(super) fn foreign_page<'h>(&self, headers: &'h HeaderMap) -> Option<&'h HeaderValue> {
        match single(headers, ORIGIN.as_str()) {
            Single::Value(origin) if self.has_named(origin) => headers.get(ORIGIN),
            Single::Value(_) | Single::Absent | Single::Unclear => None,
        }
    }

    /// Whether pages of any other origin may call.
    pub(super) fn has_foreign_pages(&self) -> bool {
        !self.origins.is_empty()
    }

    fn serves(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    /// Whether the configuration names the origin. Its scheme and its host have no case, and it has no other letters.
    fn has_named(&self, origin: &str) -> bool {
        self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin))
    }

    fn is_own(&self, origin: &str) -> bool {
        let scheme = "http://";
        let is_ours = origin.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
        is_ours && self.serves(&origin[scheme.len()..])
    }
}

/// The identity of a request, by its token.
pub(super) enum Identity {
    /// No token, and the route needs none.
    Nobody,
    /// A live token.
    Caller(Principal),
    /// An unknown or revoked token.
    Stranger,
}

/// Identifies the caller of a request.
///
/// # Errors
/// 401 without a token, 404 for a session that is not the caller's.
pub(super) fn identify(
    gate: &Gate,
    handle: &Handle,
    known: impl FnOnce(&Token) -> Option<Caller>,
    parts: &mut Parts,
) -> Result<Identity, HttpError> {
    let half = gate.cookie(&parts.headers);
    let token = match (bearer(&parts.headers), &half) {
        // A browser: one half of its token is in the cookie, the other one in this header.
        (Single::Absent, Some(half)) if parts.headers.contains_key(KEY) => {
            let Single::Value(key) = single(&parts.headers, KEY) else {
                return Err(HttpError::unauthorized());
            };
            half.with(key)
        }
        // Only without any token: a wrong one is refused on open routes too.
        (Single::Absent, _) if Route::is_open(&parts.method, parts.uri.path()) => {
            // For a WebSocket, whose first message brings the other half.
            if let Some(half) = half {
                parts.extensions.insert(half);
            }
            return Ok(Identity::Nobody);
        }
        (Single::Absent | Single::Unclear, _) => return Err(HttpError::unauthorized()),
        (Single::Value(text), _) => Token::from_text(text),
    };
    let Some(caller) = known(&token) else { return Ok(Identity::Stranger) };
    let principal = Principal { caller, token };
    match single(&parts.headers, SESSION) {
        Single::Absent => Ok(Identity::Caller(principal)),
        Single::Value(session) => acting_for(handle, principal, session).map(Identity::Caller),
        Single::Unclear => {
            Err(HttpError::invalid("Reveille-Session must be one session's id", "send it once"))
        }
    }
}

/// The caller acting for a session that exists for it.
fn acting_for(handle: &Handle, principal: Principal, session: &str) -> Result<Principal, HttpError> {
    let session = SessionId::new(session).map_err(|_| HttpError::not_found())?;
    let caller = service::acting_for(handle, &principal.caller, &session).ok_or_else(HttpError::not_found)?;
    Ok(Principal { caller, ..principal })
}

/// The host that a request names. A target in absolute form must agree with the header.
fn host(parts: &Parts) -> Option<&str> {
    let target = parts.uri.authority().map(axum::http::uri::Authority::as_str);
    // This server speaks plain HTTP, so a target with another scheme is meant for another server.
    if parts.uri.scheme_str().is_some_and(|scheme| scheme != "http") {
        return None;
    }
    match (single(&parts.headers, HOST.as_str()), target) {
        (Single::Value(host), None) => Some(host),
        (Single::Value(host), Some(target)) => host.eq_ignore_ascii_case(target).then_some(host),
        // In HTTP/2 the host may be in the `:authority` pseudo-header alone (RFC 9113, section
        // 8.3.1).
        (Single::Absent, Some(target)) if parts.version == Version::HTTP_2 => Some(target),
        (Single::Absent | Single::Unclear, _) => None,
    }
}

fn bearer(headers: &HeaderMap) -> Single<'_> {
    match single(headers, AUTHORIZATION.as_str()) {
        Single::Value(value) => match value.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Single::Value(token.trim()),
            _ => Single::Unclear,
        },
        other @ (Single::Absent | Single::Unclear) => other,
    }
}

/// A header that may occur once at most, as plain text.
pub(super) enum Single<'a> {
    Absent,
    Value(&'a str),
    Unclear,
}

pub(super) fn single<'a>(headers: &'a HeaderMap, name: &str) -> Single<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next().map(HeaderValue::to_str), values.next()) {
        (None, _) => Single::Absent,
        (Some(Ok(value)), None) => Single::Value(value),
        // Sent twice: proxies and servers disagree about which one counts, so none does.
        (Some(_), _) => Single::Unclear,
    }
}

//! The state that all requests of a server share.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

use super::auth::Principal;
use super::calendar::CalendarKey;
use super::config::{Config, Times};
use super::connection::backoff::Backoff;
use super::connection::conn_limit::ConnLimiter;
use super::gate::Gate;
use super::login::Logins;
use super::streams::Streams;
use super::traffic::Traffic;
use crate::domain::{Caller, SessionId};
use crate::runtime::Token;
use crate::service::{Holder, Queue, Quota, Service, acting_for};
use crate::surface::graphql::GraphqlService;

/// The state that all requests of a server share.
pub(super) struct AppState {
    pub(super) service: Service,
    pub(super) gate: Gate,
    pub(super) backoff: Backoff,
    pub(super) permits: ConnLimiter,
    pub(super) streams: Arc<Streams>,
    /// The browsers that are logged in at the dashboard.
    pub(super) logins: Logins,
    /// The key of links to calendars.
    pub(super) calendars: Arc<CalendarKey>,
    /// The places for GraphQL subscriptions.
    pub(super) followers: Arc<Quota>,
    pub(super) graphql: Arc<GraphqlService>,
    pub(super) traffic: Traffic,
    pub(super) times: Times,
    /// EDN streams and WebSockets over HTTP.
    pub(super) upgrades: Arc<Quota>,
    pub(super) long: Arc<Queue>,
    /// Request bodies of which a part has not arrived.
    pub(super) bodies: Arc<Quota>,
    /// Bytes of answers that are written and not yet sent.
    pub(super) answers: Arc<Quota>,
    #[cfg(feature = "channels")]
    pub(super) proofs: Arc<std::collections::BTreeMap<Box<str>, crate::adapter::outbound::Proof>>,
    stopping: AtomicBool,
    /// Whether WebSockets and event streams have to end.
    ending: watch::Sender<bool>,
}

impl AppState {
    /// Creates the shared state of a server at this address.
    pub(super) fn new(service: Service, config: &Config, address: SocketAddr) -> Arc<AppState> {
        let graphql = GraphqlService::new(&service).expect("a test makes the schema and finds no fault");
        let (permits, streams) = (ConnLimiter::new(config), Arc::<Streams>::default());
        let (open, local) = (permits.clone(), Arc::clone(&streams));
        // Without a directory, links end with the process.
        let fresh = || Token::from_entropy(service.handle().random_bits(), service.handle().random_bits());
        let calendars = config.calendars.clone();
        let calendars = calendars.unwrap_or_else(|| Arc::new(CalendarKey::new(fresh(), |_| Ok(()))));
        let places = service.places();
        // Of two servers over one service, the first is counted.
        let _ = places.connections.set(Box::new(move || open.open() as u64));
        let _ = places.socket_streams.set(Box::new(move || local.local() as u64));
        Arc::new(AppState {
            graphql: Arc::new(graphql),
            followers: Arc::clone(&service.places().subscriptions),
            upgrades: Arc::clone(&service.places().upgrades),
            long: Arc::clone(&service.places().long),
            bodies: Arc::clone(&service.places().bodies),
            answers: Arc::clone(&service.places().answers),
            service,
            gate: Gate::new(config, address),
            backoff: Backoff::new(config.times.wrong_token),
            permits,
            streams,
            logins: Logins::default(),
            calendars,
            traffic: Traffic::default(),
            times: config.times,
            #[cfg(feature = "channels")]
            proofs: Arc::clone(&config.proofs),
            stopping: AtomicBool::new(false),
            ending: watch::Sender::new(false),
        })
    }

    /// The caller that a token acts as, unless its time is over.
    pub(super) fn caller(&self, token: &Token) -> Option<Caller> {
        let handle = self.service.handle();
        // Nothing else looks at the clock for logins: an old one ends before the next check of any token.
        self.logins.end_old(handle.tokens(), handle.now().boot);
        handle.tokens().caller(token)
    }

    /// For whom it counts what this caller holds.
    pub(super) fn holder(&self, principal: &Principal) -> Holder {
        self.service.holder(&principal.caller)
    }

    /// Whether a caller's token is still one, and still reaches the session that the caller acts for.
    pub(super) fn is_live(&self, principal: &Principal) -> bool {
        let handle = self.service.handle();
        let Some(bearer) = self.caller(&principal.token) else { return false };
        let reaches = |session: &SessionId| acting_for(handle, &bearer, session).is_some();
        let scope = &principal.caller.scope;
        // A caller that acts for a session has the scope of that session, and its token has a wider one.
        *scope == bearer.scope || scope.session().is_some_and(reaches)
    }

    /// Marks the server as stopping; returns whether it was already.
    pub(super) fn begin_stop(&self) -> bool {
        self.stopping.swap(true, Ordering::AcqRel)
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Ends WebSockets and event streams.
    pub(super) fn end_pushing(&self) {
        self.ending.send_replace(true);
    }

    /// Returns when WebSockets and event streams have to end.
    pub(super) async fn pushing_ended(&self) {
        let mut ending = self.ending.subscribe();
        // The sender lives as long as `self`, so there is no error.
        let _ = ending.wait_for(|is_ending| *is_ending).await;
    }
}

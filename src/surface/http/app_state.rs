//! The state that all requests of a server share.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::config::{Config, Times};
use super::connection::backoff::Backoff;
use super::connection::conn_limit::ConnLimiter;
use super::followers::Followers;
use super::gate::Gate;
use super::streams::Streams;
use super::traffic::Traffic;
use crate::service::Service;
use crate::surface::graphql::GraphqlService;

/// The state that all requests of a server share.
pub(super) struct AppState {
    pub(super) service: Service,
    pub(super) gate: Gate,
    pub(super) backoff: Backoff,
    pub(super) permits: ConnLimiter,
    pub(super) streams: Streams,
    pub(super) followers: Followers,
    pub(super) graphql: Arc<GraphqlService>,
    pub(super) traffic: Traffic,
    pub(super) times: Times,
    streams_max: usize,
    stopping: AtomicBool,
}

impl AppState {
    /// Creates the shared state of a server at this address.
    pub(super) fn new(service: Service, config: &Config, address: SocketAddr) -> Arc<AppState> {
        let graphql = GraphqlService::new(&service).expect("a test makes the schema and finds no fault");
        Arc::new(AppState {
            graphql: Arc::new(graphql),
            followers: Followers::default(),
            service,
            gate: Gate::new(config, address),
            backoff: Backoff::new(config.times.wrong_token),
            permits: ConnLimiter::new(config),
            streams: Streams::default(),
            traffic: Traffic::default(),
            times: config.times,
            // Streams of the Unix socket take no permit, so they have a limit of their own.
            streams_max: config.connections_max,
            stopping: AtomicBool::new(false),
        })
    }

    /// Marks the server as stopping; returns whether it was already.
    pub(super) fn begin_stop(&self) -> bool {
        self.stopping.swap(true, Ordering::AcqRel)
    }

    /// Whether another stream may be opened, on any socket.
    pub(super) fn has_room_for_stream(&self) -> bool {
        self.streams.count() < self.streams_max
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}

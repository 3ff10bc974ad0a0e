//! The configuration of a server: its address, its names, its limits and its time limits.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use super::calendar::CalendarKey;
use crate::limits::{self, Limit};

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to listen on; port 0 takes any free port.
    pub listen: SocketAddr,
    /// Further accepted values of `Host`, each with its port if a client would send one.
    pub hosts: Vec<String>,
    /// Further origins whose pages may call, such as `http://localhost:3000`.
    pub origins: Vec<String>,
    /// The time limits.
    pub times: Times,
    /// The maximum of open connections.
    pub connections_max: usize,
    /// The maximum of open connections from one address that is not a loopback address.
    pub peer_connections_max: usize,
    /// The maximum of open connections from all loopback addresses together.
    pub loopback_connections_max: usize,
    /// The maximum of open connections beyond these, which are for operators.
    pub operator_connections_max: usize,
    /// The key of links to calendars; one of this process alone if `None`.
    pub calendars: Option<Arc<CalendarKey>>,
    /// The proofs of what comes in by channels, by channel.
    #[cfg(feature = "channels")]
    pub proofs: Arc<std::collections::BTreeMap<Box<str>, crate::adapter::outbound::Proof>>,
}

/// The time limits of a server; tests make them short.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// To receive the head of a request.
    pub head: Duration,
    /// To receive the body of a request.
    pub body: Duration,
    /// To receive a body before the connection may be closed to make room for another.
    pub body_grace: Duration,
    /// To wait for the next request on an open connection.
    pub idle: Duration,
    /// To wait for a client that does not read its answer.
    pub stalled: Duration,
    /// To finish requests in progress when the server stops.
    pub drain: Duration,
    /// The longest delay of the answer to a wrong token.
    pub wrong_token: Duration,
    /// The interval at which an open stream's token is checked again.
    pub token_recheck: Duration,
}

impl Config {
    /// The default configuration at this address.
    pub(crate) fn new(listen: SocketAddr) -> Config {
        let count = |limit: Limit| usize::try_from(limit.value).unwrap_or(usize::MAX);
        Config {
            listen,
            hosts: Vec::new(),
            origins: Vec::new(),
            times: Times::default(),
            connections_max: count(limits::HTTP_CONNECTIONS),
            peer_connections_max: count(limits::HTTP_PEER_CONNECTIONS),
            loopback_connections_max: count(limits::HTTP_LOOPBACK_CONNECTIONS),
            operator_connections_max: count(limits::HTTP_OPERATOR_CONNECTIONS),
            calendars: None,
            #[cfg(feature = "channels")]
            proofs: Arc::default(),
        }
    }

    /// The default configuration at any free port of 127.0.0.1.
    pub fn local() -> Config {
        Config::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
    }
}

impl Default for Times {
    fn default() -> Times {
        let time = |limit: Limit| Duration::from_millis(limit.value);
        Times {
            head: time(limits::HTTP_HEAD_MS),
            body: time(limits::HTTP_BODY_MS),
            body_grace: time(limits::HTTP_BODY_GRACE_MS),
            idle: time(limits::HTTP_IDLE_MS),
            stalled: time(limits::HTTP_STALLED_MS),
            drain: time(limits::HTTP_DRAIN_MS),
            wrong_token: time(limits::WRONG_TOKEN_MS),
            token_recheck: time(limits::TOKEN_RECHECK_MS),
        }
    }
}

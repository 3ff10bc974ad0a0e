//! What a server is told: where to listen, which names are its own, how long it waits.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::limits::{self, Limit};

/// What a server is told.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen; port 0 takes any free one.
    pub listen: SocketAddr,
    /// More values of `Host` that mean this server, each with its port where a client would send one.
    pub hosts: Vec<String>,
    /// More origins whose pages may call, such as `http://localhost:3000`.
    pub origins: Vec<String>,
    /// How long it waits for what.
    pub times: Times,
    /// Connections at the same time.
    pub connections_max: usize,
    /// Connections of one peer address that is not a loopback one.
    pub peer_connections_max: usize,
    /// Connections of one loopback address.
    pub loopback_connections_max: usize,
}

/// How long a server waits for what; tests make it short.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// For the head of a request.
    pub head: Duration,
    /// For its body.
    pub body: Duration,
    /// For the next request.
    pub idle: Duration,
    /// For its client to take more of an answer.
    pub stalled: Duration,
    /// For requests in progress, when it stops.
    pub drain: Duration,
    /// With the answer to a wrong token, at the most.
    pub wrong_token: Duration,
    /// Between two looks at whether the token of an open stream still stands.
    pub token_recheck: Duration,
}

impl Config {
    /// The defaults, at this address.
    pub fn new(listen: SocketAddr) -> Config {
        let count = |limit: Limit| usize::try_from(limit.value).unwrap_or(usize::MAX);
        Config {
            listen,
            hosts: Vec::new(),
            origins: Vec::new(),
            times: Times::default(),
            connections_max: count(limits::HTTP_CONNECTIONS),
            peer_connections_max: count(limits::HTTP_PEER_CONNECTIONS),
            loopback_connections_max: count(limits::HTTP_LOOPBACK_CONNECTIONS),
        }
    }

    /// Any free port of 127.0.0.1.
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
            idle: time(limits::HTTP_IDLE_MS),
            stalled: time(limits::HTTP_STALLED_MS),
            drain: time(limits::HTTP_DRAIN_MS),
            wrong_token: time(limits::WRONG_TOKEN_MS),
            token_recheck: time(limits::TOKEN_RECHECK_MS),
        }
    }
}

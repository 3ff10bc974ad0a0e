//! The connection with one server: begun when it is wanted, and again after it has ended, but not at once.
//!
//! Invariant: one task has the connection and its process; calls only ask for it and wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::Peer;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::Server;
use super::connection::Connection;
use super::wire::Wire;

/// Where the connection stands.
#[derive(Clone)]
pub(super) enum Link {
    /// There is none, and the next use begins one.
    Idle,
    /// One is being made.
    Connecting,
    /// There is one.
    Up(Up),
    /// The last one failed or ended, and the next one is not begun before the rest is over.
    Resting { why: Box<str>, rest: Duration },
    /// There will be none any more.
    Ended,
}

/// A connection, as calls use it.
#[derive(Clone)]
pub(super) struct Up {
    /// Its number among the connections that have been tried for.
    pub(super) number: u64,
    /// What requests are made of.
    pub(super) peer: Peer<RoleClient>,
    /// What says that it is over.
    pub(super) wire: Arc<Wire>,
}

/// A link, and how many connections have been tried for up to now.
#[derive(Clone)]
struct State {
    tries: u64,
    link: Link,
}

/// What tells the task and its callers about each other.
pub(super) struct Line {
    state: watch::Sender<State>,
    wanted: Notify,
    is_over: watch::Sender<bool>,
    has_answered: AtomicBool,
}

impl Default for Line {
    fn default() -> Line {
        Line {
            state: watch::Sender::new(State { tries: 0, link: Link::Idle }),
            wanted: Notify::new(),
            is_over: watch::Sender::new(false),
            has_answered: AtomicBool::new(false),
        }
    }
}

impl Line {
    /// Asks for a connection.
    pub(super) fn want(&self) {
        self.wanted.notify_one();
    }

    /// Asks for the end of the connection, and for no other one.
    pub(super) fn end(&self) {
        self.is_over.send_replace(true);
    }

    /// Notes that the server has answered a call: failures before do not count any more.
    pub(super) fn has_answered(&self) {
        self.has_answered.store(true, Ordering::Relaxed);
    }

    /// Returns the connection. It waits for one that is being made, and for a rest that is shorter than the call
    /// may take; a try that fails while it waits fails the call.
    pub(super) async fn connected(&self, time: Duration) -> Result<Up, Box<str>> {
        let mut seen = self.state.subscribe();
        // Only a try that begins after this call fails it. An earlier failure says nothing of the next try.
        let first = seen.borrow().tries;
        loop {
            let State { tries, link } = seen.borrow_and_update().clone();
            match link {
                Link::Up(up) => return Ok(up),
                Link::Resting { why, rest } if tries > first || rest >= time => return Err(why),
                Link::Ended => return Err(OVER.into()),
                Link::Idle => self.want(),
                Link::Connecting | Link::Resting { .. } => {}
            }
            if seen.changed().await.is_err() {
                return Err(OVER.into());
            }
        }
    }

    /// Returns why a connection has ended, as soon as that is known.
    pub(super) async fn why_down(&self, number: u64) -> Box<str> {
        let mut seen = self.state.subscribe();
        let is_down = |state: &State| state.tries > number || !matches!(state.link, Link::Up(_));
        match seen.wait_for(is_down).await.map(|state| state.link.clone()) {
            Ok(Link::Resting { why, .. }) => why,
            Ok(Link::Ended) => OVER.into(),
            Ok(Link::Idle | Link::Connecting | Link::Up(_)) | Err(_) => "its connection has ended".into(),
        }
    }

    /// Waits until a connection has been made or has failed.
    pub(super) async fn tried(&self) {
        let is_tried = |state: &State| matches!(state.link, Link::Up(_) | Link::Resting { .. } | Link::Ended);
        let _ = self.state.subscribe().wait_for(is_tried).await;
    }

    /// Waits until there is no connection and no process any more.
    pub(super) async fn ended(&self) {
        let _ = self.state.subscribe().wait_for(|state| matches!(state.link, Link::Ended)).await;
    }

    fn tries(&self) -> u64 {
        self.state.borrow().tries
    }

    fn set(&self, link: Link) {
        self.state.send_modify(|state| {
            state.tries += u64::from(matches!(link, Link::Connecting));
            state.link = link;
        });
    }

    /// Waits for the end that was asked for.
    async fn over(&self) {
        let _ = self.is_over.subscribe().wait_for(|is_over| *is_over).await;
    }
}

/// Keeps the connection of a server, until its end is asked for.
pub(super) async fn keep(server: Arc<Server>) {
    let line = &server.line;
    let mut failures = 0;
    loop {
        tokio::select! {
            () = line.wanted.notified() => {}
            () = line.over() => break,
        }
        line.set(Link::Connecting);
        let opened = tokio::select! {
            opened = Connection::open(&server) => opened,
            // What was begun is dropped, and its processes are killed.
            () = line.over() => break,
        };
        let rest = match opened {
            Err(why) => server.failed(why, &mut failures),
            Ok(mut connection) => {
                line.set(Link::Up(Up {
                    number: line.tries(),
                    peer: connection.peer(),
                    wire: connection.wire(),
                }));
                let why = tokio::select! {
                    why = connection.until_down(&server) => Some(why),
                    () = line.over() => None,
                };
                // Before its processes are ended, which may take a while: calls wait for it.
                let rest = why.map(|why| server.failed(why, &mut failures));
                connection.close(server.configured.bounds.end).await;
                let Some(rest) = rest else { break };
                rest
            }
        };
        if timeout(rest, line.over()).await.is_ok() {
            break;
        }
        line.set(Link::Idle);
    }
    line.set(Link::Ended);
}

impl Server {
    /// Notes why there is no connection. Returns for how long none is to be made.
    fn failed(&self, why: Box<str>, failures: &mut u32) -> Duration {
        if self.line.has_answered.swap(false, Ordering::Relaxed) {
            *failures = 0;
        }
        let rest = self.configured.bounds.rest_after(*failures);
        *failures += 1;
        tracing::warn!(target: "reveille", server = &*self.configured.name, %why, "a server of tools is gone");
        self.line.set(Link::Resting { why, rest });
        rest
    }
}

/// Why no call is made any more.
const OVER: &str = "the daemon is stopping";

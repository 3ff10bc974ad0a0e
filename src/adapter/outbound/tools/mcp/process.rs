//! A server as a program: started, introduced, asked for its tools, and ended.
//!
//! Invariant: no process of it outlives its connection for longer than the bound on its end.

use std::convert::Infallible;
use std::future::pending;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, PaginatedRequestParams, ProtocolVersion, Tool,
};
use rmcp::service::{NotificationContext, Peer, RunningService, serve_client};
use rmcp::{ClientHandler, RoleClient};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::Server;
use super::lines::{Down, Ends, Lines};
use crate::adapter::outbound::program::Ended;
use crate::adapter::process_group::ProcessGroup;
use crate::limits;

/// A connection, and the process at its other end.
pub(super) struct Connection {
    /// Dropping it ends the protocol's task.
    service: RunningService<RoleClient, Listener>,
    ends: Arc<Ends<ChildStdin>>,
    changed: Arc<Notify>,
    process: Process,
}

struct Process {
    // Dropped before its leader, whose id it has.
    group: ProcessGroup,
    child: Child,
    errors: Arc<Mutex<Vec<u8>>>,
    /// What reads them.
    reading: Option<JoinHandle<()>>,
}

/// What hears a server that speaks unasked. Nothing that it could ask for is offered.
struct Listener {
    changed: Arc<Notify>,
}

impl ClientHandler for Listener {
    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let ours = Implementation::new("reveille", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), ours)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

impl Connection {
    /// Starts a server, lets it introduce itself, and offers its tools.
    pub(super) async fn open(server: &Server) -> Result<Connection, Box<str>> {
        let started = server.configured.program.start().map_err(|fault| fault.to_string())?;
        let (mut child, group) = started;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("it has no pipes".into());
        };
        let errors = Arc::<Mutex<Vec<u8>>>::default();
        let reading = child.stderr.take().map(|end| tokio::spawn(keep_end(end, Arc::clone(&errors))));
        let mut process = Process { group, child, errors, reading };
        let (ends, changed) = (Ends::new(input), Arc::new(Notify::new()));
        let listener = Listener { changed: Arc::clone(&changed) };
        let lines = Lines::new(output, Arc::clone(&ends));
        let start = server.configured.bounds.start;
        let introduced = tokio::select! {
            introduced = timeout(start, serve_client(listener, lines)) => Some(introduced),
            () = process.gone(&ends) => None,
        };
        let why = match introduced {
            Some(Ok(Ok(service))) => {
                let connection = Connection { service, ends, changed, process };
                return connection.listed(server).await;
            }
            Some(Err(_)) => format!("it did not introduce itself within {} ms", start.as_millis()).into(),
            Some(Ok(Err(error))) => process.why(&ends).await.unwrap_or_else(|| beginning(&error.to_string())),
            None => process.why(&ends).await.unwrap_or_else(|| CLOSED.into()),
        };
        process.kill().await;
        Err(why)
    }

    async fn listed(mut self, server: &Server) -> Result<Connection, Box<str>> {
        let listed = tokio::select! {
            listed = list(&self.service, server) => listed,
            () = self.process.gone(&self.ends) => Err(CLOSED.into()),
        };
        match listed {
            Ok(()) => Ok(self),
            Err(why) => {
                let why = self.process.why(&self.ends).await.unwrap_or(why);
                self.process.kill().await;
                Err(why)
            }
        }
    }

    pub(super) fn peer(&self) -> Peer<RoleClient> {
        self.service.peer().clone()
    }

    /// Waits until the server is gone, and returns why. Meanwhile its tools are listed again when they change.
    pub(super) async fn until_down(&mut self, server: &Server) -> Box<str> {
        let Connection { service, ends, changed, process } = self;
        let listing = async {
            loop {
                changed.notified().await;
                if let Err(why) = list(service, server).await {
                    tracing::warn!(target: "reveille", server = &*server.configured.name, %why, "tools not listed again");
                }
                // A server may say it again and again.
                let _ = timeout(server.configured.bounds.rest, pending::<Infallible>()).await;
            }
        };
        tokio::select! {
            () = process.gone(ends) => {}
            () = listing => {}
        }
        process.why(ends).await.unwrap_or_else(|| CLOSED.into())
    }

    /// Closes the server's input, and kills what is left of it after a while.
    pub(super) async fn close(mut self, end: Duration) {
        drop(self.service);
        let _ = timeout(end, async {
            self.ends.close_input().await;
            self.process.child.wait().await
        })
        .await;
        self.process.kill().await;
    }
}

impl Process {
    /// Waits until nothing comes from it any more. A process that it has left behind may hold its output open; what it wrote
    /// before its own end is read all the same.
    async fn gone(&mut self, ends: &Ends<ChildStdin>) {
        tokio::select! {
            _ = ends.down() => {}
            _ = self.child.wait() => {
                let _ = timeout(DRAIN, ends.down()).await;
            }
        }
    }

    /// Why nothing comes from it any more: how it ended, or else what it did. `None` if something could still come.
    async fn why(&mut self, ends: &Ends<ChildStdin>) -> Option<Box<str>> {
        // A process that has closed its output ends in the next moment, most of the time.
        let status = timeout(DRAIN, self.child.wait()).await;
        let status = status.ok().and_then(Result::ok);
        let down = timeout(Duration::ZERO, ends.down()).await.ok();
        match (down, status) {
            // It may have ended because it was told to.
            (Some(Down::Broken(why)), _) => Some(why),
            (_, Some(status)) => Some(self.ended(status).await),
            (Some(Down::Unread), None) => Some("it does not read what it is sent".into()),
            (Some(Down::Closed), None) => Some(CLOSED.into()),
            (None, None) => None,
        }
    }

    /// How it ended, with the end of what it printed as errors.
    async fn ended(&mut self, status: ExitStatus) -> Box<str> {
        if let Some(reading) = self.reading.take() {
            let _ = timeout(DRAIN, reading).await;
        }
        let ended = match Ended::of(status) {
            Ended::Code(code) => format!("it ended with exit code {code}"),
            Ended::Signal(signal) => format!("it was ended by signal {signal}"),
        };
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let errors = String::from_utf8_lossy(&errors);
        match errors.trim() {
            "" => ended.into(),
            errors => format!("{ended}: {errors}").into(),
        }
    }

    /// Kills the whole group, and waits for its leader, so that none is left as a zombie.
    async fn kill(&mut self) {
        self.group.kill();
        let _ = timeout(Duration::from_millis(limits::SERVER_END_MS.value), self.child.wait()).await;
    }
}

/// Asks for all tools, and offers them.
async fn list(service: &RunningService<RoleClient, Listener>, server: &Server) -> Result<(), Box<str>> {
    let start = server.configured.bounds.start;
    let listed = timeout(start, pages(service.peer(), &server.configured.name)).await;
    let late = |_| Box::<str>::from(format!("it did not list its tools within {} ms", start.as_millis()));
    server.offer(listed.map_err(late)??);
    Ok(())
}

/// All tools of a server, page by page.
async fn pages(peer: &Peer<RoleClient>, name: &str) -> Result<Vec<Tool>, Box<str>> {
    let max = usize::try_from(limits::SERVER_TOOLS.value).unwrap_or(usize::MAX);
    let (mut tools, mut cursor) = (Vec::new(), None);
    for _ in 0..limits::SERVER_PAGES.value {
        let asked = PaginatedRequestParams::default().with_cursor(cursor);
        let page = peer.list_tools(Some(asked)).await;
        let page = page.map_err(|error| beginning(&format!("its tools cannot be listed: {error}")))?;
        tools.extend(page.tools);
        cursor = page.next_cursor;
        if cursor.is_none() || tools.len() > max {
            break;
        }
    }
    if tools.len() > max || cursor.is_some() {
        tracing::warn!(target: "reveille", server = name, max, "the server has more tools than are offered");
        tools.truncate(max);
    }
    Ok(tools)
}

/// As much of a fault of the protocol as is shown.
fn beginning(fault: &str) -> Box<str> {
    fault.chars().take(REASON_CHARS).collect()
}

/// Reads what is printed as errors to its end, and keeps the last of it.
async fn keep_end(mut end: impl AsyncRead + Unpin, kept: Arc<Mutex<Vec<u8>>>) {
    let mut piece = [0; 4_096];
    while let Ok(read @ 1..) = end.read(&mut piece).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..read]);
        let over = kept.len().saturating_sub(ERRORS_BYTES);
        kept.drain(..over);
    }
}

/// What a server has done that is gone, if nothing else is known.
const CLOSED: &str = "it closed its output";
/// How long what a process wrote before its end is read.
const DRAIN: Duration = Duration::from_millis(limits::PROGRAM_DRAIN_MS.value);
/// How much is shown of a fault of the protocol.
const REASON_CHARS: usize = 500;
/// How much is kept of what a server prints as errors.
const ERRORS_BYTES: usize = 2_000;

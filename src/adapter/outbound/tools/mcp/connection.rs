//! A connection with a server: introduced, asked for its tools, and ended, over either kind of wire.
//!
//! What lives elsewhere: processes (`process.rs`), sessions over HTTP (`http.rs`), when a connection is made (`link.rs`).

use std::convert::Infallible;
use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, PaginatedRequestParams, ProtocolVersion, Tool,
};
use rmcp::service::{ClientInitializeError, NotificationContext, Peer, RunningService, serve_client};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::Server;
use super::http::{Posts, Session};
use super::place::McpPlace;
use super::process::Process;
use super::wire::{Down, Wire, beginning};
use crate::limits;

/// A connection, and what is at its other end.
pub(super) struct Connection {
    /// Dropping it ends the protocol's task.
    service: RunningService<RoleClient, Listener>,
    changed: Arc<Notify>,
    remote: Remote,
}

/// The other end of a connection.
enum Remote {
    Program(Box<Process>),
    Http(Arc<Session>),
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
    /// Connects to a server, lets it introduce itself, and offers its tools.
    pub(super) async fn open(server: &Server) -> Result<Connection, Box<str>> {
        match &server.configured.place {
            McpPlace::Program(program) => {
                let (process, lines) = Process::start(program)?;
                Connection::introduced(server, Remote::Program(Box::new(process)), lines).await
            }
            McpPlace::Endpoint(endpoint) => {
                let posts = Posts::new(Arc::clone(endpoint));
                Connection::introduced(server, Remote::Http(posts.session()), posts).await
            }
        }
    }

    async fn introduced(
        server: &Server,
        mut remote: Remote,
        transport: impl Transport<RoleClient> + 'static,
    ) -> Result<Connection, Box<str>> {
        let changed = Arc::<Notify>::default();
        let listener = Listener { changed: Arc::clone(&changed) };
        let start = server.configured.bounds.start;
        // A server may end before it says anything. Waiting for the time limit would hide why.
        let introduced = tokio::select! {
            introduced = timeout(start, serve_client(listener, transport)) => Some(introduced),
            () = remote.gone() => None,
        };
        let why = match introduced {
            Some(Ok(Ok(service))) => return Connection { service, changed, remote }.listed(server).await,
            Some(Err(_)) => format!("it did not introduce itself within {} ms", start.as_millis()).into(),
            Some(Ok(Err(error))) => remote.why().await.unwrap_or_else(|| unintroduced(&error)),
            None => remote.why().await.unwrap_or_else(|| Down::Closed.told()),
        };
        remote.kill().await;
        Err(why)
    }

    async fn listed(mut self, server: &Server) -> Result<Connection, Box<str>> {
        let listed = tokio::select! {
            listed = list(&self.service, server) => listed,
            () = self.remote.gone() => Err(Down::Closed.told()),
        };
        match listed {
            Ok(()) => Ok(self),
            Err(why) => {
                let why = self.remote.why().await.unwrap_or(why);
                self.remote.kill().await;
                Err(why)
            }
        }
    }

    pub(super) fn peer(&self) -> Peer<RoleClient> {
        self.service.peer().clone()
    }

    pub(super) fn wire(&self) -> Arc<Wire> {
        match &self.remote {
            Remote::Program(process) => process.wire(),
            Remote::Http(session) => Arc::clone(&session.wire),
        }
    }

    /// Waits until the server is gone, and returns why. Meanwhile its tools are listed again when they change.
    pub(super) async fn until_down(&mut self, server: &Server) -> Box<str> {
        let Connection { service, changed, remote } = self;
        let hearing = remote.hearing(service, server, changed);
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
            () = remote.gone() => {}
            () = hearing => {}
            () = listing => {}
        }
        remote.why().await.unwrap_or_else(|| Down::Closed.told())
    }

    /// Ends the connection in good order within this time, and what is left of a process after it by force.
    pub(super) async fn close(mut self, end: Duration) {
        // First, so that the protocol's task sends nothing more.
        drop(self.service);
        let _ = timeout(end, self.remote.close()).await;
        self.remote.kill().await;
    }
}

impl Remote {
    /// Waits until nothing comes from it any more.
    async fn gone(&mut self) {
        match self {
            Remote::Program(process) => process.gone().await,
            Remote::Http(session) => {
                session.wire.down().await;
            }
        }
    }

    /// Why nothing comes from it any more. `None` if something could still come.
    async fn why(&mut self) -> Option<Box<str>> {
        match self {
            Remote::Program(process) => process.why().await,
            Remote::Http(session) => session.wire.why_down().map(Down::told),
        }
    }

    /// Hears what a server over HTTP says unasked, if it says that its tools can change; a program says it on its one output.
    fn hearing(
        &self,
        service: &RunningService<RoleClient, Listener>,
        server: &Server,
        changed: &Arc<Notify>,
    ) -> impl Future<Output = ()> + use<> {
        let info = service.peer_info();
        let tools = info.and_then(|info| info.capabilities.tools.clone());
        let can_change = tools.is_some_and(|tools| tools.list_changed == Some(true));
        let session = match self {
            Remote::Http(session) if can_change => Some(Arc::clone(session)),
            Remote::Http(_) | Remote::Program(_) => None,
        };
        let (bounds, changed) = (server.configured.bounds, Arc::clone(changed));
        async move {
            if let Some(session) = session {
                session.listen(|failures| bounds.rest_after(failures), || changed.notify_one()).await;
            }
            // The end of this stream is not the end of the server.
            pending::<()>().await;
        }
    }

    async fn close(&mut self) {
        match self {
            Remote::Program(process) => process.close().await,
            Remote::Http(session) => session.delete().await,
        }
    }

    async fn kill(&mut self) {
        if let Remote::Program(process) = self {
            process.kill().await;
        }
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

/// Why a server has not introduced itself.
fn unintroduced(error: &ClientInitializeError) -> Box<str> {
    if let ClientInitializeError::TransportError { error, .. } = error {
        return beginning(&error.error.to_string());
    }
    beginning(&error.to_string())
}

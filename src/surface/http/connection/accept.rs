//! The accept loop: admits connections within the limits, and serves HTTP/1 or HTTP/2 on each.

use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::limits::{self, Limit};
use crate::surface::http::app_state::AppState;
use crate::surface::http::connection::conn_limit::{ConnPermit, peer_of};
use crate::surface::http::connection::conn_watchdog::{ConnWatchdog, Watched};
use crate::surface::http::routes::{self, ConnService};

/// Accepts connections until the server stops.
pub(in crate::surface::http) async fn accept(
    app: Arc<AppState>,
    listener: TcpListener,
    mut stop: watch::Receiver<bool>,
) {
    let router = routes::router(&app);
    // A copy for the connections, because the loop below borrows `stop` mutably.
    let told = stop.clone();
    loop {
        let accepted = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let watchdog = ConnWatchdog::new();
                let peer = peer_of(peer.ip());
                // Without a seat the connection is closed unanswered: an answer would cost what the limit protects.
                let Some(permit) = seat(&app, peer, &watchdog) else { continue };
                prepare(&stream);
                let line = ConnService {
                    state: Arc::clone(&app),
                    router: router.clone(),
                    peer,
                    watchdog,
                    permit: Arc::new(permit),
                };
                tokio::spawn(carry(line, stream, told.clone()));
                // The connection is served before the next one is accepted: in a burst it would otherwise have to make room
                // before anybody has read what it asks.
                tokio::task::yield_now().await;
            }
            Err(error) => ride_out(&error).await,
        }
    }
}

/// Handles an error of `accept`: a connection that broke early is ignored; without free
/// descriptors, it waits a little before the next attempt.
pub(in crate::surface::http) async fn ride_out(error: &io::Error) {
    if !matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
        tracing::warn!(target: "reveille::accept", %error, "a connection could not be accepted");
        // A short pause lets other connections close. `clippy.toml` bans `sleep`, so a timeout takes its place.
        let _ = timeout(Duration::from_millis(50), std::future::pending::<()>()).await;
    }
}

/// Takes a seat for a connection; the newest ones give theirs up only if there is no other. It never waits: connections of
/// others are behind this one.
fn seat(app: &AppState, peer: IpAddr, watchdog: &Arc<ConnWatchdog>) -> Option<ConnPermit> {
    app.permits.take(peer, watchdog, NEWCOMERS).or_else(|| app.permits.take(peer, watchdog, 0))
}

/// Sets socket options. A refused option makes the connection slower or keeps it longer, so errors
/// are ignored.
fn prepare(stream: &TcpStream) {
    // No Nagle delay: answers are small and complete.
    let _ = stream.set_nodelay(true);
    // What is written and not read waits in our memory, where it is counted, and not in the system's.
    let _ = sockopt::set_socket_send_buffer_size(stream, SEND_BUFFER_BYTES);
    // A stream may be silent for long, so the system probes whether the client's machine is still
    // there.
    let _ = sockopt::set_socket_keepalive(stream, true);
    let _ = sockopt::set_tcp_keepidle(stream, Duration::from_millis(limits::HTTP_IDLE_MS.value));
    let _ = sockopt::set_tcp_keepintvl(stream, PROBE_EVERY);
    let _ = sockopt::set_tcp_keepcnt(stream, PROBES);
}

/// Serves one connection until it ends, times out, or has been answered while the server stops.
async fn carry(line: ConnService, stream: TcpStream, mut stop: watch::Receiver<bool>) {
    let (watchdog, times) = (Arc::clone(&line.watchdog), line.state.times);
    let io = TokioIo::new(Watched::new(stream, Arc::clone(&watchdog)));
    let service = service_fn(move |request| {
        let line = line.clone();
        async move { Ok::<_, std::convert::Infallible>(line.answer(request).await) }
    });
    let protocols = protocols();
    let mut connection = pin!(protocols.serve_connection_with_upgrades(io, service));
    let mut silent = pin!(watchdog.watch(times));
    let mut stopping = false;
    loop {
        tokio::select! {
            // Errors are ignored: the client has had its answer.
            _ = connection.as_mut() => return,
            () = &mut silent => return,
            // Once only: the value stays true, so without the guard this branch would be ready in each round.
            _ = stop.wait_for(|stop| *stop), if !stopping => {
                stopping = true;
                // The request in progress is still answered; the loop ends with it.
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// What the system buffers for a connection. By default a system may take several megabytes for each.
const SEND_BUFFER_BYTES: usize = 1 << 18;

fn protocols() -> Builder<TokioExecutor> {
    let count = |limit: Limit| usize::try_from(limit.value).unwrap_or(usize::MAX);
    let small = |limit: Limit| u32::try_from(limit.value).unwrap_or(u32::MAX);
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // `conn_watchdog` has its own time limit for heads, which counts from the first byte.
        .header_read_timeout(None)
        // A client that has closed its sending side still gets its answer.
        .half_close(true)
        .max_buf_size(count(limits::HTTP_HEAD_BYTES))
        .max_headers(count(limits::HTTP_HEADERS));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(small(limits::HTTP_STREAMS))
        .max_header_list_size(small(limits::HTTP_HEAD_BYTES));
    builder
}

/// How many of the latest connections count as newcomers. A client sends its first request right after it has connected, and
/// in a burst some others have connected in between.
const NEWCOMERS: u64 = 16;

// Four unanswered probes, so a minute after the idle time, end a dead connection.
const PROBE_EVERY: Duration = Duration::from_millis(15_000);
const PROBES: u32 = 4;

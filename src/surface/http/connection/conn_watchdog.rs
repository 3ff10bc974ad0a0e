//! Time limits of a connection, by what it is doing.
//!
//! The socket and the service report events; `watch` returns when none has come for too long, and
//! the connection is then dropped. One rule covers all protocols on the socket: hyper's own
//! timeouts cover either the head of HTTP/1 or the pings of HTTP/2, and neither the time between
//! two requests. A long answer must make progress within `limits::HTTP_STALLED_MS`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use rustix::net::{RecvFlags, recv};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::surface::http::config::Times;
use crate::surface::http::message::waiting::Held;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The client is sending the head of a request, or has just connected.
    Head,
    /// All requests have been answered.
    Idle,
    /// Requests are being answered.
    Busy,
    /// The connection has left HTTP, and its caller is not known yet. A WebSocket brings the token in its first message, so
    /// anybody can get this far.
    Greeting,
    /// The connection has left HTTP, and its caller is known. Its protocol has its own time limits.
    Upgraded,
    /// The connection has to be closed to make room.
    Evicted,
}

/// The state of a connection.
#[derive(Debug)]
pub(in crate::surface::http) struct ConnWatchdog {
    state: watch::Sender<ConnState>,
    /// Whether an answer comes later, beside the state so that each write asks for it at no cost.
    is_awaiting: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
struct ConnState {
    phase: Phase,
    /// The requests that are being answered.
    requests: u32,
    /// The requests among these whose bodies have not arrived.
    incomplete: u32,
    /// The requests among these whose answers come later: their tools are at work.
    awaiting: u32,
    /// How long the answers take at most that come later.
    awaited_for: Duration,
    /// The requests among these that are answered by event streams.
    pushing: u32,
    /// Whether requests share the connection (HTTP/2). Bytes between them may then belong to the
    /// protocol.
    multiplexed: bool,
}

impl ConnWatchdog {
    /// The state of a new connection.
    pub(in crate::surface::http) fn new() -> Arc<ConnWatchdog> {
        let beat = ConnState {
            phase: Phase::Head,
            requests: 0,
            incomplete: 0,
            awaiting: 0,
            awaited_for: Duration::ZERO,
            pushing: 0,
            multiplexed: false,
        };
        Arc::new(ConnWatchdog { state: watch::Sender::new(beat), is_awaiting: AtomicBool::new(false) })
    }

    /// Returns when the connection has been in one phase for too long, or has to make room.
    pub(in crate::surface::http) async fn watch(&self, times: Times) {
        let mut beats = self.state.subscribe();
        loop {
            // Marks the state as seen, so that `changed` below waits for the next event.
            let beat = *beats.borrow_and_update();
            // Every reported event restarts the limit of its phase.
            let at_most = match beat.phase {
                Phase::Head => times.head,
                Phase::Idle => times.idle,
                // A tool at work has its own bound.
                Phase::Busy if beat.awaiting > 0 => times.stalled + beat.awaited_for,
                Phase::Busy => times.stalled,
                // Never returns: the task of the upgraded protocol ends the connection.
                Phase::Greeting | Phase::Upgraded => return std::future::pending().await,
                Phase::Evicted => return,
            };
            if timeout(at_most, beats.changed()).await.is_err() {
                return;
            }
        }
    }

    /// What the connection waits for.
    pub(in crate::surface::http) fn waiting(&self) -> Waiting {
        let state = *self.state.borrow();
        match state.phase {
            // Nothing is being done for this client: it may send its body as slowly as it likes.
            Phase::Busy if state.incomplete > 0 && state.incomplete == state.requests => Waiting::ForBody,
            // Until it has said who it is, an upgraded connection has shown no more than half a head does.
            Phase::Head | Phase::Greeting => Waiting::ForHead,
            Phase::Idle => Waiting::ForNext,
            Phase::Busy | Phase::Upgraded | Phase::Evicted => Waiting::No,
        }
    }

    /// Whether the connection is open only for a stream or a WebSocket, or for event streams: these end when the server ends
    /// them.
    pub(in crate::surface::http) fn is_stream(&self) -> bool {
        let state = *self.state.borrow();
        match state.phase {
            Phase::Greeting | Phase::Upgraded => true,
            // Over HTTP/2 other requests share the connection.
            Phase::Busy => state.pushing > 0 && state.pushing == state.requests,
            Phase::Head | Phase::Idle | Phase::Evicted => false,
        }
    }

    /// Makes `watch` and `evicted` return, which closes the connection.
    pub(in crate::surface::http) fn evict(&self) {
        self.state.send_modify(|beat| beat.phase = Phase::Evicted);
    }

    /// Records that the connection has left HTTP. Until `settle`, it may be closed to make room.
    pub(in crate::surface::http) fn upgrade(&self) {
        self.state.send_modify(|beat| beat.enter(Phase::Greeting));
    }

    /// Records that the caller of an upgraded connection is known; `false` if it has been evicted.
    pub(in crate::surface::http) fn settle(&self) -> bool {
        self.state.send_if_modified(|beat| {
            let may_stay = beat.phase != Phase::Evicted;
            if may_stay {
                beat.phase = Phase::Upgraded;
            }
            may_stay
        })
    }

    /// Returns when an upgraded connection has to make room.
    pub(in crate::surface::http) async fn evicted(&self) {
        let mut beats = self.state.subscribe();
        // The sender lives as long as `self`, so there is no error.
        let _ = beats.wait_for(|beat| beat.phase == Phase::Evicted).await;
    }

    /// Records the beginning of a request.
    pub(in crate::surface::http) fn begin(&self, multiplexed: bool) {
        self.state.send_modify(|beat| {
            beat.requests += 1;
            beat.multiplexed = multiplexed;
            beat.enter(Phase::Busy);
        });
    }

    /// Records that a request waits for the rest of its body, until the guard is dropped.
    pub(in crate::surface::http) fn wait_for_body(self: &Arc<Self>) -> BodyWait {
        self.state.send_modify(|beat| beat.incomplete += 1);
        BodyWait(Arc::clone(self))
    }

    /// Records that a request waits for an answer that comes later, within this time, until the guard is dropped.
    pub(in crate::surface::http) fn await_answer(self: &Arc<Self>, at_most: Duration) -> AnswerWait {
        self.state.send_modify(|beat| {
            beat.awaiting += 1;
            beat.awaited_for = beat.awaited_for.max(at_most);
        });
        self.is_awaiting.store(true, Ordering::Relaxed);
        AnswerWait(Arc::clone(self))
    }

    /// Records that a request is answered by an event stream, until the guard is dropped.
    pub(in crate::surface::http) fn push(self: &Arc<Self>) -> EventPush {
        self.state.send_modify(|beat| beat.pushing += 1);
        EventPush(Arc::clone(self))
    }

    /// Stops counting the present request as activity, because its token is wrong.
    pub(in crate::surface::http) fn ignore_request(&self) {
        self.state.send_modify(|beat| {
            // Other requests on an HTTP/2 connection may be legitimate and keep it busy.
            if beat.requests == 1 {
                beat.enter(Phase::Head);
            }
        });
    }

    /// Records progress of an answer: some of it is ready to be sent.
    fn advance(&self) {
        self.state.send_modify(|beat| beat.enter(Phase::Busy));
    }

    /// Records that a request has been answered, and that the answer has been sent.
    pub(super) fn end(&self) {
        self.state.send_modify(|beat| {
            // The request of an upgrade ends here as well; `enter` leaves its phase as it is.
            beat.requests = beat.requests.saturating_sub(1);
            beat.enter(if beat.requests == 0 { Phase::Idle } else { Phase::Busy });
        });
    }

    /// Records that some bytes of an answer were sent, so its client reads.
    fn bytes_went(&self) {
        // Only while there is an answer to send: the limits of the other phases are about what the client sends.
        self.state.send_if_modified(|beat| beat.phase == Phase::Busy);
    }

    fn bytes_came(&self) {
        self.state.send_if_modified(|beat| {
            // Only from idle: further bytes of a head must not restart its time limit.
            let begins = beat.phase == Phase::Idle && !beat.multiplexed;
            if begins {
                beat.phase = Phase::Head;
            }
            begins
        });
    }
}

impl ConnState {
    fn enter(&mut self, phase: Phase) {
        // All three are final: a late event must not bring the connection back under HTTP's limits.
        if !matches!(self.phase, Phase::Greeting | Phase::Upgraded | Phase::Evicted) {
            self.phase = phase;
        }
    }
}

/// A request that waits for the rest of its body.
pub(in crate::surface::http) struct BodyWait(Arc<ConnWatchdog>);

impl Drop for BodyWait {
    fn drop(&mut self) {
        self.0.state.send_modify(|beat| beat.incomplete = beat.incomplete.saturating_sub(1));
    }
}

/// A request whose answer comes later.
pub(in crate::surface::http) struct AnswerWait(Arc<ConnWatchdog>);

impl Drop for AnswerWait {
    fn drop(&mut self) {
        let watchdog = &self.0;
        watchdog.state.send_modify(|beat| {
            beat.awaiting = beat.awaiting.saturating_sub(1);
            if beat.awaiting == 0 {
                beat.awaited_for = Duration::ZERO;
                watchdog.is_awaiting.store(false, Ordering::Relaxed);
            }
        });
    }
}

/// A request that is answered by an event stream.
pub(in crate::surface::http) struct EventPush(Arc<ConnWatchdog>);

impl Drop for EventPush {
    fn drop(&mut self) {
        self.0.state.send_modify(|beat| beat.pushing = beat.pushing.saturating_sub(1));
    }
}

/// What a connection waits for, when looking for one to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::surface::http) enum Waiting {
    /// The head of a request.
    ForHead,
    /// The client's next request.
    ForNext,
    /// The rest of the bodies of all its requests.
    ForBody,
    /// Nothing: it is busy.
    No,
}

/// A socket that reports incoming bytes, and outgoing ones.
pub(in crate::surface::http) struct Watched {
    stream: TcpStream,
    watchdog: Arc<ConnWatchdog>,
}

impl Watched {
    pub(in crate::surface::http) fn new(stream: TcpStream, watchdog: Arc<ConnWatchdog>) -> Watched {
        Watched { stream, watchdog }
    }

    /// Ends the connection if its client is gone while an answer comes later. Elsewhere a client may close its sending side and
    /// still get its answer. Here it would look like a client that has gone, for which no tool should work for minutes.
    fn look_for_hang_up(&self, context: &mut Context<'_>) {
        let peek = || {
            let read = recv(&self.stream, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
            read.map(|(length, _)| length).map_err(io::Error::from)
        };
        // Once it is not ready, the task is woken when something comes.
        while self.stream.poll_read_ready(context).is_ready() {
            match self.stream.try_io(Interest::READABLE, peek) {
                // The socket was not ready after all. `try_io` has cleared its readiness, so the loop asks again.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // A further request waits to be read.
                Ok(1..) => return,
                Ok(0) | Err(_) => return self.watchdog.evict(),
            }
        }
    }

    /// Reports bytes that went out.
    fn report(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.watchdog.bytes_went();
        }
        written
    }

    /// Returns the socket without its reports.
    pub(in crate::surface::http) fn into_stream(self) -> TcpStream {
        self.stream
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        // A read without bytes is the end of the stream or an error.
        if buffer.filled().len() > before {
            self.watchdog.bytes_came();
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.report(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.report(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Each time that the connection is served it ends with this.
        if self.watchdog.is_awaiting.load(Ordering::Relaxed) {
            self.look_for_hang_up(context);
        }
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// A response body that reports its progress, and counts as an answer that waits. The request ends
/// when the last of its bytes has been sent.
pub(in crate::surface::http) struct Tracked {
    body: Body,
    waits: Arc<Waits>,
}

/// What lasts as long as an answer waits to be sent. Its end is the end of the request.
struct Waits {
    watchdog: Arc<ConnWatchdog>,
    // Held for its drop, which gives the bytes back to the quota.
    _held: Held,
}

/// Bytes of an answer. Hyper drops them when they are sent, or when the connection has ended.
struct Unsent {
    bytes: Bytes,
    _waits: Arc<Waits>,
}

impl Tracked {
    pub(in crate::surface::http) fn new(body: Body, watchdog: Arc<ConnWatchdog>, held: Held) -> Tracked {
        Tracked { body, waits: Arc::new(Waits { watchdog, _held: held }) }
    }
}

impl AsRef<[u8]> for Unsent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for Tracked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        // A pending body is no progress, so a stalled answer times out.
        if frame.is_ready() {
            self.waits.watchdog.advance();
        }
        // Hyper takes all bytes at once, so this body ends long before a slow client has got them.
        let unsent = |bytes| Bytes::from_owner(Unsent { bytes, _waits: Arc::clone(&self.waits) });
        frame.map_ok(|frame| frame.map_data(unsent))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.watchdog.end();
    }
}

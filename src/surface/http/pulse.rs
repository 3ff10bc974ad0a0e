//! A connection's pulse: what it is doing, and how long it may go on doing that.
//!
//! The socket and the service report what happens; `watch` ends when nothing has for too long, and the connection is
//! dropped then. One rule for all protocols that the socket may speak: hyper's own time-outs know either the head of
//! HTTP/1 or the pings of HTTP/2, and neither the time between two requests. An answer that goes on for long must show a
//! sign of life within `limits::HTTP_STALLED_MS`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use super::config::Times;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its client is sending the head of a request, or has just connected.
    Head,
    /// Its client has had its answers.
    Idle,
    /// Requests are being answered.
    Busy,
    /// It has left HTTP: whoever took it over looks after it.
    Upgraded,
    /// It has to make room.
    Evicted,
}

/// A connection's pulse.
#[derive(Debug)]
pub(super) struct Pulse {
    beat: watch::Sender<Beat>,
}

#[derive(Clone, Copy, Debug)]
struct Beat {
    phase: Phase,
    requests: u32,
    /// Requests share the connection: bytes between them may be the protocol's own.
    multiplexed: bool,
}

impl Pulse {
    /// A client that has just connected.
    pub(super) fn new() -> Arc<Pulse> {
        let beat = Beat { phase: Phase::Head, requests: 0, multiplexed: false };
        Arc::new(Pulse { beat: watch::Sender::new(beat) })
    }

    /// Ends when the connection has been at one thing for too long, or has to go.
    pub(super) async fn watch(&self, times: Times) {
        let mut beats = self.beat.subscribe();
        loop {
            let phase = beats.borrow_and_update().phase;
            let at_most = match phase {
                Phase::Head => times.head,
                Phase::Idle => times.idle,
                Phase::Busy => times.stalled,
                Phase::Upgraded => return std::future::pending().await,
                Phase::Evicted => return,
            };
            if timeout(at_most, beats.changed()).await.is_err() {
                return;
            }
        }
    }

    /// What it waits for.
    pub(super) fn waiting(&self) -> Waiting {
        match self.beat.borrow().phase {
            Phase::Head => Waiting::ForHead,
            Phase::Idle => Waiting::ForNext,
            Phase::Busy | Phase::Upgraded | Phase::Evicted => Waiting::No,
        }
    }

    /// Ends the watch.
    pub(super) fn evict(&self) {
        self.beat.send_modify(|beat| beat.phase = Phase::Evicted);
    }

    /// The connection leaves HTTP.
    pub(super) fn upgrade(&self) {
        self.beat.send_modify(|beat| beat.phase = Phase::Upgraded);
    }

    /// A request has come.
    pub(super) fn begin(&self, multiplexed: bool) {
        self.beat.send_modify(|beat| {
            beat.requests += 1;
            beat.multiplexed = multiplexed;
            beat.enter(Phase::Busy);
        });
    }

    /// The request that has come counts for nothing yet.
    pub(super) fn unheard(&self) {
        self.beat.send_modify(|beat| {
            if beat.requests == 1 {
                beat.enter(Phase::Head);
            }
        });
    }

    /// A request is being answered, and its client takes the answer.
    fn advance(&self) {
        self.beat.send_modify(|beat| beat.enter(Phase::Busy));
    }

    fn end(&self) {
        self.beat.send_modify(|beat| {
            beat.requests = beat.requests.saturating_sub(1);
            beat.enter(if beat.requests == 0 { Phase::Idle } else { Phase::Busy });
        });
    }

    fn bytes_came(&self) {
        self.beat.send_if_modified(|beat| {
            let begins = beat.phase == Phase::Idle && !beat.multiplexed;
            if begins {
                beat.phase = Phase::Head;
            }
            begins
        });
    }
}

impl Beat {
    fn enter(&mut self, phase: Phase) {
        if !matches!(self.phase, Phase::Upgraded | Phase::Evicted) {
            self.phase = phase;
        }
    }
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// For the head of a request.
    ForHead,
    /// For its client to ask again.
    ForNext,
    /// It is at work.
    No,
}

/// A socket that reports what comes.
pub(super) struct Watched {
    stream: TcpStream,
    pulse: Arc<Pulse>,
}

impl Watched {
    pub(super) fn new(stream: TcpStream, pulse: Arc<Pulse>) -> Watched {
        Watched { stream, pulse }
    }

    /// The socket alone.
    pub(super) fn into_stream(self) -> TcpStream {
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
        if buffer.filled().len() > before {
            self.pulse.bytes_came();
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
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// An answer's body that reports how it is taken; its end is the end of the request.
pub(super) struct Tracked {
    body: Body,
    pulse: Arc<Pulse>,
}

impl Tracked {
    pub(super) fn new(body: Body, pulse: Arc<Pulse>) -> Tracked {
        Tracked { body, pulse }
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
        if frame.is_ready() {
            self.pulse.advance();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.pulse.end();
    }
}

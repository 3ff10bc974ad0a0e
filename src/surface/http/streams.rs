//! Runs the open EDN streams of a server, on any socket, each on a thread of its own: the protocol
//! reads and writes with blocking calls.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::surface::edn_stream::{Connection, serve};

type HangUp = dyn Fn(Shutdown) + Send + Sync;

/// The client of one stream.
pub(super) struct Client {
    pub(super) connection: Connection,
    pub(super) input: Box<dyn Read + Send>,
    pub(super) output: Box<dyn Write + Send>,
    /// Shuts the stream down from another thread: for reading only, or for both directions.
    pub(super) hang_up: Arc<HangUp>,
    /// Whether the client's permission still holds.
    pub(super) is_entitled: Box<dyn Fn() -> bool + Send>,
    /// Whether it came by the Unix socket.
    pub(super) is_local: bool,
}

/// The table of open streams.
#[derive(Default)]
pub(super) struct Streams {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    streams: BTreeMap<u64, OpenStream>,
    next: u64,
    stopped: bool,
}

struct OpenStream {
    hang_up: Arc<HangUp>,
    is_local: bool,
}

impl Streams {
    /// Runs a stream until its client ends it, loses its permission, or the server stops.
    pub(super) async fn carry(&self, client: Client, recheck: Duration) {
        // The server has stopped. Dropping the client closes its sockets.
        let Some(number) = self.enter(&client) else { return };
        self.carry_entered(number, client, recheck).await;
    }

    /// Runs a stream that is in the table under this number.
    pub(super) async fn carry_entered(&self, number: u64, client: Client, recheck: Duration) {
        let Client { connection, input, output, hang_up, is_entitled, is_local: _ } = client;
        let (done, mut ended) = oneshot::channel();
        let ends = Arc::clone(&hang_up);
        let carry = move || {
            // The error is ignored: the client, who would need to know, is gone.
            let _ = serve(connection, input, output);
            // The client may still be sending; without this it would wait for an answer.
            ends(Shutdown::Both);
            let _ = done.send(());
        };
        // Without a thread the client is dropped here, and its sockets are closed.
        if std::thread::Builder::new().name("reveille-stream".into()).spawn(carry).is_ok() {
            // The timeout is the tick: a revoked token ends a quiet stream too.
            while timeout(recheck, &mut ended).await.is_err() {
                if !is_entitled() {
                    // The thread then reads the end of its input, and the loop goes on until the thread has ended.
                    hang_up(Shutdown::Both);
                }
            }
        }
        // Only after its thread has ended: until then the stream counts against the limits.
        self.open().streams.remove(&number);
    }

    /// Ends all streams once their pending requests are answered: nothing more is read from them.
    pub(super) fn stop(&self) {
        let mut open = self.open();
        open.stopped = true;
        open.streams.values().for_each(|stream| (stream.hang_up)(Shutdown::Read));
    }

    /// The number of open streams.
    pub(super) fn count(&self) -> usize {
        self.open().streams.len()
    }

    /// The number of open streams that came by the Unix socket.
    pub(super) fn local(&self) -> usize {
        self.open().streams.values().filter(|stream| stream.is_local).count()
    }

    /// Puts a stream into the table, where it counts from now on; `None` if the server has stopped.
    pub(super) fn enter(&self, client: &Client) -> Option<u64> {
        let mut open = self.open();
        // A stream accepted while the server stops would never be ended by `stop`.
        if open.stopped {
            return None;
        }
        let number = open.next;
        open.next += 1;
        open.streams
            .insert(number, OpenStream { hang_up: Arc::clone(&client.hang_up), is_local: client.is_local });
        Some(number)
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // A panic elsewhere cannot leave the table inconsistent: each change is one insert or
        // removal.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

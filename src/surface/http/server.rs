//! Starts and stops the HTTP server.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::app_state::AppState;
use super::config::Config;
use super::connection::accept::accept;
use super::connection::socket::{self, Socket};
use crate::service::Service;

/// A server on its own threads. Dropping it ends it at once; `drain` and `stop`
/// end it in order.
pub struct Server {
    app: Arc<AppState>,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    /// Its receivers are the accept loops that still have their listeners open.
    accepting: watch::Sender<()>,
    runtime: Option<Runtime>,
    /// The Unix socket, whose file is removed with the server.
    socket: Option<Socket>,
}

impl Server {
    /// Starts to listen and to answer.
    ///
    /// # Errors
    /// The operating system's error if it provides no address, thread or descriptor.
    pub fn start(service: Service, config: &Config) -> io::Result<Server> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(std::thread::available_parallelism().map_or(1, usize::from).min(WORKERS_MAX))
            .thread_name("reveille-http")
            .enable_all()
            .build()?;
        let listener = runtime.block_on(async { listen(config.listen) })?;
        let address = listener.local_addr()?;
        let app = AppState::new(service, config, address);
        let (stop, stopped) = watch::channel(false);
        let (accepting, open) = watch::channel(());
        spawn_accept(&runtime, open, accept(Arc::clone(&app), listener, stopped));
        Ok(Server { app, address, stop, accepting, runtime: Some(runtime), socket: None })
    }

    /// Accepts clients of a Unix socket too.
    ///
    /// # Errors
    /// The operating system's error if it provides no descriptor.
    pub fn serve_socket(&mut self, socket: Socket) -> io::Result<()> {
        let Some(runtime) = &self.runtime else { return Ok(()) };
        let listener = {
            // Registering the listener requires the context of the runtime.
            let _inside = runtime.enter();
            socket.listener()?
        };
        let clients = socket::accept(Arc::clone(&self.app), listener, self.stop.subscribe());
        spawn_accept(runtime, self.accepting.subscribe(), clients);
        self.socket = Some(socket);
        Ok(())
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts no more connections, and gives requests in progress some time to end. Streams of all kinds
    /// stay open, because receipts may still come by them, and clients hear that the engine stops. A
    /// second call does nothing.
    pub(crate) fn drain(&self) {
        if self.app.begin_stop() {
            return;
        }
        self.stop.send_replace(true);
        self.wait(
            // Without the listeners a client could still connect after this has returned.
            |app| {
                // Closed once every accept loop has dropped its receiver, and its listener before that.
                self.accepting.is_closed() && app.permits.by_use().0 == 0
            },
            self.app.times.drain,
        );
    }

    /// Ends the streams, then the server; requests received before are still answered.
    pub fn stop(&mut self) {
        self.drain();
        self.app.streams.stop();
        self.app.end_pushing();
        self.wait(|app| app.streams.count() == 0 && app.permits.by_use().1 == 0, FAREWELL);
        // Dropping it removes its file, so that new clients see at once that the server is gone.
        self.socket = None;
        if let Some(runtime) = self.runtime.take() {
            // A plain drop would wait until all work has stopped, a long query included.
            runtime.shutdown_background();
        }
    }

    /// Waits until `is_so` holds, but no longer than `at_most`.
    #[expect(clippy::disallowed_methods, reason = "the end of a connection is no deadline of the scheduler")]
    fn wait(&self, is_so: impl Fn(&AppState) -> bool, at_most: Duration) {
        let Some(runtime) = &self.runtime else { return };
        let until = async {
            while !is_so(&self.app) {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        // Connections that are not done by then are cut off.
        let _ = runtime.block_on(async { tokio::time::timeout(at_most, until).await });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Starts an accept loop; `open` lives until the loop has dropped its listener.
fn spawn_accept(
    runtime: &Runtime,
    open: watch::Receiver<()>,
    accept_loop: impl Future<Output = ()> + Send + 'static,
) {
    runtime.spawn(async move {
        accept_loop.await;
        drop(open);
    });
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A restart must not wait for the old connections' TIME_WAIT.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Requests take microseconds: more threads would only compete with the driver.
const WORKERS_MAX: usize = 4;
/// Enough for a burst of clients between two rounds of the accept loop.
const BACKLOG: u32 = 1_024;
// Nothing signals the end of a connection, so `wait` polls. A look costs a few short locks.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// The time for the last answers of streams.
const FAREWELL: Duration = Duration::from_millis(500);

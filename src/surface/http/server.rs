//! Starts and stops the HTTP server.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;

use super::accept::accept;
use super::config::Config;
use super::site::Site;
use super::socket::{self, Socket};
use crate::runtime::Handle;

/// A server on its own threads. Dropping it ends it at once; [`Server::drain`] and [`Server::stop`]
/// end it in order.
pub struct Server {
    site: Arc<Site>,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    runtime: Option<tokio::runtime::Runtime>,
    /// The Unix socket, whose file is removed with the server.
    socket: Option<Socket>,
}

impl Server {
    /// Starts to listen and to answer.
    ///
    /// # Errors
    /// The operating system's error if it provides no address, thread or descriptor.
    pub fn start(handle: Handle, config: &Config) -> io::Result<Server> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(std::thread::available_parallelism().map_or(1, usize::from).min(WORKERS_MAX))
            .thread_name("reveille-http")
            .enable_all()
            .build()?;
        let listener = runtime.block_on(async { listen(config.listen) })?;
        let address = listener.local_addr()?;
        let site = Site::new(handle, config, address);
        let (stop, stopped) = watch::channel(false);
        runtime.spawn(accept(Arc::clone(&site), listener, stopped));
        Ok(Server { site, address, stop, runtime: Some(runtime), socket: None })
    }

    /// Accepts clients of a Unix socket too.
    ///
    /// # Errors
    /// The operating system's error if it provides no descriptor.
    pub fn serve_socket(&mut self, socket: Socket) -> io::Result<()> {
        let Some(runtime) = &self.runtime else { return Ok(()) };
        let listener = {
            let _inside = runtime.enter();
            socket.listener()?
        };
        runtime.spawn(socket::accept(Arc::clone(&self.site), listener, self.stop.subscribe()));
        self.socket = Some(socket);
        Ok(())
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts no more connections, and gives requests in progress some time to end. Streams stay
    /// open, because receipts may still come by them. A second call does nothing.
    pub fn drain(&self) {
        if self.site.begin_stop() {
            return;
        }
        self.stop.send_replace(true);
        self.wait(|site| site.seats.taken() <= site.streams.count(), self.site.times.drain);
    }

    /// Ends the streams, then the server; requests received before are still answered.
    pub fn stop(&mut self) {
        self.drain();
        self.site.streams.stop();
        self.wait(|site| site.streams.count() == 0, FAREWELL);
        // Dropping it removes its file, so that new clients see at once that the server is gone.
        self.socket = None;
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    /// Waits until `is_so` holds, but no longer than `at_most`.
    #[expect(clippy::disallowed_methods, reason = "the end of a connection is no deadline of the scheduler")]
    fn wait(&self, is_so: impl Fn(&Site) -> bool, at_most: Duration) {
        let Some(runtime) = &self.runtime else { return };
        let until = async {
            while !is_so(&self.site) {
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
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// The time for the last answers of streams.
const FAREWELL: Duration = Duration::from_millis(500);

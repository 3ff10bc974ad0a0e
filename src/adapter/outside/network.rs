//! The way outside: names to addresses, addresses to connections. Tests have one of their own.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;

use tokio::net::{TcpStream, lookup_host};

/// An answer that is on its way.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'a>>;

/// Finds addresses and connects to them. Whoever calls checks what lies between the two.
pub trait Network: Send + Sync {
    /// All addresses of a name. It is asked once for each post.
    fn resolve<'a>(&'a self, name: &'a str) -> Pending<'a, Vec<IpAddr>>;

    /// A connection to this very address.
    fn connect(&self, address: SocketAddr) -> Pending<'_, TcpStream>;
}

/// The operating system's resolver and sockets.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetworkOs;

impl Network for NetworkOs {
    fn resolve<'a>(&'a self, name: &'a str) -> Pending<'a, Vec<IpAddr>> {
        Box::pin(async move {
            let found = lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    fn connect(&self, address: SocketAddr) -> Pending<'_, TcpStream> {
        Box::pin(TcpStream::connect(address))
    }
}

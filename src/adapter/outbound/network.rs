//! Name resolution and connections of posts, behind a trait that tests implement themselves.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;

use tokio::net::{TcpStream, lookup_host};

/// A future answer of the network.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'a>>;

/// Resolves names and connects to addresses. The caller checks the addresses between the two steps.
pub trait Network: Send + Sync {
    /// Resolves a name to all its addresses. It is called once for each post.
    fn resolve<'a>(&'a self, name: &'a str) -> Pending<'a, Vec<IpAddr>>;

    /// Connects to exactly this address.
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

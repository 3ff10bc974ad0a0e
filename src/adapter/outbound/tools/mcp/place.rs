//! Where a server is: a program to be started, or an endpoint.

use std::fmt;
use std::sync::Arc;

use hyper::header::{HeaderName, HeaderValue};

use crate::adapter::outbound::endpoint::Endpoint;
use crate::adapter::outbound::post::Client;
use crate::adapter::outbound::program::Program;

/// Where a server is.
#[derive(Debug)]
pub enum McpPlace {
    /// It is a program of this machine, and speaks over its standard input and output.
    Program(Program),
    /// It speaks over HTTP.
    Endpoint(Arc<McpEndpoint>),
}

/// An endpoint at which a server speaks.
pub struct McpEndpoint {
    client: Client,
    endpoint: Endpoint,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// Prints the names of headers without values, which often hold secrets.
impl fmt::Debug for McpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&HeaderName> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("McpEndpoint").field("endpoint", &self.endpoint).field("headers", &names).finish()
    }
}

impl McpEndpoint {
    /// Makes an endpoint that is reached through this client, which may reach no other. Each request bears the headers.
    pub fn new(client: Client, endpoint: Endpoint, headers: Vec<(HeaderName, HeaderValue)>) -> McpEndpoint {
        let client = client.allowing(&endpoint);
        // An operator who names an endpoint of this machine means it.
        let is_here = endpoint.address().is_some_and(|address| address.is_loopback());
        let client = if is_here || endpoint.host() == "localhost" { client.with_loopback() } else { client };
        McpEndpoint { client, endpoint, headers }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The headers of each request.
    pub(super) fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> + use<'_> {
        self.headers.iter().cloned()
    }
}

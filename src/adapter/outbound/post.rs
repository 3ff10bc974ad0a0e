//! HTTP client for one signed post to an endpoint that an operator has configured.
//!
//! The name is resolved once, all its addresses are checked, and the connection goes to one of
//! these and no other (a second lookup could return another address: DNS rebinding). TLS and the
//! `Host` header still use the name. Redirects are not followed: a 3xx is a response like any
//! other. Source: Standard Webhooks 1.0, reliability S16.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, RETRY_AFTER, USER_AGENT};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::address::{Forbidden, check_address};
use super::endpoint::{Endpoint, Scheme};
use super::network::Network;
use super::retry_after;
use super::signature::{MessageId, SigningKey, sign};
use super::trust::Trust;
use crate::domain::{Moment, Span};
use crate::limits;

/// Posts to the hosts that an operator has configured, and to no other.
pub struct Client {
    network: Arc<dyn Network>,
    tls: TlsConnector,
    allowed: BTreeSet<(Box<str>, u16)>,
    /// Whether it may reach every public address beside those.
    anywhere: bool,
    loopback: bool,
    patience: Patience,
}

/// Time limits of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Until the connection is established, TLS included.
    pub connect: Duration,
    /// Until the response has been received.
    pub total: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            connect: Duration::from_millis(limits::WEBHOOK_CONNECT_MS.value),
            total: Duration::from_millis(limits::WEBHOOK_MS.value),
        }
    }
}

/// A post to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Post<'a> {
    /// The endpoint to post to.
    pub endpoint: &'a Endpoint,
    /// The id by which a receiver recognizes a repetition.
    pub id: &'a MessageId,
    /// When it is sent; the time is part of the signature.
    pub at: Moment,
    /// The signing keys; none for no signature.
    pub keys: &'a [SigningKey],
    /// The `Content-Type` of the body.
    pub media_type: &'static str,
    /// The body.
    pub body: &'a [u8],
    /// Maximum bytes of the response body; 0 if the body is not wanted, and then it is not read at
    /// all.
    pub answer_bytes_max: usize,
}

/// The response of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// How long the endpoint asks to wait, from the time of the post on; not bounded.
    pub retry_after: Option<Span>,
    /// The body, if it was wanted.
    pub body: Vec<u8>,
}

/// Why there is no response. No variant shows more of an endpoint than scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PostFault {
    /// No operator has configured the host.
    #[error("{endpoint} is not on the list of hosts")]
    NotListed {
        /// Where it was to go.
        endpoint: Box<str>,
    },
    /// The endpoint is not encrypted and not on the loopback.
    #[error("{endpoint} is not on this machine: https only")]
    InTheClear {
        /// Where it was to go.
        endpoint: Box<str>,
    },
    /// The name resolves to an address that is not allowed.
    #[error("{endpoint} has the address {address}, which is {why}")]
    Forbidden {
        /// Where it was to go.
        endpoint: Box<str>,
        /// The address that is not allowed.
        address: IpAddr,
        /// The kind of the address.
        why: Forbidden,
    },
    /// The body is longer than `limits::WEBHOOK_BYTES`.
    #[error("the body has {bytes} bytes, and may have {}", limits::WEBHOOK_BYTES.value)]
    TooLong {
        /// Length of the body.
        bytes: usize,
    },
    /// The name does not resolve to any address.
    #[error("{endpoint} has no address: {detail}")]
    Unresolved {
        /// Where it was to go.
        endpoint: Box<str>,
        /// The error of the resolver.
        detail: Box<str>,
    },
    /// No address accepts a connection.
    #[error("{endpoint} cannot be reached: {detail}")]
    Unreachable {
        /// Where it was to go.
        endpoint: Box<str>,
        /// The error of the last attempt.
        detail: Box<str>,
    },
    /// TLS failed, for example because the certificate is for another name.
    #[error("no TLS with {endpoint}: {detail}")]
    Tls {
        /// Where it was to go.
        endpoint: Box<str>,
        /// The error of TLS.
        detail: Box<str>,
    },
    /// A step took too long.
    #[error("{endpoint} did not {what} in time")]
    TimedOut {
        /// Where it was to go.
        endpoint: Box<str>,
        /// The step: `connect` or `answer`.
        what: &'static str,
    },
    /// The connection broke, or the response is not HTTP.
    #[error("{endpoint} did not answer: {detail}")]
    Broken {
        /// Where it was to go.
        endpoint: Box<str>,
        /// The error of the connection.
        detail: Box<str>,
    },
    /// The response body is longer than was wanted.
    #[error("{endpoint} answered with more than {max} bytes")]
    AnswerTooLong {
        /// Where it was to go.
        endpoint: Box<str>,
        /// Maximum bytes that were wanted.
        max: usize,
    },
}

impl PostFault {
    /// Whether the request was not sent, so that the endpoint cannot have it.
    pub(super) fn is_unsent(&self) -> bool {
        match self {
            PostFault::NotListed { .. }
            | PostFault::InTheClear { .. }
            | PostFault::Forbidden { .. }
            | PostFault::TooLong { .. }
            | PostFault::Unresolved { .. }
            | PostFault::Unreachable { .. }
            | PostFault::Tls { .. }
            | PostFault::TimedOut { what: "connect", .. } => true,
            // The request may have been sent before any of these.
            PostFault::TimedOut { .. } | PostFault::Broken { .. } | PostFault::AnswerTooLong { .. } => false,
        }
    }
}

impl Client {
    /// Makes a client that may not post to any host yet.
    ///
    /// # Errors
    /// The error of TLS if it cannot be set up.
    pub fn new(network: Arc<dyn Network>, trust: Trust) -> io::Result<Client> {
        Client::speaking(network, trust, &[b"http/1.1"])
    }

    /// Makes a client that connects to mail servers, and may not connect to any yet.
    ///
    /// # Errors
    /// The error of TLS if it cannot be set up.
    pub fn for_mail(network: Arc<dyn Network>, trust: Trust) -> io::Result<Client> {
        // Without the name of a protocol, because mail agrees on none when TLS begins (ALPN).
        Client::speaking(network, trust, &[])
    }

    fn speaking(network: Arc<dyn Network>, trust: Trust, protocols: &[&[u8]]) -> io::Result<Client> {
        let tls = trust.connector(protocols).map_err(io::Error::other)?;
        let allowed = BTreeSet::new();
        Ok(Client { network, tls, allowed, anywhere: false, loopback: false, patience: Patience::default() })
    }

    /// Allows posts to the host and port of this endpoint.
    #[must_use]
    pub fn allowing(mut self, endpoint: &Endpoint) -> Client {
        self.allowed.insert((endpoint.host().into(), endpoint.port()));
        self
    }

    /// Allows every host that has public addresses only.
    #[must_use]
    pub(crate) fn anywhere(mut self) -> Client {
        self.anywhere = true;
        self
    }

    /// Allows posts to the loopback, without encryption too.
    #[must_use]
    pub fn with_loopback(mut self) -> Client {
        self.loopback = true;
        self
    }

    /// Replaces the default time limits.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Client {
        self.patience = patience;
        self
    }

    /// Sends a post, and waits for the response.
    ///
    /// # Errors
    /// [`PostFault`] if there is no response; a response of any status is a success.
    pub async fn post(&self, post: Post<'_>) -> Result<Reply, PostFault> {
        let endpoint = post.endpoint;
        self.check_listed(endpoint)?;
        if post.body.len() as u64 > limits::WEBHOOK_BYTES.value {
            return Err(PostFault::TooLong { bytes: post.body.len() });
        }
        let answer = timeout(self.patience.total, self.exchange(&post)).await;
        answer.unwrap_or_else(|_| Err(PostFault::TimedOut { endpoint: told(endpoint), what: "answer" }))
    }

    /// Refuses a host that no operator has configured.
    pub(super) fn check_listed(&self, endpoint: &Endpoint) -> Result<(), PostFault> {
        if self.anywhere || self.is_named(endpoint) {
            return Ok(());
        }
        Err(PostFault::NotListed { endpoint: told(endpoint) })
    }

    fn is_named(&self, endpoint: &Endpoint) -> bool {
        self.allowed.contains(&(endpoint.host().into(), endpoint.port()))
    }

    async fn exchange(&self, post: &Post<'_>) -> Result<Reply, PostFault> {
        exchange_on(self.open(post.endpoint).await?, post).await
    }

    /// Connects to an endpoint.
    pub(super) async fn open(&self, endpoint: &Endpoint) -> Result<Box<dyn Stream>, PostFault> {
        // Resolution, connection and TLS share one time limit: to the caller all of it is
        // connecting.
        let connected = timeout(self.patience.connect, async {
            let addresses = self.addresses(endpoint).await?;
            let socket = self.connect(endpoint, &addresses).await?;
            self.secure(endpoint, socket).await
        });
        let timed_out = |_| PostFault::TimedOut { endpoint: told(endpoint), what: "connect" };
        connected.await.map_err(timed_out)?
    }

    /// Connects to a mail server at a checked address, without encryption yet.
    pub(super) async fn dial(&self, endpoint: &Endpoint) -> Result<TcpStream, PostFault> {
        self.check_listed(endpoint)?;
        let connected = timeout(self.patience.connect, async {
            let addresses = self.addresses(endpoint).await?;
            self.connect(endpoint, &addresses).await
        });
        let timed_out = |_| PostFault::TimedOut { endpoint: told(endpoint), what: "connect" };
        connected.await.map_err(timed_out)?
    }

    /// How long a whole exchange may take.
    pub(super) fn total(&self) -> Duration {
        self.patience.total
    }

    /// Resolves the endpoint's addresses, and fails if one of them is not allowed.
    async fn addresses(&self, endpoint: &Endpoint) -> Result<Vec<IpAddr>, PostFault> {
        let unresolved =
            |detail: String| PostFault::Unresolved { endpoint: told(endpoint), detail: detail.into() };
        let addresses = match endpoint.address() {
            Some(address) => vec![address],
            None => {
                let found = self.network.resolve(endpoint.host()).await;
                found.map_err(|error| unresolved(error.to_string()))?
            }
        };
        if addresses.is_empty() {
            return Err(unresolved("the name has none".to_owned()));
        }
        // Every address must pass, not only the one that is used: a name that mixes public and
        // private addresses is a sign of an attack.
        for address in addresses.iter().copied() {
            match check_address(address) {
                // Only the loopback may be posted to in the clear, and loopback addresses never
                // pass the check.
                Ok(()) if endpoint.scheme() == Scheme::Http => {
                    return Err(PostFault::InTheClear { endpoint: told(endpoint) });
                }
                Ok(()) => {}
                // Of this machine only what was named, also for who may go anywhere else.
                Err(Forbidden::Loopback) if self.loopback && self.is_named(endpoint) => {}
                Err(why) => return Err(PostFault::Forbidden { endpoint: told(endpoint), address, why }),
            }
        }
        Ok(addresses)
    }

    /// Connects to the first of these addresses that accepts.
    async fn connect(&self, endpoint: &Endpoint, addresses: &[IpAddr]) -> Result<TcpStream, PostFault> {
        let mut detail = Box::default();
        for address in addresses {
            match self.network.connect(SocketAddr::new(*address, endpoint.port())).await {
                Ok(socket) => return Ok(socket),
                Err(error) => detail = error.to_string().into(),
            }
        }
        Err(PostFault::Unreachable { endpoint: told(endpoint), detail })
    }

    /// Starts TLS under the endpoint's own name, if its scheme requires it.
    async fn secure(&self, endpoint: &Endpoint, socket: TcpStream) -> Result<Box<dyn Stream>, PostFault> {
        if endpoint.scheme() == Scheme::Http {
            return Ok(Box::new(socket));
        }
        Ok(Box::new(self.wrap(endpoint, socket).await?))
    }

    /// Starts TLS under the endpoint's own name.
    pub(super) async fn wrap(
        &self,
        endpoint: &Endpoint,
        socket: TcpStream,
    ) -> Result<TlsStream<TcpStream>, PostFault> {
        let fault = |detail: String| PostFault::Tls { endpoint: told(endpoint), detail: detail.into() };
        let name = match endpoint.address() {
            Some(address) => ServerName::from(address),
            None => {
                ServerName::try_from(endpoint.host().to_owned()).map_err(|error| fault(error.to_string()))?
            }
        };
        let secured = self.tls.connect(name, socket).await;
        secured.map_err(|error| fault(error.to_string()))
    }
}

/// A connection, encrypted or not.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Sends the one request of a connection, and reads the wanted part of the response.
async fn exchange_on(stream: Box<dyn Stream>, post: &Post<'_>) -> Result<Reply, PostFault> {
    let endpoint = post.endpoint;
    let broken = |error: hyper::Error| PostFault::Broken {
        endpoint: told(endpoint),
        detail: error.to_string().into(),
    };
    let head_bytes = usize::try_from(limits::WEBHOOK_HEAD_BYTES.value).unwrap_or(usize::MAX);
    let handshake = http1::Builder::new().max_buf_size(head_bytes).handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(broken)?;
    let answered = async {
        let response = sender.send_request(request(post)?).await.map_err(broken)?;
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.and_then(|text| retry_after::retry_after(text, post.at));
        let status = response.status().as_u16();
        if status == TOO_MANY && retry_after.is_none() && post.answer_bytes_max == 0 {
            let retry_after = asked_in_body(response.into_body()).await;
            return Ok(Reply { status, retry_after, body: Vec::new() });
        }
        Ok(Reply { status, retry_after, body: read(response.into_body(), post).await? })
    };
    // The connection is driven here and not on a task of its own, so that dropping this future
    // closes it. Its errors show up in the response.
    let driven = async {
        let _ = connection.await;
        pending::<Infallible>().await
    };
    tokio::select! {
        answer = answered => answer,
        never = driven => match never {},
    }
}

fn request(post: &Post<'_>) -> Result<Request<Full<Bytes>>, PostFault> {
    let seconds = post.at.seconds();
    let mut request = Request::post(post.endpoint.path())
        .header(HOST, post.endpoint.authority())
        .header(CONNECTION, "close")
        .header(CONTENT_TYPE, post.media_type)
        .header(USER_AGENT, concat!("reveille/", env!("CARGO_PKG_VERSION")))
        .header("webhook-id", post.id.as_str())
        .header("webhook-timestamp", seconds);
    if !post.keys.is_empty() {
        request = request.header("webhook-signature", sign(post.keys, post.id, seconds, post.body));
    }
    request.body(Full::from(Bytes::copy_from_slice(post.body))).map_err(|error| PostFault::Broken {
        endpoint: told(post.endpoint),
        detail: error.to_string().into(),
    })
}

async fn read(body: Incoming, post: &Post<'_>) -> Result<Vec<u8>, PostFault> {
    let max = post.answer_bytes_max;
    if max == 0 {
        return Ok(Vec::new());
    }
    let endpoint = told(post.endpoint);
    match Limited::new(body, max).collect().await {
        Ok(body) => Ok(body.to_bytes().into()),
        Err(error) if error.is::<LengthLimitError>() => Err(PostFault::AnswerTooLong { endpoint, max }),
        Err(error) => Err(PostFault::Broken { endpoint, detail: error.to_string().into() }),
    }
}

/// How long the body of a refusal asks to wait, where the headers do not say.
async fn asked_in_body(body: Incoming) -> Option<Span> {
    let body = Limited::new(body, REFUSAL_BYTES).collect().await.ok()?.to_bytes();
    retry_after::in_body(&body)
}

/// The status of a request that came too fast.
const TOO_MANY: u16 = 429;
/// What is read of such a refusal.
const REFUSAL_BYTES: usize = 4_096;

pub(super) fn told(endpoint: &Endpoint) -> Box<str> {
    endpoint.to_string().into()
}

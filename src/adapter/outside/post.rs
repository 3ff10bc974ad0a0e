//! One signed post to an endpoint that an operator has named.
//!
//! The name is looked up once, all its addresses are checked, and the connection goes to one of these and no other; the name
//! stays in TLS and in the `Host` header. Redirects are not followed: a 3xx is an answer like any other. Source: Standard
//! Webhooks 1.0, reliability S16.

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

use super::address::{Forbidden, check_address};
use super::endpoint::{Endpoint, Scheme};
use super::network::Network;
use super::retry_after;
use super::signature::{MessageId, SigningKey, sign};
use super::trust::Trust;
use crate::domain::{Moment, Span};
use crate::limits;

/// Posts to the hosts that an operator has named, and to no other.
pub struct Client {
    network: Arc<dyn Network>,
    tls: TlsConnector,
    allowed: BTreeSet<(Box<str>, u16)>,
    loopback: bool,
    patience: Patience,
}

/// How long a post may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Until there is a connection, TLS included.
    pub connect: Duration,
    /// Until the answer is there.
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

/// What is posted.
#[derive(Clone, Copy, Debug)]
pub struct Post<'a> {
    /// Where to.
    pub endpoint: &'a Endpoint,
    /// What a receiver knows a repetition by.
    pub id: &'a MessageId,
    /// When it is sent; it is signed with that.
    pub at: Moment,
    /// What it is signed with; none for no signature.
    pub keys: &'a [SigningKey],
    /// The `Content-Type` of the body.
    pub media_type: &'static str,
    /// The body.
    pub body: &'a [u8],
    /// How much of the answer's body is wanted; 0 for none, which is then not read at all.
    pub answer_bytes_max: usize,
}

/// What an endpoint answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// When it wants to be asked again, from when it was asked on; not bounded.
    pub retry_after: Option<Span>,
    /// The body, where it was wanted.
    pub body: Vec<u8>,
}

/// Why there is no answer. None of them names more of an endpoint than scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PostFault {
    /// No operator has named the host.
    #[error("{endpoint} is not on the list of hosts")]
    NotListed {
        /// Where it was to go.
        endpoint: Box<str>,
    },
    /// In the clear, and not to the loopback.
    #[error("{endpoint} is not on this machine: https only")]
    InTheClear {
        /// Where it was to go.
        endpoint: Box<str>,
    },
    /// The name has an address that is out of bounds.
    #[error("{endpoint} has the address {address}, which is {why}")]
    Forbidden {
        /// Where it was to go.
        endpoint: Box<str>,
        /// The address.
        address: IpAddr,
        /// What it is.
        why: Forbidden,
    },
    /// The body is too long.
    #[error("the body has {bytes} bytes, and may have {}", limits::WEBHOOK_BYTES.value)]
    TooLong {
        /// How many it has.
        bytes: usize,
    },
    /// The name has no address.
    #[error("{endpoint} has no address: {detail}")]
    Unresolved {
        /// Where it was to go.
        endpoint: Box<str>,
        /// What the resolver says.
        detail: Box<str>,
    },
    /// No connection.
    #[error("{endpoint} cannot be reached: {detail}")]
    Unreachable {
        /// Where it was to go.
        endpoint: Box<str>,
        /// What the system says.
        detail: Box<str>,
    },
    /// No TLS, or with somebody else.
    #[error("no TLS with {endpoint}: {detail}")]
    Tls {
        /// Where it was to go.
        endpoint: Box<str>,
        /// What is wrong.
        detail: Box<str>,
    },
    /// It takes too long.
    #[error("{endpoint} did not {what} in time")]
    TimedOut {
        /// Where it was to go.
        endpoint: Box<str>,
        /// What it did not do: `connect` or `answer`.
        what: &'static str,
    },
    /// The connection broke, or what came is not HTTP.
    #[error("{endpoint} did not answer: {detail}")]
    Broken {
        /// Where it was to go.
        endpoint: Box<str>,
        /// What is wrong.
        detail: Box<str>,
    },
    /// More was answered than was wanted.
    #[error("{endpoint} answered with more than {max} bytes")]
    AnswerTooLong {
        /// Where it was to go.
        endpoint: Box<str>,
        /// How much was wanted.
        max: usize,
    },
}

impl Client {
    /// A client that posts to nobody yet.
    ///
    /// # Errors
    /// What TLS says when it cannot be set up at all.
    pub fn new(network: Arc<dyn Network>, trust: Trust) -> io::Result<Client> {
        let tls = trust.connector().map_err(io::Error::other)?;
        let allowed = BTreeSet::new();
        Ok(Client { network, tls, allowed, loopback: false, patience: Patience::default() })
    }

    /// Lets posts go to the host and port of this endpoint.
    #[must_use]
    pub fn allowing(mut self, endpoint: &Endpoint) -> Client {
        self.allowed.insert((endpoint.host().into(), endpoint.port()));
        self
    }

    /// Lets posts go to this machine as well, in the clear too.
    #[must_use]
    pub fn with_loopback(mut self) -> Client {
        self.loopback = true;
        self
    }

    /// Other time-outs than the usual ones.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Client {
        self.patience = patience;
        self
    }

    /// Posts, and waits for the answer.
    ///
    /// # Errors
    /// [`PostFault`]; any status is an answer.
    pub async fn post(&self, post: Post<'_>) -> Result<Reply, PostFault> {
        let endpoint = post.endpoint;
        if !self.allowed.contains(&(endpoint.host().into(), endpoint.port())) {
            return Err(PostFault::NotListed { endpoint: told(endpoint) });
        }
        if post.body.len() as u64 > limits::WEBHOOK_BYTES.value {
            return Err(PostFault::TooLong { bytes: post.body.len() });
        }
        let answer = timeout(self.patience.total, self.exchange(&post)).await;
        answer.unwrap_or_else(|_| Err(PostFault::TimedOut { endpoint: told(endpoint), what: "answer" }))
    }

    async fn exchange(&self, post: &Post<'_>) -> Result<Reply, PostFault> {
        let endpoint = post.endpoint;
        let connected = timeout(self.patience.connect, async {
            let addresses = self.addresses(endpoint).await?;
            let socket = self.connect(endpoint, &addresses).await?;
            self.secure(endpoint, socket).await
        });
        let timed_out = |_| PostFault::TimedOut { endpoint: told(endpoint), what: "connect" };
        let stream = connected.await.map_err(timed_out)??;
        exchange_on(stream, post).await
    }

    /// The endpoint's addresses; none if one of them is out of bounds.
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
        for address in addresses.iter().copied() {
            match check_address(address) {
                Ok(()) if endpoint.scheme() == Scheme::Http => {
                    return Err(PostFault::InTheClear { endpoint: told(endpoint) });
                }
                Ok(()) => {}
                Err(Forbidden::Loopback) if self.loopback => {}
                Err(why) => return Err(PostFault::Forbidden { endpoint: told(endpoint), address, why }),
            }
        }
        Ok(addresses)
    }

    /// A connection to the first of these addresses that takes one.
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

    /// TLS under the endpoint's own name, where its scheme asks for it.
    async fn secure(&self, endpoint: &Endpoint, socket: TcpStream) -> Result<Box<dyn Stream>, PostFault> {
        if endpoint.scheme() == Scheme::Http {
            return Ok(Box::new(socket));
        }
        let fault = |detail: String| PostFault::Tls { endpoint: told(endpoint), detail: detail.into() };
        let name = match endpoint.address() {
            Some(address) => ServerName::from(address),
            None => {
                ServerName::try_from(endpoint.host().to_owned()).map_err(|error| fault(error.to_string()))?
            }
        };
        let secured = self.tls.connect(name, socket).await;
        Ok(Box::new(secured.map_err(|error| fault(error.to_string()))?))
    }
}

/// A connection, in the clear or not.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Sends the one request of a connection, and reads what is wanted of its answer.
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
        Ok(Reply { status, retry_after, body: read(response.into_body(), post).await? })
    };
    // The connection lives here and nowhere else, so that nothing is left of it when this is given up. How it ends shows
    // in the answer.
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

fn told(endpoint: &Endpoint) -> Box<str> {
    endpoint.to_string().into()
}

//! Reads from an endpoint, by GET or HEAD, under the checks of posts: a checked address, no redirects, bounds on time and size.

use std::time::Duration;

use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::time::timeout;

use super::endpoint::Endpoint;
use super::post::{Client, PostFault, told};

/// What is to be read.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// The endpoint to read from.
    pub(crate) endpoint: Endpoint,
    /// Whether only the head of the response is wanted.
    pub(crate) is_head: bool,
    /// Further headers.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// How long all of it may take.
    pub(crate) time: Duration,
    /// Bytes of the body that are read; the rest is left.
    pub(crate) bytes_max: usize,
}

/// The response of an endpoint.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The status.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The beginning of the body.
    pub(crate) body: Vec<u8>,
    /// Whether there is more of it.
    pub(crate) is_cut: bool,
}

impl Client {
    /// Reads from an endpoint that an operator has allowed.
    ///
    /// # Errors
    /// [`PostFault`] if there is no response; a response of any status is a success.
    pub(crate) async fn fetch(&self, fetch: Fetch) -> Result<Fetched, PostFault> {
        self.check_listed(&fetch.endpoint)?;
        let answer = timeout(fetch.time, self.fetch_on(&fetch)).await;
        let timed_out = |_| PostFault::TimedOut { endpoint: told(&fetch.endpoint), what: "answer" };
        answer.map_err(timed_out)?
    }

    async fn fetch_on(&self, fetch: &Fetch) -> Result<Fetched, PostFault> {
        let method = if fetch.is_head { Method::HEAD } else { Method::GET };
        let mut response = self.begin(&fetch.endpoint, method, &fetch.headers, Bytes::new()).await?;
        let (mut body, mut is_cut) = (Vec::new(), false);
        while let Some(piece) = response.piece().await? {
            // It cannot underflow: never more than the room is appended.
            let room = fetch.bytes_max - body.len();
            body.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.len() > room {
                // The rest is not waited for: it may have no end.
                is_cut = true;
                break;
            }
        }
        Ok(Fetched { status: response.status, headers: response.headers, body, is_cut })
    }
}

//! Reads from an endpoint, by GET or HEAD, under the checks of posts: a checked address, no redirects, bounds on time and size.

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use super::endpoint::Endpoint;
use super::post::{Client, PostFault, told};
use crate::limits;

/// What is to be read.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// The endpoint to read from.
    pub endpoint: Endpoint,
    /// Whether only the head of the response is wanted.
    pub is_head: bool,
    /// Further headers.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// How long all of it may take.
    pub time: Duration,
    /// Bytes of the body that are read; the rest is left.
    pub bytes_max: usize,
}

/// The response of an endpoint.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The beginning of the body.
    pub body: Vec<u8>,
    /// Whether there is more of it.
    pub is_cut: bool,
}

impl Client {
    /// Reads from an endpoint that an operator has allowed.
    ///
    /// # Errors
    /// [`PostFault`] if there is no response; a response of any status is a success.
    pub async fn fetch(&self, fetch: Fetch) -> Result<Fetched, PostFault> {
        self.check_listed(&fetch.endpoint)?;
        let answer = timeout(fetch.time, self.fetch_on(&fetch)).await;
        let timed_out = |_| PostFault::TimedOut { endpoint: told(&fetch.endpoint), what: "answer" };
        answer.map_err(timed_out)?
    }

    async fn fetch_on(&self, fetch: &Fetch) -> Result<Fetched, PostFault> {
        let stream = self.open(&fetch.endpoint).await?;
        let detail =
            |detail: String| PostFault::Broken { endpoint: told(&fetch.endpoint), detail: detail.into() };
        let broken = |error: hyper::Error| detail(error.to_string());
        let head_bytes = usize::try_from(limits::WEBHOOK_HEAD_BYTES.value).unwrap_or(usize::MAX);
        let handshake = http1::Builder::new().max_buf_size(head_bytes).handshake(TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.map_err(broken)?;
        let answered = async {
            let request = request(fetch).map_err(|error| detail(error.to_string()))?;
            let response = sender.send_request(request).await.map_err(broken)?;
            let (parts, mut incoming) = response.into_parts();
            let (mut body, mut is_cut) = (Vec::new(), false);
            while let Some(frame) = incoming.frame().await {
                let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
                let room = fetch.bytes_max - body.len();
                body.extend_from_slice(&data[..data.len().min(room)]);
                if data.len() > room {
                    // The rest is not waited for: it may have no end.
                    is_cut = true;
                    break;
                }
            }
            Ok(Fetched { status: parts.status.as_u16(), headers: parts.headers, body, is_cut })
        };
        // Driven here and not on a task of its own, so that dropping this future closes the connection.
        let driven = async {
            let _ = connection.await;
            pending::<Infallible>().await
        };
        tokio::select! {
            answer = answered => answer,
            never = driven => match never {},
        }
    }
}

fn request(fetch: &Fetch) -> Result<Request<Empty<Bytes>>, hyper::http::Error> {
    let mut request = Request::builder()
        .method(if fetch.is_head { Method::HEAD } else { Method::GET })
        .uri(fetch.endpoint.path())
        .header(HOST, fetch.endpoint.authority())
        .header(CONNECTION, "close")
        .header(USER_AGENT, concat!("reveille/", env!("CARGO_PKG_VERSION")));
    for (name, value) in &fetch.headers {
        request = request.header(name, value);
    }
    request.body(Empty::new())
}

//! One request to an endpoint on a connection of its own, whose response is read piece by piece, under the checks of posts.

use std::future::Future;
use std::pin::Pin;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;

use super::endpoint::Endpoint;
use super::post::{Client, PostFault, told};
use crate::limits;

/// A response whose head has come. Dropping it closes the connection.
pub(super) struct Exchange {
    endpoint: Box<str>,
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    body: Incoming,
    connection: Driven,
    /// Held because a connection that can get no further request may end.
    _sender: SendRequest<Full<Bytes>>,
}

/// What moves the bytes of a connection; `None` once it has ended. It is no task of its own, so that dropping it closes the
/// connection. Its errors show up in the response.
type Driven = Option<Pin<Box<dyn Future<Output = ()> + Send>>>;

impl Client {
    /// Sends a request to an endpoint that an operator has allowed, and waits for the head of the response. There is no bound on
    /// that time but the one on connecting.
    ///
    /// # Errors
    /// [`PostFault`] if there is no response; a response of any status is a success.
    pub(super) async fn begin(
        &self,
        endpoint: &Endpoint,
        method: Method,
        headers: &[(HeaderName, HeaderValue)],
        body: Bytes,
    ) -> Result<Exchange, PostFault> {
        self.check_listed(endpoint)?;
        let stream = self.open(endpoint).await?;
        let broken = |detail: String| PostFault::Broken { endpoint: told(endpoint), detail: detail.into() };
        let mut request = Request::builder()
            .method(method)
            .uri(endpoint.path())
            .header(HOST, endpoint.authority())
            .header(CONNECTION, "close")
            .header(USER_AGENT, concat!("reveille/", env!("CARGO_PKG_VERSION")));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(body)).map_err(|error| broken(error.to_string()))?;
        let head_bytes = usize::try_from(limits::WEBHOOK_HEAD_BYTES.value).unwrap_or(usize::MAX);
        let handshake = http1::Builder::new().max_buf_size(head_bytes).handshake(TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.map_err(|error| broken(error.to_string()))?;
        let mut connection: Driven = Some(Box::pin(async move {
            let _ = connection.await;
        }));
        let answered = driving(&mut connection, sender.send_request(request)).await;
        let (head, body) = answered.map_err(|error| broken(error.to_string()))?.into_parts();
        let (status, headers) = (head.status.as_u16(), head.headers);
        Ok(Exchange { endpoint: told(endpoint), status, headers, body, connection, _sender: sender })
    }
}

impl Exchange {
    /// Waits for the next piece of the body; `None` at its end.
    ///
    /// # Errors
    /// [`PostFault::Broken`] if the connection breaks before the end of the body.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, PostFault> {
        loop {
            let Some(frame) = driving(&mut self.connection, self.body.frame()).await else { return Ok(None) };
            let frame = frame.map_err(|error| PostFault::Broken {
                endpoint: self.endpoint.clone(),
                detail: error.to_string().into(),
            })?;
            // Trailers are passed over.
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
    }
}

/// Waits for something that comes over a connection, and moves its bytes meanwhile.
async fn driving<T>(connection: &mut Driven, wanted: impl Future<Output = T>) -> T {
    let mut wanted = std::pin::pin!(wanted);
    while let Some(driven) = connection {
        tokio::select! {
            biased;
            came = &mut wanted => return came,
            // What has come before the end can still be read.
            () = driven => *connection = None,
        }
    }
    wanted.await
}

//! The wire to a server over HTTP (streamable HTTP), as a transport of `rmcp`: one post for each message, answered by one
//! message or by a stream of events.
//!
//! What lives elsewhere: which addresses may be connected to (`adapter/outbound/post.rs`), events (`events.rs`). Invariants:
//! no message is read beyond `limits::SERVER_MESSAGE_BYTES`; a request that is called off has its connection closed; a fault of
//! one request fails that request alone, and the connection only if the server cannot be reached or has ended the session.
//! Source: MCP 2025-11-25.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::{Future, pending};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::transport::Transport;
use serde::Deserialize;
use thiserror::Error;
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use super::events::{Events, TooLong};
use super::message::message;
use super::place::McpEndpoint;
use super::wire::{Down, Unsent, Wire, beginning};
use crate::adapter::outbound::exchange::Exchange;
use crate::limits;

/// Why a message has not been answered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{why}")]
pub(super) struct PostFailed {
    pub(super) why: Box<str>,
    /// Whether the server has certainly not acted on it, because it was not reached or does not know the session any more.
    pub(super) is_untaken: bool,
}

/// A session with a server, which both sides of its wire share.
pub(super) struct Session {
    at: Arc<McpEndpoint>,
    pub(super) wire: Arc<Wire>,
    /// The id that the server gave the session, if it gave one.
    id: OnceLock<HeaderValue>,
    /// The version of the protocol that was agreed on.
    version: OnceLock<HeaderValue>,
    received: mpsc::Sender<ServerJsonRpcMessage>,
    /// The requests under way, each with what calls it off.
    open: Mutex<HashMap<RequestId, Arc<Notify>>>,
}

/// The wire, as `rmcp` has it.
pub(super) struct Posts {
    session: Arc<Session>,
    received: mpsc::Receiver<ServerJsonRpcMessage>,
}

/// What is done with one message.
enum Sending {
    /// A request is posted, and its answer is read.
    Ask(OpenRequest),
    /// Anything else is posted, and is to be accepted soon.
    Tell(Unsent),
}

/// A request under way; it is not any more when this is dropped.
struct OpenRequest {
    session: Arc<Session>,
    id: RequestId,
    called_off: Arc<Notify>,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.session.open().remove(&self.id);
    }
}

impl Posts {
    pub(super) fn new(at: Arc<McpEndpoint>) -> Posts {
        let (sender, received) = mpsc::channel(UNREAD_MAX);
        let session = Session {
            at,
            wire: Wire::new(),
            id: OnceLock::new(),
            version: OnceLock::new(),
            received: sender,
            open: Mutex::default(),
        };
        Posts { session: Arc::new(session), received }
    }

    pub(super) fn session(&self) -> Arc<Session> {
        Arc::clone(&self.session)
    }
}

impl Transport<RoleClient> for Posts {
    type Error = PostFailed;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), PostFailed>> + Send + 'static {
        let session = self.session();
        // Before anything is waited for: what is called off has to be known by then.
        let sending = session.sending(&message);
        async move {
            let is_introduction = is_introduction(&message);
            let sent = session.send(message, sending).await;
            if let Err(failed) = &sent
                && is_introduction
            {
                session.wire.end(Down::Broken(failed.why.clone()));
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        tokio::select! {
            // An answer that has come counts, also from a server that is gone by now.
            biased;
            received = self.received.recv() => received,
            _ = self.session.wire.down() => None,
        }
    }

    async fn close(&mut self) -> Result<(), PostFailed> {
        Ok(())
    }
}

impl Session {
    /// Says what is done with a message. Calling a request off takes effect at once.
    fn sending(self: &Arc<Session>, message: &ClientJsonRpcMessage) -> Sending {
        if let JsonRpcMessage::Request(request) = message {
            let called_off = Arc::<Notify>::default();
            self.open().insert(request.id.clone(), Arc::clone(&called_off));
            return Sending::Ask(OpenRequest {
                session: Arc::clone(self),
                id: request.id.clone(),
                called_off,
            });
        }
        if let JsonRpcMessage::Notification(told) = message
            && let ClientNotification::CancelledNotification(cancelled) = &told.notification
            && let Some(id) = &cancelled.params.request_id
            && let Some(called_off) = self.open().get(id)
        {
            called_off.notify_one();
        }
        Sending::Tell(self.wire.unsent())
    }

    async fn send(&self, message: ClientJsonRpcMessage, sending: Sending) -> Result<(), PostFailed> {
        let text = serde_json::to_vec(&message).map_err(|error| failed(error.to_string()))?;
        match sending {
            Sending::Ask(open) => tokio::select! {
                answered = self.ask(text.into(), &open.id) => answered,
                // Its answer is nobody's any more. The server is told by a message of its own.
                () = open.called_off.notified() => Ok(()),
            },
            Sending::Tell(_unsent) => {
                let told =
                    timeout(Duration::from_millis(limits::SERVER_READ_MS.value), self.tell(text.into()));
                told.await.unwrap_or_else(|_| Err(failed("it does not read what it is sent")))
            }
        }
    }

    /// Posts a request, and reads until its answer has come.
    async fn ask(&self, text: Bytes, id: &RequestId) -> Result<(), PostFailed> {
        let mut response = self.post(text).await?;
        // Only the answer to the introduction names the session, and before it there is no version.
        if self.version.get().is_none()
            && let Some(id) = response.headers.get(SESSION)
        {
            // There is one introduction, and so one id.
            let _ = self.id.set(id.clone());
        }
        match kind(&response) {
            Kind::Message => {
                let body = whole(&mut response).await?;
                let answer = message(&body).filter(|answer| answers(answer, id));
                self.take(answer.ok_or_else(|| failed("its answer is not a valid MCP message"))?).await
            }
            Kind::Events => self.ask_in_events(response, id).await,
            Kind::Other => Err(self.refused(response).await),
        }
    }

    /// Reads the events that answer a request. A server may end a stream before the answer, if it has said where to go on.
    async fn ask_in_events(&self, mut response: Exchange, id: &RequestId) -> Result<(), PostFailed> {
        let mut events = Events::new();
        loop {
            if let Read::Answered = self.read(&mut response, &mut events, Some(id)).await? {
                return Ok(());
            }
            if events.place().is_none() {
                return Err(failed("its answer ended before the end"));
            }
            wait(events.pause()).await;
            response = self.get(&events).await?;
            if !matches!(kind(&response), Kind::Events) {
                return Err(self.refused(response).await);
            }
        }
    }

    /// Reads a stream of events to its end, or until this request is answered.
    async fn read(
        &self,
        response: &mut Exchange,
        events: &mut Events,
        until: Option<&RequestId>,
    ) -> Result<Read, PostFailed> {
        let mut is_heard = false;
        events.begin_stream();
        // A connection that breaks is an end like any other: what is missing is noticed by who waits for it.
        while let Ok(Some(piece)) = response.piece().await {
            let mut piece = &piece[..];
            while let Some(text) = events.next(&mut piece).map_err(too_long)? {
                let Some(message) = message(&text) else { continue };
                let is_answer = until.is_some_and(|id| answers(&message, id));
                self.take(message).await?;
                if is_answer {
                    return Ok(Read::Answered);
                }
                is_heard = true;
            }
        }
        Ok(Read::Ended { is_heard })
    }

    /// Hands a message over to the protocol.
    async fn take(&self, message: ServerJsonRpcMessage) -> Result<(), PostFailed> {
        if let JsonRpcMessage::Response(response) = &message
            && let ServerResult::InitializeResult(introduced) = &response.result
            && let Ok(version) = HeaderValue::from_str(introduced.protocol_version.as_str())
        {
            let _ = self.version.set(version);
        }
        self.wire.few_unsent().await;
        self.received.send(message).await.map_err(|_| failed("its connection has ended"))
    }

    /// Posts what needs no answer.
    async fn tell(&self, text: Bytes) -> Result<(), PostFailed> {
        let response = self.post(text).await?;
        if (200..300).contains(&response.status) { Ok(()) } else { Err(self.refused(response).await) }
    }

    /// Listens to what the server says unasked, for as long as it has a stream for that. `lapsed` is called where something may
    /// have been missed between two streams.
    pub(super) async fn listen(&self, rest_after: impl Fn(u32) -> Duration, lapsed: impl Fn()) {
        let (mut events, mut failures, mut is_first) = (Events::new(), 0, true);
        loop {
            match self.get(&events).await {
                Ok(mut response) if matches!(kind(&response), Kind::Events) => {
                    if !is_first && events.place().is_none() {
                        lapsed();
                    }
                    is_first = false;
                    // What is too long cannot be gone on with; the stream after it can.
                    let read = self.read(&mut response, &mut events, None).await;
                    if let Ok(Read::Ended { is_heard: true }) = read {
                        failures = 0;
                    }
                }
                Ok(response) if response.status == GONE && self.id.get().is_some() => {
                    return self.wire.end(Down::Broken(SESSION_ENDED.into()));
                }
                // 405, most of the time: it has no such stream.
                Ok(response) if response.status < 500 => return,
                Ok(_) | Err(_) => {}
            }
            // A stream without a message was of no use, so the pause grows.
            wait(rest_after(failures).max(events.pause())).await;
            failures = failures.saturating_add(1);
        }
    }

    /// Says to the server that the session is over. What it answers does not matter.
    pub(super) async fn delete(&self) {
        if self.id.get().is_some() {
            let _ = self.begin(Method::DELETE, Vec::new(), Bytes::new()).await;
        }
    }

    async fn post(&self, text: Bytes) -> Result<Exchange, PostFailed> {
        let headers = vec![
            (ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ];
        self.begin(Method::POST, headers, text).await
    }

    /// Asks for a stream of events, from the place on that was read last.
    async fn get(&self, events: &Events) -> Result<Exchange, PostFailed> {
        let mut headers = vec![(ACCEPT, HeaderValue::from_static("text/event-stream"))];
        headers.extend(events.place().map(|place| (PLACE, place.clone())));
        self.begin(Method::GET, headers, Bytes::new()).await
    }

    async fn begin(
        &self,
        method: Method,
        mut headers: Vec<(HeaderName, HeaderValue)>,
        body: Bytes,
    ) -> Result<Exchange, PostFailed> {
        headers.extend(self.at.headers());
        headers.extend(self.id.get().map(|id| (SESSION, id.clone())));
        headers.extend(self.version.get().map(|version| (VERSION, version.clone())));
        let begun = self.at.client().begin(self.at.endpoint(), method, &headers, body).await;
        begun
            .map_err(|fault| PostFailed { is_untaken: fault.is_unsent(), why: beginning(&fault.to_string()) })
    }

    /// Why a request is refused: its status, and what the server says of it.
    async fn refused(&self, mut response: Exchange) -> PostFailed {
        let status = response.status;
        if status == GONE && self.id.get().is_some() {
            return PostFailed { why: SESSION_ENDED.into(), is_untaken: true };
        }
        let mut body = Vec::new();
        while let Ok(Some(piece)) = response.piece().await {
            body.extend_from_slice(&piece[..piece.len().min(REFUSAL_BYTES - body.len())]);
            if body.len() == REFUSAL_BYTES {
                break;
            }
        }
        let said = serde_json::from_slice(&body).ok().map(|Refusal { error }| error.message);
        let hint = match status {
            300..=399 => " (redirects are not followed)",
            401 | 403 => " (look at its token)",
            _ => "",
        };
        let said = said.map_or_else(String::new, |said| format!(": {said}"));
        failed(format!("it answered with the status {status}{hint}{said}"))
    }

    fn open(&self) -> MutexGuard<'_, HashMap<RequestId, Arc<Notify>>> {
        // A panic elsewhere cannot leave it inconsistent: each change is one insert or removal.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How the reading of a stream has ended.
enum Read {
    Answered,
    Ended { is_heard: bool },
}

/// What a response holds.
enum Kind {
    Message,
    Events,
    /// A status that is no success, or a success that is no answer.
    Other,
}

fn kind(response: &Exchange) -> Kind {
    let given = response.headers.get(CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or_default();
    let media_type = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match (response.status, &*media_type) {
        (200, "application/json") => Kind::Message,
        (200, "text/event-stream") => Kind::Events,
        _ => Kind::Other,
    }
}

/// The body of a response.
async fn whole(response: &mut Exchange) -> Result<Vec<u8>, PostFailed> {
    let max = usize::try_from(limits::SERVER_MESSAGE_BYTES.value).unwrap_or(usize::MAX);
    let mut body = Vec::new();
    while let Some(piece) = response.piece().await.map_err(|fault| failed(fault.to_string()))? {
        if body.len() + piece.len() > max {
            return Err(too_long(TooLong { max }));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// Whether a server is introduced by this message: without it there is no connection.
fn is_introduction(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(asked) => matches!(asked.request, ClientRequest::InitializeRequest(_)),
        JsonRpcMessage::Notification(told) => {
            matches!(told.notification, ClientNotification::InitializedNotification(_))
        }
        JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => false,
    }
}

fn answers(message: &ServerJsonRpcMessage, id: &RequestId) -> bool {
    match message {
        JsonRpcMessage::Response(response) => response.id == *id,
        JsonRpcMessage::Error(error) => error.id.as_ref() == Some(id),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => false,
    }
}

fn failed(why: impl AsRef<str>) -> PostFailed {
    PostFailed { why: beginning(why.as_ref()), is_untaken: false }
}

fn too_long(TooLong { max }: TooLong) -> PostFailed {
    failed(format!("it sent a message of more than {max} bytes, which was not read"))
}

async fn wait(time: Duration) {
    let _ = timeout(time, pending::<Infallible>()).await;
}

/// What a server says of a request that it refuses.
#[derive(Deserialize)]
struct Refusal {
    error: RefusalError,
}

#[derive(Deserialize)]
struct RefusalError {
    message: String,
}

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const PLACE: HeaderName = HeaderName::from_static("last-event-id");
/// The status of a session that the server does not know any more.
const GONE: u16 = 404;
const SESSION_ENDED: &str = "it has ended the session";
/// Messages that have come and are not read yet. A server that sends more waits.
const UNREAD_MAX: usize = 64;
/// What is read of the body of a refusal.
const REFUSAL_BYTES: usize = 4_096;

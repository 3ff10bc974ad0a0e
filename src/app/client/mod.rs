//! The client of a daemon: sends one request at a time, or opens the daemon's EDN stream.
//!
//! What lives elsewhere: which daemon, and whether it may have the token (`daemon.rs`); what each command does with an
//! answer. Invariant: the token is sent in its header and appears nowhere else.

pub(in crate::app) mod daemon;
pub(in crate::app) mod in_process;
pub(in crate::app) mod question;
pub(in crate::app) mod typed_id;

use std::fmt::Write as _;
use std::io;
use std::net::TcpStream;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, UPGRADE,
};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::exit::Exit;
use super::fault::AppFault;
use super::serve::data_dir::Holder;
use crate::dialect::{Notation, REQUEST_CAPS, names, primitives};
use crate::domain::SessionId;
use crate::edn::{self, Map, Value};
use crate::limits;
use crate::surface::cli::DaemonArgs;
use crate::surface::json;
use daemon::Daemon;

/// A client of one daemon.
pub(super) struct Client {
    daemon: Daemon,
    session: Option<SessionId>,
    runtime: Runtime,
}

/// A daemon's answer.
pub(super) struct Answered {
    pub(super) status: StatusCode,
    pub(super) text: String,
}

/// A connection that has been upgraded from HTTP to the EDN stream.
pub(super) struct Stream {
    pub(super) socket: TcpStream,
    /// Bytes that arrived together with the upgrade's answer.
    pub(super) first: Vec<u8>,
}

impl Client {
    /// A client of the daemon that is to answer; `None` if the user asks for an engine in this process. An empty engine must not
    /// answer for a daemon that is down: it would look like a quiet night.
    ///
    /// # Errors
    /// That there is no daemon; those of [`Daemon::find`].
    pub(super) fn required(
        args: &DaemonArgs,
        session: Option<&SessionId>,
    ) -> Result<Option<Client>, AppFault> {
        if args.is_embedded() {
            return Ok(None);
        }
        Client::asked_for(args, session)?.map(Some).ok_or_else(|| AppFault::NoDaemon(NOBODY.to_owned()))
    }

    /// A client of the daemon, for a command that makes no sense in an empty engine.
    ///
    /// # Errors
    /// That there is no daemon, or that the user wants none; those of [`Daemon::find`].
    pub(super) fn of_daemon(args: &DaemonArgs, session: Option<&SessionId>) -> Result<Client, AppFault> {
        if args.is_embedded() {
            return Err(AppFault::usage(
                "this command needs a daemon; leave out --embedded or the empty --url",
            ));
        }
        Client::asked_for(args, session)?.ok_or_else(|| AppFault::NoDaemon(NO_DAEMON.to_owned()))
    }

    /// A client of the daemon that [`Daemon::find`] finds; `None` if the command has to use an engine of its own.
    ///
    /// # Errors
    /// Those of [`Daemon::find`].
    pub(super) fn asked_for(
        args: &DaemonArgs,
        session: Option<&SessionId>,
    ) -> Result<Option<Client>, AppFault> {
        let Some(daemon) = Daemon::find(args)? else { return Ok(None) };
        // One thread is enough: a command waits for one answer at a time.
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| AppFault::io("the client cannot start", error))?;
        Ok(Some(Client { daemon, session: session.cloned(), runtime }))
    }

    /// Posts a text and waits for the answer in its notation.
    ///
    /// # Errors
    /// [`AppFault::NoDaemon`] if there is no daemon or no answer.
    pub(super) fn post(&self, path: &str, notation: Notation, text: Vec<u8>) -> Result<Answered, AppFault> {
        let media_type = match notation {
            Notation::Edn => "application/edn",
            Notation::Json => "application/json",
        };
        let media_type = HeaderValue::from_static(media_type);
        self.post_with(path, vec![(CONTENT_TYPE, media_type.clone()), (ACCEPT, media_type)], text)
    }

    /// Posts a map in EDN, and waits for the map that answers it.
    ///
    /// # Errors
    /// [`AppFault::NoDaemon`] if there is no daemon or no answer; an error of [`Answered::fault`] if it refuses.
    pub(super) fn post_map(&self, path: &str, body: &Map) -> Result<Map, AppFault> {
        let body = Value::from(body.clone()).to_string().into_bytes();
        let answered = self.post(path, Notation::Edn, body)?;
        if !answered.status.is_success() {
            return Err(answered.fault(Notation::Edn));
        }
        let answer = edn::read(answered.text.as_bytes(), &REQUEST_CAPS).ok();
        let answer = answer.as_ref().and_then(Value::as_map).cloned();
        answer.ok_or_else(|| AppFault::Taken("the daemon's answer is not EDN".to_owned()))
    }

    /// Posts a text with these headers and waits for the answer.
    ///
    /// # Errors
    /// [`AppFault::NoDaemon`] if there is no daemon or no answer.
    pub(super) fn post_with(
        &self,
        path: &str,
        headers: Vec<(HeaderName, HeaderValue)>,
        text: Vec<u8>,
    ) -> Result<Answered, AppFault> {
        self.runtime.block_on(self.within(patience_of(path), async {
            let response = self.send(Method::POST, path, headers, Body::from(text)).await?;
            let status = response.status();
            let bytes = to_bytes(response.into_body(), ANSWER_BYTES_MAX).await.map_err(io::Error::other)?;
            let text = String::from_utf8(bytes.into()).map_err(io::Error::other)?;
            Ok(Answered { status, text })
        }))
    }

    /// The daemon's address, for people and browsers.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.daemon.authority)
    }

    /// Opens the daemon's EDN stream.
    ///
    /// # Errors
    /// [`AppFault::NoDaemon`] if there is no daemon or no answer; an error of [`Answered::fault`] if it refuses the stream.
    pub(super) fn stream(&self) -> Result<Stream, AppFault> {
        let headers = [(CONNECTION, "upgrade"), (UPGRADE, "reveille-edn")]
            .map(|(name, value)| (name, HeaderValue::from_static(value)));
        let opened = self.runtime.block_on(self.within(PATIENCE, async {
            let response = self.send(Method::GET, "/stream", headers.into(), Body::empty()).await?;
            if response.status() != StatusCode::SWITCHING_PROTOCOLS {
                let status = response.status();
                let bytes =
                    to_bytes(response.into_body(), ANSWER_BYTES_MAX).await.map_err(io::Error::other)?;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                return Ok(Err(Answered { status, text }.fault(Notation::Json)));
            }
            // Take the socket back from hyper: the commands read and write it with blocking calls.
            let upgraded = hyper::upgrade::on(response).await.map_err(io::Error::other)?;
            let parts = upgraded.downcast::<TokioIo<tokio::net::TcpStream>>();
            let parts = parts.map_err(|_| io::Error::other("the connection has an unexpected type"))?;
            let socket = parts.io.into_inner().into_std()?;
            // Tokio had set it to non-blocking.
            socket.set_nonblocking(false)?;
            Ok(Ok(Stream { socket, first: parts.read_buf.into() }))
        }));
        opened.flatten()
    }

    async fn within<T>(
        &self,
        time: Duration,
        answer: impl Future<Output = io::Result<T>>,
    ) -> Result<T, AppFault> {
        let too_long = |_| io::Error::new(io::ErrorKind::TimedOut, "it does not answer");
        let answer = timeout(time, answer).await.map_err(too_long).flatten();
        // No answer has come. One that is an error is for the caller to judge.
        answer.map_err(|error| AppFault::NoDaemon(format!("the daemon at {}: {error}", self.url())))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: Vec<(HeaderName, HeaderValue)>,
        body: Body,
    ) -> io::Result<Response<Body>> {
        let before = self.daemon.holder()?;
        let authority = before.as_ref().and_then(Holder::authority);
        let authority = authority.unwrap_or_else(|| self.daemon.authority.clone());
        let stream = tokio::net::TcpStream::connect(&authority).await?;
        // One process has listened there all the while, so it is at the other end, and nobody who had the port before.
        if self.daemon.holder()? != before {
            return Err(io::Error::other("it was started again meanwhile; try again"));
        }
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        // One request per connection: the task ends with the answer, or with the upgrade.
        tokio::spawn(connection.with_upgrades());
        let mut authorization = HeaderValue::try_from(format!("Bearer {}", self.daemon.token.reveal()))
            .map_err(|_| io::Error::other("the token contains characters that a header cannot hold"))?;
        // Keeps the token out of debug output.
        authorization.set_sensitive(true);
        let mut request = Request::builder().method(method).uri(path).header(HOST, &authority);
        request = request.header(AUTHORIZATION, authorization);
        if let Some(session) = &self.session {
            request = request.header("reveille-session", session.as_str());
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(body).map_err(io::Error::other)?;
        let response = sender.send_request(request).await.map_err(io::Error::other)?;
        Ok(response.map(Body::new))
    }
}

impl Answered {
    /// The error that an answer is which is neither a tool's nor a query's.
    pub(super) fn fault(&self, notation: Notation) -> AppFault {
        let complaint = self.complaint(notation);
        if Exit::of_status(self.status) == Exit::Usage {
            AppFault::Usage(complaint)
        } else {
            AppFault::Taken(complaint)
        }
    }

    /// The daemon's error message and hint, as one line for a person.
    pub(super) fn complaint(&self, notation: Notation) -> String {
        let read = match notation {
            Notation::Edn => edn::read(self.text.as_bytes(), &REQUEST_CAPS).ok(),
            Notation::Json => json::read(self.text.as_bytes(), &REQUEST_CAPS).ok(),
        };
        // EDN answers have keywords as keys, JSON answers strings.
        let part = |map: &Map, key: &str| map.keyword(key).or_else(|| map.text(key)).cloned();
        let error = read.as_ref().and_then(Value::as_map).and_then(|map| part(map, "error"));
        let mut complaint = format!("the daemon answered {}", self.status.as_u16());
        for key in ["message", "hint"] {
            let word = error.as_ref().and_then(Value::as_map).and_then(|map| part(map, key));
            if let Some(word) = word.as_ref().and_then(Value::as_str) {
                // Writing to a string cannot fail.
                let _ = write!(complaint, "; {word}");
            }
        }
        complaint
    }
}

/// How long an answer is waited for that may come later.
fn patience_of(path: &str) -> Duration {
    let tool = path.strip_prefix("/tools/").map(names::canonical).and_then(primitives::Tool::parse);
    let more = match tool {
        Some(primitives::Tool::RunParallel) => limits::PARALLEL_SECONDS_MAX.value * 1_000,
        Some(primitives::Tool::BackgroundRun) => limits::TASK_WAIT_SECONDS_MAX.value * 1_000,
        None if path.starts_with("/mcp") => limits::MCP_WAIT_MS.value,
        None => 0,
    };
    PATIENCE + Duration::from_millis(more)
}

// Time limit of one request, queries with their own time budget included.
const PATIENCE: Duration = Duration::from_millis(30_000);
/// Maximum size of an answer. Another program on the port must not fill our memory.
const ANSWER_BYTES_MAX: usize = 1 << 28;

const NO_DAEMON: &str = "there is no daemon to ask; start one with `reveille serve`, or name it with --url";
const NOBODY: &str = "there is no daemon to ask; start one with `reveille serve`, name it with --url, or pass --embedded \
                      for an empty engine of this command alone";

//! The client of a daemon: sends one request at a time, or opens the daemon's EDN stream.
//!
//! What lives elsewhere: what each command does with an answer. Invariant: the token is sent in its
//! header and appears nowhere else.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, UPGRADE,
};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::config::DEFAULT_LISTEN;
use super::data_dir::{OPERATOR_TOKEN, read_token};
use super::environment::Environment;
use super::fault::AppFault;
use crate::dialect::{Notation, REQUEST_CAPS};
use crate::domain::SessionId;
use crate::edn::{self, Map, Value};
use crate::runtime::Token;
use crate::surface::cli::DaemonArgs;
use crate::surface::json;

/// A client of one daemon.
pub(super) struct Client {
    authority: String,
    token: Token,
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
    /// Connects to the daemon that the arguments name, or to a local one if it runs; `None` if the
    /// command has to use an engine of its own.
    ///
    /// # Errors
    /// [`AppFault`] for an invalid address or a missing token.
    pub(super) fn asked_for(
        args: &DaemonArgs,
        session: Option<&SessionId>,
    ) -> Result<Option<Client>, AppFault> {
        let (authority, token) = match args.url.as_deref() {
            Some("") => return Ok(None),
            Some(url) => (authority(url)?, token(args)?),
            // No daemon is named: use the local one if it runs and we have its token.
            None => match token(args) {
                Ok(token) if is_there(DEFAULT_LISTEN) => (DEFAULT_LISTEN.to_string(), token),
                Ok(_) | Err(_) => return Ok(None),
            },
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| AppFault::io("the client cannot start", error))?;
        Ok(Some(Client { authority, token, session: session.cloned(), runtime }))
    }

    /// Posts a text and waits for the answer in its notation.
    ///
    /// # Errors
    /// [`AppFault::Io`] if there is no daemon or no answer.
    pub(super) fn post(&self, path: &str, notation: Notation, text: Vec<u8>) -> Result<Answered, AppFault> {
        let media_type = match notation {
            Notation::Edn => "application/edn",
            Notation::Json => "application/json",
        };
        let media_type = HeaderValue::from_static(media_type);
        self.post_with(path, vec![(CONTENT_TYPE, media_type.clone()), (ACCEPT, media_type)], text)
    }

    /// Posts a text with these headers and waits for the answer.
    ///
    /// # Errors
    /// [`AppFault::Io`] if there is no daemon or no answer.
    pub(super) fn post_with(
        &self,
        path: &str,
        headers: Vec<(HeaderName, HeaderValue)>,
        text: Vec<u8>,
    ) -> Result<Answered, AppFault> {
        self.runtime.block_on(self.in_time(async {
            let response = self.send(Method::POST, path, headers, Body::from(text)).await?;
            let status = response.status();
            let bytes = to_bytes(response.into_body(), ANSWER_BYTES_MAX).await.map_err(io::Error::other)?;
            let text = String::from_utf8(bytes.into()).map_err(io::Error::other)?;
            Ok(Answered { status, text })
        }))
    }

    /// Opens the daemon's EDN stream.
    ///
    /// # Errors
    /// [`AppFault::Io`] if there is no daemon or it refuses the stream.
    pub(super) fn stream(&self) -> Result<Stream, AppFault> {
        let headers = [(CONNECTION, "upgrade"), (UPGRADE, "reveille-edn")]
            .map(|(name, value)| (name, HeaderValue::from_static(value)));
        self.runtime.block_on(self.in_time(async {
            let response = self.send(Method::GET, "/stream", headers.into(), Body::empty()).await?;
            if response.status() != StatusCode::SWITCHING_PROTOCOLS {
                let status = response.status();
                let bytes =
                    to_bytes(response.into_body(), ANSWER_BYTES_MAX).await.map_err(io::Error::other)?;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                return Err(io::Error::other(Answered { status, text }.complaint(Notation::Json)));
            }
            // Take the socket back from hyper: the commands read and write it with blocking calls.
            let upgraded = hyper::upgrade::on(response).await.map_err(io::Error::other)?;
            let parts = upgraded.downcast::<TokioIo<tokio::net::TcpStream>>();
            let parts = parts.map_err(|_| io::Error::other("the connection has an unexpected type"))?;
            let socket = parts.io.into_inner().into_std()?;
            // Tokio had set it to non-blocking.
            socket.set_nonblocking(false)?;
            Ok(Stream { socket, first: parts.read_buf.into() })
        }))
    }

    async fn in_time<T>(&self, answer: impl Future<Output = io::Result<T>>) -> Result<T, AppFault> {
        let too_long = |_| io::Error::new(io::ErrorKind::TimedOut, "it does not answer");
        let answer = timeout(PATIENCE, answer).await.map_err(too_long).flatten();
        answer.map_err(|error| AppFault::io(format!("the daemon at http://{}", self.authority), error))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: Vec<(HeaderName, HeaderValue)>,
        body: Body,
    ) -> io::Result<Response<Body>> {
        let stream = tokio::net::TcpStream::connect(&self.authority).await?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        // One request per connection: the task ends with the answer, or with the upgrade.
        tokio::spawn(connection.with_upgrades());
        let mut authorization = HeaderValue::try_from(format!("Bearer {}", self.token.reveal()))
            .map_err(|_| io::Error::other("the token contains characters that a header cannot hold"))?;
        // Keeps the token out of debug output.
        authorization.set_sensitive(true);
        let mut request = Request::builder().method(method).uri(path).header(HOST, &self.authority);
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

/// Parses host and port of `http://HOST:PORT`.
fn authority(url: &str) -> Result<String, AppFault> {
    let wrong =
        || AppFault::usage(format!("{url} is not the address of a daemon, such as http://127.0.0.1:7517"));
    let uri: Uri = url.parse().map_err(|_| wrong())?;
    // No `https`, because the daemon itself does not speak TLS.
    let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http")).ok_or_else(wrong)?;
    let plain = uri.path_and_query().is_none_or(|path| path.as_str() == "/");
    // A path or a user name would be dropped in silence, so they are refused.
    if !plain || authority.as_str().contains('@') {
        return Err(wrong());
    }
    let port = authority.port_u16().unwrap_or(80);
    Ok(format!("{}:{port}", authority.host()))
}

/// Whether a server listens at this address.
fn is_there(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, GLANCE).is_ok()
}

fn token(args: &DaemonArgs) -> Result<Token, AppFault> {
    // Order: the most explicit source wins; the data directory is the default.
    let environment = Environment::read();
    if let Some(path) = &args.token_file {
        return read_given(path)
            .map_err(|error| AppFault::io(format!("the token {}", path.display()), error));
    }
    if let Some(token) = &environment.token {
        return Ok(Token::from_text(token));
    }
    let directory = args.data_dir.clone().or_else(|| environment.state_dir());
    let path = directory.map(|directory| directory.join(OPERATOR_TOKEN));
    let path = path.ok_or_else(|| AppFault::usage("pass --token-file FILE, or set REVEILLE_TOKEN"))?;
    read_token(&path).map_err(|error| AppFault::io(format!("the token {}", path.display()), error))
}

/// Reads a token file named by the user. Its mode and owner are not checked: it may be shared on
/// purpose.
fn read_given(path: &Path) -> io::Result<Token> {
    fs::read_to_string(path).map(|text| Token::from_text(text.trim()))
}

/// Time limit to find a local daemon: a port on loopback answers at once or not at all.
const GLANCE: Duration = Duration::from_millis(200);
// Time limit of one request, queries with their own time budget included.
const PATIENCE: Duration = Duration::from_millis(30_000);
/// Maximum size of an answer. Another program on the port must not fill our memory.
const ANSWER_BYTES_MAX: usize = 1 << 28;

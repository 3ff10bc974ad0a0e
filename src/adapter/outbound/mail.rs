//! E-mail: one message for each run, handed over to the mail server that an operator has named.
//!
//! The addresses are checked and the TLS is made as for posts (`post.rs`); the dialogue behind it and the form of a message are
//! lettre's. Invariants: nothing but a greeting and the wish for TLS is said in the clear, and a server that does not offer TLS
//! gets nothing; what stands in a subject is one line; a message goes to addresses of the configuration, and to no other.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::SystemTime;

use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::{Error as SmtpError, response::Severity};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::endpoint::{Endpoint, EndpointFault};
use super::post::{Client, PostFault};
use crate::domain::{Failure, Phase, Reason};
use crate::edn::is_hidden;
use crate::engine::Parcel;
use crate::limits;

/// A mail server, and what messages to it look like.
pub struct Mailer {
    /// Where it is.
    pub server: MailServer,
    /// What resolves, checks and connects; limited to this server.
    pub client: Client,
    /// The user and the password, if the server wants them.
    pub login: Option<(String, String)>,
    /// Who messages are from.
    pub from: MailAddress,
    /// Whom they are to: all of these, or the one that a message names.
    pub to: Vec<MailAddress>,
    /// The subject, with the places `{{label}}`, `{{channel}}` and `{{session}}`.
    pub subject: Box<str>,
}

/// Where a mail server is, and when TLS begins there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailServer {
    endpoint: Endpoint,
    tls: MailTls,
}

/// When TLS begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MailTls {
    /// With the connection.
    AtOnce,
    /// After the server has offered it.
    Offered,
    /// Never: on this machine only.
    Never,
}

/// A checked address of a person or a list, with a name or without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailAddress(Mailbox);

impl MailAddress {
    /// Parses an address such as `ops@example.com` or `Ops <ops@example.com>`. Domains are in ASCII.
    pub fn parse(text: &str) -> Option<MailAddress> {
        let is_plain = text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_control());
        text.parse().ok().filter(|_| is_plain).map(MailAddress)
    }

    fn is(&self, address: &str) -> bool {
        self.0.email.to_string().eq_ignore_ascii_case(address.trim())
    }
}

impl MailServer {
    /// Parses `smtps://HOST[:465]`, or `smtp://HOST[:587]`, where the server has to offer TLS; with
    /// `in_the_clear` it has to be on this machine.
    ///
    /// # Errors
    /// [`EndpointFault`] if it is not accepted; `Scheme` also for a path.
    pub fn parse(url: &str, in_the_clear: bool) -> Result<MailServer, EndpointFault> {
        let (scheme, host) = url.split_once("://").ok_or(EndpointFault::Scheme)?;
        let (tls, port) = match (scheme, in_the_clear) {
            ("smtps", false) => (MailTls::AtOnce, 465),
            ("smtp", false) => (MailTls::Offered, 587),
            ("smtp", true) => (MailTls::Never, 25),
            _ => return Err(EndpointFault::Scheme),
        };
        let host = host.strip_suffix('/').unwrap_or(host);
        if host.contains(['/', '?', '#']) {
            return Err(EndpointFault::Scheme);
        }
        // As an endpoint of posts it has the rules of one: what is in the clear goes to this machine only.
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']'));
        let port = if has_port { String::new() } else { format!(":{port}") };
        let scheme = if tls == MailTls::Never { "http" } else { "https" };
        Ok(MailServer { endpoint: Endpoint::parse(&format!("{scheme}://{host}{port}/"))?, tls })
    }

    /// Returns the host and the port, which the client has to be allowed.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

/// Prints the scheme, the host and the port.
impl fmt::Display for MailServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls == MailTls::AtOnce { "smtps" } else { "smtp" };
        write!(f, "{scheme}://{}:{}", self.endpoint.host(), self.endpoint.port())
    }
}

impl Mailer {
    /// Sends the message of a parcel.
    pub(super) async fn send(&self, parcel: &Parcel) -> Result<(), Failure> {
        let to = self.recipients(parcel)?;
        let message = self.message(parcel, &to)?;
        // From here on the server may have the message, whatever becomes of the connection.
        let is_out = AtomicBool::new(false);
        let sent = timeout(self.client.total(), self.hand_over(&to, &message, &is_out)).await;
        let unanswered = || {
            let text = format!("{} did not answer in time", self.server);
            failed(
                if is_out.load(Ordering::Relaxed) { Reason::ReceiptOverdue } else { Reason::HostRefused },
                text,
            )
        };
        let mut smtp = sent.unwrap_or_else(|_| Err(unanswered()))?;
        // The message is the server's now; whether it says good-bye makes no difference.
        let _ = timeout(GOODBYE, smtp.quit()).await;
        Ok(())
    }

    /// Whom it goes to: the one that the message names, if the configuration has that one, or all.
    fn recipients(&self, parcel: &Parcel) -> Result<Vec<&MailAddress>, Failure> {
        let named = parcel.route.conversation.trim();
        if named.is_empty() {
            return Ok(self.to.iter().collect());
        }
        let found = self.to.iter().find(|address| address.is(named));
        found
            .map(|address| vec![address])
            .ok_or_else(|| failed(Reason::Rejected, "the recipient is not in the channel's `to` list"))
    }

    /// The message as it goes over the wire, equal on each attempt.
    fn message(&self, parcel: &Parcel, to: &[&MailAddress]) -> Result<Vec<u8>, Failure> {
        let wrong = |error: &dyn fmt::Display| failed(Reason::Rejected, format!("it is no message: {error}"));
        // The slot and not the present time, so that a repetition is equal to the first message.
        let date = SystemTime::try_from(parcel.run.slot).map_err(|error| wrong(&error))?;
        // The id is made of the run, so that a receiver recognizes a repetition.
        let run = Sha256::digest(parcel.run.to_string());
        let id: String = run.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let mut message = Message::builder()
            .from(self.from.0.clone())
            .date(date)
            .subject(self.subject_of(parcel))
            .message_id(Some(format!("<{id}@{}>", self.from.0.email.domain())))
            .header(ContentType::TEXT_PLAIN);
        for address in to {
            message = message.to(address.0.clone());
        }
        // So that nobody's absence note answers it. Source: RFC 3834.
        let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
        message = message.raw_header(HeaderValue::new(automatic, "auto-generated".to_owned()));
        let text = if parcel.text.is_empty() { super::shape::words(parcel) } else { parcel.text.to_string() };
        let message = message.body(text).map_err(|error| wrong(&error))?;
        Ok(message.formatted())
    }

    fn subject_of(&self, parcel: &Parcel) -> String {
        let (mut out, mut rest) = (String::new(), &*self.subject);
        while let Some((before, (place, behind))) =
            rest.split_once("{{").and_then(|(before, behind)| Some((before, behind.split_once("}}")?)))
        {
            out.push_str(before);
            out.push_str(match place.trim() {
                "label" => parcel.label.as_deref().unwrap_or_default(),
                "channel" => &parcel.route.channel,
                "session" => parcel.session.as_str(),
                _ => "",
            });
            rest = behind;
        }
        out.push_str(rest);
        // What would begin another header is a blank.
        let seen = |found: char| if found.is_control() || is_hidden(found) { ' ' } else { found };
        out.chars().map(seen).take(SUBJECT_CHARS).collect::<String>().trim().to_owned()
    }

    async fn hand_over(
        &self,
        to: &[&MailAddress],
        message: &[u8],
        is_out: &AtomicBool,
    ) -> Result<AsyncSmtpConnection, Failure> {
        let hello = ClientId::Domain(self.from.0.email.domain().to_owned());
        let stream = self.open(&hello).await?;
        let said = |error: SmtpError| self.failure(&error, Reason::HostRefused);
        let mut smtp = AsyncSmtpConnection::connect_with_transport(stream, &hello).await.map_err(said)?;
        if let Some((user, password)) = &self.login {
            let login = Credentials::new(user.clone(), password.clone());
            smtp.auth(&[Mechanism::Plain, Mechanism::Login], &login).await.map_err(said)?;
        }
        smtp.command(Mail::new(Some(self.from.0.email.clone()), Vec::new())).await.map_err(said)?;
        for address in to {
            smtp.command(Rcpt::new(address.0.email.clone(), Vec::new())).await.map_err(said)?;
        }
        smtp.command(Data).await.map_err(said)?;
        is_out.store(true, Ordering::Relaxed);
        smtp.message(message).await.map_err(|error| self.failure(&error, Reason::ReceiptOverdue))?;
        Ok(smtp)
    }

    /// Opens a connection to a checked address, and does not return it before it is encrypted.
    async fn open(&self, hello: &ClientId) -> Result<Box<dyn AsyncTokioStream>, Failure> {
        let endpoint = &self.server.endpoint;
        let refused = |fault: PostFault| failed(Reason::HostRefused, fault.to_string());
        let broken = |error: io::Error| {
            failed(Reason::HostRefused, format!("{} did not answer: {error}", self.server))
        };
        let mut socket = self.client.dial(endpoint).await.map_err(refused)?;
        let peer = socket.peer_addr().map_err(broken)?;
        Ok(match self.server.tls {
            MailTls::Never => Box::new(Wire { stream: socket, peer, greeting: b"" }),
            MailTls::AtOnce => {
                let stream = self.client.wrap(endpoint, socket).await.map_err(refused)?;
                Box::new(Wire { stream, peer, greeting: b"" })
            }
            MailTls::Offered => {
                self.ask_for_tls(&mut socket, hello).await?;
                let stream = self.client.wrap(endpoint, socket).await.map_err(refused)?;
                // The greeting was in the clear; behind it the dialogue begins anew.
                Box::new(Wire { stream, peer, greeting: b"220 encrypted\r\n" })
            }
        })
    }

    /// Has the server begin TLS. What it says beyond that in the clear is not read: TLS would fail over it.
    async fn ask_for_tls(&self, socket: &mut TcpStream, hello: &ClientId) -> Result<(), Failure> {
        self.expect(socket, 220).await?;
        self.say(socket, &format!("EHLO {hello}\r\n")).await?;
        let offers = self.expect(socket, 250).await?;
        let is_tls =
            |line: &str| line.get(4..).is_some_and(|word| word.trim().eq_ignore_ascii_case("STARTTLS"));
        if !offers.lines().any(is_tls) {
            let text = format!("{} does not offer TLS, and gets nothing without it", self.server);
            return Err(failed(Reason::HostRefused, text));
        }
        self.say(socket, "STARTTLS\r\n").await?;
        self.expect(socket, 220).await.map(|_| ())
    }

    async fn say(&self, socket: &mut TcpStream, text: &str) -> Result<(), Failure> {
        let said = socket.write_all(text.as_bytes()).await;
        said.map_err(|error| failed(Reason::HostRefused, format!("{} is gone: {error}", self.server)))
    }

    /// Reads one reply, and no byte beyond it.
    async fn expect(&self, socket: &mut TcpStream, code: u16) -> Result<String, Failure> {
        let broken = |detail: &str| failed(Reason::HostRefused, format!("{} {detail}", self.server));
        let (mut reply, mut line) = (String::new(), 0);
        loop {
            if reply.len() as u64 >= limits::WEBHOOK_HEAD_BYTES.value {
                return Err(broken("says too much"));
            }
            let byte = socket.read_u8().await.map_err(|error| broken(&format!("did not answer: {error}")))?;
            reply.push(char::from(byte));
            if byte != b'\n' {
                continue;
            }
            // A hyphen behind the code says that there are more lines.
            if reply.as_bytes().get(line + 3) != Some(&b'-') {
                break;
            }
            line = reply.len();
        }
        match reply.get(line..line + 3).and_then(|digits| digits.parse::<u16>().ok()) {
            Some(found) if found == code => Ok(reply),
            Some(found) => Err(self.refusal(found, found >= 500)),
            None => Err(broken("does not speak SMTP")),
        }
    }

    fn refusal(&self, code: u16, is_final: bool) -> Failure {
        let reason = if is_final { Reason::Rejected } else { Reason::HostRefused };
        failed(reason, format!("{} answered {code}", self.server)).with_code(i32::from(code))
    }

    /// What an error of the dialogue means: the server's refusal, for now or for good, or nothing that is known.
    fn failure(&self, error: &SmtpError, unknown: Reason) -> Failure {
        match error.status() {
            Some(code) => {
                let is_final = code.severity == Severity::PermanentNegativeCompletion;
                self.refusal(u16::from(code), is_final)
            }
            None => failed(unknown, format!("{} did not answer: {error}", self.server)),
        }
    }
}

/// A connection that says this first, as the server.
struct Wire<S> {
    stream: S,
    peer: SocketAddr,
    greeting: &'static [u8],
}

impl<S> fmt::Debug for Wire<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a connection to {}", self.peer)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.greeting.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let (now, later) = self.greeting.split_at(self.greeting.len().min(buffer.remaining()));
        buffer.put_slice(now);
        self.greeting = later;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin> AsyncTokioStream for Wire<S> {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}

fn failed(reason: Reason, message: impl Into<Box<str>>) -> Failure {
    Failure::new(Phase::Outside, reason, message)
}

/// Characters of a subject.
const SUBJECT_CHARS: usize = 200;
/// How long a server may take to say good-bye.
const GOODBYE: std::time::Duration = std::time::Duration::from_secs(1);

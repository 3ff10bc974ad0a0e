//! A server in this process, and a client that sends exactly what it is told.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use reveille::domain::{HostId, Right, SessionConfig, SessionId, TokenName};
use reveille::embed::Reveille;
use reveille::runtime::{Handle, Token};
use reveille::service::Service;
use reveille::surface::http::{Config, Server};

pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
pub(crate) const OPERATOR: &str = "operator-operator-operator-operator";
/// The tokens of two hosts, `editor` and `shell`.
pub(crate) const EDITOR: &str = "editor-editor-editor-editor-editor";
pub(crate) const SHELL: &str = "shell-shell-shell-shell-shell-shell";
pub(crate) const OBSERVER: &str = "observer-observer-observer-observer";

/// A server with an engine of its own; both end with it.
pub(crate) struct Site {
    pub(crate) server: Server,
    engine: Reveille,
}

impl Site {
    pub(crate) fn start() -> Site {
        Site::with(&Config::local())
    }

    pub(crate) fn with(config: &Config) -> Site {
        let engine = Reveille::start().expect("the engine starts");
        engine.handle().tokens().admit_operator(&Token::from_text(OPERATOR), Right::Change);
        engine.handle().tokens().admit_operator(&Token::from_text(OBSERVER), Right::Read);
        for (name, token) in [("editor", EDITOR), ("shell", SHELL)] {
            let name = TokenName::new(name).expect("a name");
            engine.handle().tokens().admit_host(name, &Token::from_text(token));
        }
        let server = Server::start(engine.service().clone(), config).expect("the server starts");
        Site { server, engine }
    }

    pub(crate) fn handle(&self) -> &Handle {
        self.engine.handle()
    }

    pub(crate) fn service(&self) -> &Service {
        self.engine.service()
    }

    pub(crate) fn port(&self) -> u16 {
        self.server.address().port()
    }

    /// Opens a session, and says its token.
    pub(crate) fn open(&self, id: &str) -> Token {
        let id = SessionId::new(id).expect("an id");
        self.handle().open_session(Some(id), HostId::LOCAL, SessionConfig::default()).expect("it is free").1
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.server.address()).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        stream
    }

    /// Sends bytes on a connection of their own and reads the one answer to its end.
    pub(crate) fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(bytes).expect("the server reads");
        Answer::read(&mut stream)
    }

    /// A request by this token, with these headers.
    pub(crate) fn ask(&self, request: &str, token: &str, headers: &[&str], body: &str) -> Answer {
        let mut text =
            format!("{request} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n", self.port());
        text += &format!("Authorization: Bearer {token}\r\nContent-Length: {}\r\n", body.len());
        for header in headers {
            text += &format!("{header}\r\n");
        }
        self.send(format!("{text}\r\n{body}").as_bytes())
    }

    /// The value of a metric, with its labels.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.ask("GET /metrics", OPERATOR, &[], "").body;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("reveille_{name} ")));
        line.and_then(|value| value.parse().ok()).expect("there is a metric of this name")
    }

    /// A psi-tool call in EDN.
    pub(crate) fn call(&self, token: &str, headers: &[&str], args: &str) -> Answer {
        let headers = [&["Content-Type: application/edn"], headers].concat();
        self.ask("POST /tools/psi-tool", token, &headers, args)
    }
}

/// One answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// Reads one answer, as long as it says it is, or to the end of the connection.
    pub(crate) fn read(stream: &mut TcpStream) -> Answer {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4_096];
        loop {
            let answer = Answer::parse(&bytes);
            match answer {
                Some((answer, 0)) => return answer,
                _ => match read_some(stream, &mut chunk) {
                    Ok(0) => break,
                    // Said with whatever came before, so that a failing test shows why there is no answer.
                    Err(error) => {
                        bytes.extend_from_slice(format!("[{error}]").as_bytes());
                        break;
                    }
                    Ok(length) => bytes.extend_from_slice(&chunk[..length]),
                },
            }
        }
        let head = String::from_utf8_lossy(&bytes).into_owned();
        Answer::parse(&bytes).map_or(Answer { status: 0, head, body: String::new() }, |(answer, _)| answer)
    }

    /// The answer so far, and how much of its body is missing.
    fn parse(bytes: &[u8]) -> Option<(Answer, usize)> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let answer = Answer { status, head: head.to_lowercase(), body: body.to_owned() };
        let length = answer.header("content-length").and_then(|length| length.parse::<usize>().ok());
        let missing = length.unwrap_or(0).saturating_sub(body.len());
        Some((answer, missing))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// Reads what has come. Another test of this program may start children, and the signal that one of them has ended interrupts
/// a read with a time-out.
pub(crate) fn read_some(stream: &mut TcpStream, chunk: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match stream.read(chunk) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Reads to the end of a connection: what came, once the server has closed it.
pub(crate) fn read_to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Err(error) = stream.read_to_end(&mut bytes) {
        // A connection that the server drops with our bytes unread is reset.
        let is_reset = error.kind() == std::io::ErrorKind::ConnectionReset;
        assert!(is_reset, "the server did not close the connection: {error}");
    }
    bytes
}

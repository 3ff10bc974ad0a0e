//! A receiver on the loopback that does with each connection what its script says, and keeps what it was sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use reveille::adapter::outbound::{Network, Pending};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tokio::net::TcpStream;

use super::fixture;

/// What becomes of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// The request is read, and this is written.
    Say(&'static str),
    /// The request is read, nothing is written until the sender has gone away, and then this.
    SayTooLate(&'static str),
    /// The head is written at once, and of its body nothing before the sender has gone away.
    Begin(&'static str),
    /// The connection is closed before anything is read.
    HangUp,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// The name that TLS was asked for.
    pub(crate) server_name: Option<String>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    /// In the clear; it plays the script once and then closes its door.
    pub(crate) fn playing(script: &[Act]) -> Receiver {
        Receiver::start(script, None)
    }

    /// Over TLS, as `hooks.example.com`.
    pub(crate) fn playing_over_tls(script: &[Act]) -> Receiver {
        let certificates =
            CertificateDer::pem_file_iter(fixture("tls/endpoint.pem")).expect("the file is there");
        let certificates = certificates.collect::<Result<_, _>>().expect("certificates");
        let key = PrivateKeyDer::from_pem_file(fixture("tls/endpoint.key")).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(certificates, key);
        Receiver::start(script, Some(Arc::new(config.expect("the key fits"))))
    }

    fn start(script: &[Act], tls: Option<Arc<ServerConfig>>) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let received = Arc::new(Mutex::new(Vec::new()));
        let (kept, script) = (Arc::clone(&received), script.to_vec());
        thread::spawn(move || {
            for act in script {
                let Ok((socket, _)) = listener.accept() else { return };
                if let Act::HangUp = act {
                    continue;
                }
                let (kept, tls) = (Arc::clone(&kept), tls.clone());
                // Each on its own: one that is held open is in nobody's way.
                thread::spawn(move || answer(socket, tls, act, &kept));
            }
        });
        Receiver { address, received }
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().expect("nobody panics").clone()
    }
}

/// What goes wrong with a connection is the sender's to notice.
fn answer(
    socket: std::net::TcpStream,
    tls: Option<Arc<ServerConfig>>,
    act: Act,
    kept: &Mutex<Vec<Received>>,
) {
    let _ = match tls {
        None => serve(socket, act, kept),
        Some(config) => {
            let connection = ServerConnection::new(config).expect("a connection");
            serve(StreamOwned::new(connection, socket), act, kept)
        }
    };
}

trait Named {
    fn server_name(&self) -> Option<String>;
}

impl Named for std::net::TcpStream {
    fn server_name(&self) -> Option<String> {
        None
    }
}

impl Named for StreamOwned<ServerConnection, std::net::TcpStream> {
    fn server_name(&self) -> Option<String> {
        self.conn.server_name().map(str::to_owned)
    }
}

fn serve(stream: impl Read + Write + Named, act: Act, kept: &Mutex<Vec<Received>>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body)?;
    let server_name = stream.get_ref().server_name();
    kept.lock().expect("nobody panics").push(Received { head, body, server_name });
    match act {
        Act::Say(text) => stream.get_mut().write_all(text.as_bytes())?,
        Act::SayTooLate(text) => {
            // The end of what is sent: the other side has gone.
            let _ = stream.read(&mut [0])?;
            stream.get_mut().write_all(text.as_bytes())?;
        }
        Act::Begin(text) => {
            stream.get_mut().write_all(text.as_bytes())?;
            stream.get_mut().flush()?;
            let _ = stream.read(&mut [0])?;
        }
        Act::HangUp => {}
    }
    stream.get_mut().flush()
}

/// A network in which every name has the addresses of a list, a new list each time it is asked, and every connection that is
/// made goes to one receiver, wherever it was to go.
pub(crate) struct Script {
    answers: Mutex<Vec<Vec<IpAddr>>>,
    to: Option<SocketAddr>,
    log: Mutex<Log>,
}

/// What was asked of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    pub(crate) resolved: Vec<String>,
    pub(crate) connected: Vec<SocketAddr>,
}

impl Script {
    /// The answers in their order, the last of them for ever; `None` for a network in which nobody takes connections.
    pub(crate) fn new(answers: &[&[IpAddr]], to: Option<SocketAddr>) -> Arc<Script> {
        let mut answers: Vec<Vec<IpAddr>> = answers.iter().map(|addresses| addresses.to_vec()).collect();
        answers.reverse();
        Arc::new(Script { answers: Mutex::new(answers), to, log: Mutex::default() })
    }

    pub(crate) fn log(&self) -> Log {
        self.log.lock().expect("nobody panics").clone()
    }
}

impl Network for Script {
    fn resolve<'a>(&'a self, name: &'a str) -> Pending<'a, Vec<IpAddr>> {
        self.log.lock().expect("nobody panics").resolved.push(name.to_owned());
        let mut answers = self.answers.lock().expect("nobody panics");
        let answer = if answers.len() > 1 { answers.pop() } else { answers.last().cloned() };
        Box::pin(async move { Ok(answer.unwrap_or_default()) })
    }

    fn connect(&self, address: SocketAddr) -> Pending<'_, TcpStream> {
        self.log.lock().expect("nobody panics").connected.push(address);
        Box::pin(async move {
            let nobody = || std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
            TcpStream::connect(self.to.ok_or_else(nobody)?).await
        })
    }
}

//! GraphQL over HTTP with nothing but the standard library: an engine with one session, and a socket.
//!
//! `cargo run --example graphql_http -- 127.0.0.1:7600`. It has no walls: the daemon is what one runs. This is what
//! `tests/clients/graphql_http_audit.mjs` audits.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use reveille::app::Embedded;
use reveille::domain::{Caller, HostId, SessionConfig};
use reveille::surface::graphql::Service;
use reveille::surface::graphql::edge::{HttpReply, HttpRequest, answer};

#[expect(clippy::print_stdout, reason = "an example says where it listens")]
fn main() -> io::Result<()> {
    let engine = Embedded::start()?;
    let opened = engine.handle().open_session(None, HostId::LOCAL, SessionConfig::default());
    opened.map_err(|refusal| io::Error::other(refusal.to_string()))?;
    let service = Service::new(engine.handle()).map_err(|faults| io::Error::other(format!("{faults:?}")))?;
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7600".into());
    let listener = TcpListener::bind(&address)?;
    println!("listening on http://{}/graphql", listener.local_addr()?);
    for stream in listener.incoming() {
        // A client that goes away is no reason to stop.
        let _ = stream.and_then(|stream| serve(&service, &stream));
    }
    Ok(())
}

fn serve(service: &Service, stream: &TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        lines.push(line);
    }
    let header = |name: &str| {
        let fields = lines.iter().skip(1).filter_map(|line| line.split_once(':'));
        fields.into_iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    };
    let length = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = Vec::new();
    reader.by_ref().take(length).read_to_end(&mut body)?;
    let mut words = lines.first().map_or("", String::as_str).split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let request = HttpRequest {
        method,
        content_type: header("content-type"),
        accept: header("accept"),
        query: target.split_once('?').map_or("", |(_, query)| query),
        body: &body,
    };
    let reply =
        answer(&request, |request, is_reading| service.answer(&Caller::OPERATOR, request, is_reading));
    write(stream, &reply)
}

fn write(mut stream: &TcpStream, reply: &HttpReply) -> io::Result<()> {
    let HttpReply { status, content_type, body, .. } = reply;
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} -\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}
